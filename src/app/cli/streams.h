// What a command reads, prints and complains to; the process's own streams, or a test's.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string_view>

namespace qq::app::cli {

struct Streams {
  // Where the input comes from. Behind a line that a person types, nothing more is waited for.
  enum class Input : std::uint8_t { Given, Typed };

  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Input input = Input::Given;
};

// Whoever starts the process may have closed its standard descriptors; the next file or socket to be opened
// would get their numbers, and what is printed would go there. They become /dev/null: standard output one
// that refuses to be written, so that a command notices that nobody got its product. To be called first in
// main.
void open_closed_descriptors() noexcept;

// To the process's own streams at once. False if not all of it could be written; nothing is thrown.
bool print_out(std::string_view text) noexcept;
bool print_err(std::string_view text) noexcept;

// Runs the command on the process's standard streams; what it wrote appears when it returns. Output that
// could not be written turns a good exit code into kFailed.
int on_process_streams(const std::function<int(const Streams&)>& command);

}  // namespace qq::app::cli
