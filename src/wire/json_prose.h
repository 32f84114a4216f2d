// Passing over the long stretches of a JSON string in which nothing stands out.
#pragma once

namespace qq::wire {

// Passes over whole blocks without a quote, a backslash or a control character and gives the place behind the
// last one. `high` becomes true if a byte of 0x80 or more was in them. With AVX2 where the machine has it.
const char* skip_prose(const char* at, const char* end, bool& high) noexcept;

}  // namespace qq::wire
