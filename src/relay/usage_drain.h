// "Drain for usage": some providers bill a generation to its end whether its client stays or not. Where the
// operator says so (`drain_for_usage` of a provider), an attempt whose client has left is read on, its bytes
// thrown away, until its usage is known: from the moment that the provider has the whole request, for ten
// seconds at most, and only while few others do the same. Such an attempt is still a request in flight, for
// which a process that shuts down waits as for any other: until the end of `timers.drain`.
#pragma once
#include "base/task.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

// Takes the pieces that nobody else wants. False: it has what it needs.
class UsageReader {
 public:
  virtual bool read_usage(const UpstreamReply::Piece& piece) = 0;

 protected:
  ~UsageReader() = default;
};

// Before the reply's head, of a provider that is one of those.
class WaitForUsage final : public UpstreamCall::Patience {
 public:
  explicit WaitForUsage(RequestState& state) noexcept : state_(state) {}
  std::optional<MonotonicTime> wait_until() override;

 private:
  RequestState& state_;
};

// Whether what follows `ended` is to be read for its usage: the client has left and the provider is one of
// those.
bool wants_usage(const model::Attempt& attempt, const Error& ended) noexcept;

// Reads on, if there is a place for it, until `reader` has enough, the reply ends or breaks, or the time is
// up. Nothing may be pending for the client but what it will never get.
Task<void> drain_for_usage(RequestState& state, UpstreamReply& reply, UsageReader& reader);

}  // namespace qq::relay
