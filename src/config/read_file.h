// Reads a file that an operator named, and never waits for ever on what is no file: a FIFO has no writer, a
// device no end. A gateway that reads its configuration again must still hear its signals.
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

#include "base/time.h"

namespace qq::config {

enum class Pipes : std::uint8_t {
  Refuse,
  Await,  // what a shell's `<(command)` gives: read to its end, at most kPipeWait from the start
};
// The command behind a pipe may have to decrypt something first, or ask a service.
inline constexpr Milliseconds kPipeWait{10'000};

// The content of a regular file or, if so wished, of a pipe; of one larger than `max`, its first `max + 1`
// bytes. The error completes a sentence that begins with the file's name: "is a pipe, not a file".
std::expected<std::string, std::string> read_file(const std::string& path, std::size_t max,
                                                  Pipes pipes = Pipes::Refuse,
                                                  Milliseconds pipe_wait = kPipeWait);

}  // namespace qq::config
