// What a Realtime connection uses: which responses run, and what each has used, once. Each response has a
// record of its own as it ends, and so has each transcript that tokens were used for, so that logs and
// metrics are right after every event and a crash loses what runs only. The connection's own record, at its
// end, tells the sum.
//
// A response that the connection's end cuts is recorded, too, without usage: the provider tells it with its
// end only.
#pragma once
#include <array>
#include <vector>

#include "dialects/openai/realtime.h"
#include "relay/request.h"
#include "relay/request_record.h"

namespace qq::relay {

class RealtimeMeter {
 public:
  RealtimeMeter(RequestState& state, const model::Attempt& attempt) noexcept
      : state_(state), attempt_(attempt) {}

  // The client has asked for a response, with this id of its message, raw, or none. Whether it gets one, the
  // provider's events say: one that begins, or an error that names the message, or none.
  void asked(std::string_view event_id);
  void take(const dialects::openai::RealtimeEvent& event);
  // The connection is over. What runs ends for this reason.
  void end(const Error& why);

  [[nodiscard]] bool asks() const noexcept { return !asked_.empty(); }
  [[nodiscard]] bool runs() const noexcept { return !running_.empty(); }

 private:
  struct Running {
    std::size_t id = 0;  // its hash
    MonotonicTime started{};
    WallTime wall_started{};
    std::optional<MonotonicTime> first_content{};
  };
  void began(std::string_view id);
  void refused(std::string_view event_id);
  void answered();
  Running take_running(std::string_view id);
  bool is_repeated(std::string_view kind, std::string_view id, std::string_view part = {}) noexcept;
  void record(RecordPart part, const Running& of, const model::Usage& usage, std::string_view finish,
              const Error* error);

  RequestState& state_;
  const model::Attempt& attempt_;
  std::vector<Running> running_;
  std::vector<std::size_t> asked_;       // hashes of the messages' ids, the oldest first; of none: of nothing
  std::array<std::size_t, 64> ended_{};  // hashes of those that ended last
  std::size_t ended_next_ = 0;
};

}  // namespace qq::relay
