// The port to the client of one request: how the relay answers. Implemented by downstream/.
//
// Nothing is sent by `begin`: the head leaves with the first body bytes in one system call.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/task.h"
#include "net/wait.h"

namespace qq::relay {

class ClientPort {
 public:
  enum class Last : bool { No, Yes };
  enum class Taken : std::uint8_t {
    All,      // the kernel has it
    Pending,  // the rest was copied: `flush` before the next write
    Gone,     // the client is gone; writing is over
  };

  virtual ~ClientPort() = default;

  // Cancelled when the client hangs up.
  [[nodiscard]] virtual net::Cancellation& gone() noexcept = 0;

  // A reply whose length is known: everything at once.
  virtual Taken reply(int status, std::string_view header_lines, std::span<const std::string_view> body) = 0;
  // A reply that streams. `header_lines` are complete lines with CRLF; framing headers are the port's.
  virtual void begin(int status, std::string header_lines) = 0;
  virtual Taken write(std::span<const std::string_view> pieces, Last last) = 0;
  // The reply cannot be ended properly: close without the terminating chunk, so that the client knows.
  virtual void abort() noexcept = 0;
  // Waits until what is pending is with the kernel. Errors: ClientGone, ClientStalled; TotalTimeout at the
  // scope's deadline or the cancellation's other reason, after which the rest may be flushed by another call.
  virtual Task<Result<>> flush(net::Scope scope) = 0;

  // Bytes wait for `flush`.
  [[nodiscard]] virtual bool pending() const noexcept = 0;
  [[nodiscard]] virtual bool begun() const noexcept = 0;  // a status line was promised
  [[nodiscard]] virtual int status() const noexcept = 0;  // 0 until then
  // The reply's last byte was written, even if some of it is pending: nothing can be added.
  [[nodiscard]] virtual bool complete() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t bytes_written() const noexcept = 0;
  // How long this client was waited for: until its request was here, and in `flush`.
  [[nodiscard]] virtual std::chrono::nanoseconds client_wait() const noexcept = 0;
};

}  // namespace qq::relay
