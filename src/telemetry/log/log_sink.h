// Where log lines go: a file, or what the process was given as stderr (pipe, terminal, socket). Writing
// never blocks on a reader that stopped reading, and never changes the flags of a descriptor that other
// processes share: a pipe is opened anew through /proc/self/fd to get a non-blocking description of its own.
// A path may name a pipe or terminal, too (/dev/stdout): opening it waits for no reader, nor does writing.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qq::telemetry {

class LogSink {
 public:
  // Borrows `fd`; it must stay open.
  static LogSink to_descriptor(int fd);
  // Appends to `path`; throws std::system_error when it cannot be opened.
  static LogSink to_file(std::string path);
  LogSink(LogSink&& other) noexcept;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(LogSink&&) = delete;
  ~LogSink();

  // Bytes taken; 0 when the reader is not ready, nothing when the sink is broken (reader gone, disk full).
  // What it took of a line before it broke is ended as a line of its own before anything else is written.
  std::optional<std::size_t> write(const std::array<std::string_view, 2>& pieces) noexcept;
  // To be polled for room after write() returned 0.
  [[nodiscard]] int descriptor() const noexcept { return fd_; }
  // Opens the path again, after a log rotation. When that fails it keeps the old file and says why.
  std::optional<std::string> reopen();

 private:
  // Plain: a regular file, or a description of our own that does not block.
  enum class Kind : std::uint8_t { Plain, Socket, Shared };
  LogSink(int fd, bool owned, Kind kind, std::string path);
  [[nodiscard]] bool owes_line_end() const noexcept;
  std::size_t taken(const std::array<std::string_view, 2>& pieces, std::size_t bytes) noexcept;

  int fd_;
  bool owned_;
  Kind kind_;
  std::string path_;      // empty: a borrowed descriptor
  bool in_line_ = false;  // the last byte taken was no line end
  bool torn_ = false;     // and the rest of that line will not come
};

}  // namespace qq::telemetry
