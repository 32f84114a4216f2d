// The bytes that the mock provider answers with: a chat completion of 593 bytes, and streamed events of
// about 270 bytes each, with usage, as an OpenAI-compatible server would send them.
#pragma once
#include <cstdint>
#include <string>

namespace qq::bench {

// A whole non-streamed answer, head included.
std::string completion_answer();

std::string stream_head();

// One delta event in its own HTTP chunk, stamped with `now`.
void append_delta_event(std::string& out, std::int64_t now);

// What ends a stream: the finish event, the usage event, `[DONE]` and the last chunk.
std::string stream_end();

}  // namespace qq::bench
