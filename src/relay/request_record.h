// What is known of one request when it has ended: for the log line, the metrics and, later, usage rows.
// Never a key, never a prompt.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/time.h"
#include "model/attempt.h"
#include "model/endpoint.h"
#include "model/usage.h"

namespace qq::relay {

// A connection that is relayed both ways (Realtime) has a record of its own at its end, with the sum of what
// it used, and one of each part in it that used something, as that ends. Who adds up takes the one or the
// other.
enum class RecordPart : std::uint8_t {
  None,        // a request
  Response,    // of a connection; with the request id of that
  Transcript,  // the same, of what the user said
};

// Views are valid during the call that hands the record over.
struct RequestRecord {
  RecordPart part = RecordPart::None;
  std::string_view request_id;
  std::string_view method;                  // "POST"
  std::string_view path;                    // without query, cut to 200 bytes
  std::optional<model::Endpoint> endpoint;  // nothing for unknown paths
  std::string_view route;                   // empty if none was found
  std::string_view key_name;                // of the configured key, not the key
  std::string_view owner;
  bool stream = false;
  int status = 0;              // sent to the client; 0: nothing was sent
  std::optional<Error> error;  // what the client was told, or why it ended early
  bool interrupted = false;    // had begun and ended by an in-band error event or, where none fits, a cut
  WallTime wall_started{};
  MonotonicTime started{};  // first byte of the head
  MonotonicTime ended{};
  std::optional<MonotonicTime> first_content;  // handed to the client
  std::chrono::nanoseconds upstream_wait{};    // time spent waiting for providers, or to ask one again
  std::chrono::nanoseconds client_wait{};      // for the client's request, and for it to take the answer
  std::span<const model::Attempt> attempts;
  model::Usage usage;  // of the answering attempt, or the last one that was tried
  std::string_view finish_reason;
  std::uint32_t responses = 0;  // of a connection: the records of responses that have ended
  std::uint64_t bytes_from_client = 0;
  std::uint64_t bytes_to_client = 0;
  std::uint64_t config_generation = 0;
};

// Receives finished requests; one per loop, called on its thread, must not block.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  virtual void request_ended(const RequestRecord& record) noexcept = 0;
};

}  // namespace qq::relay
