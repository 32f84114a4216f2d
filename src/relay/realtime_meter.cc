#include "relay/realtime_meter.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "relay/shown_word.h"
#include "relay/socket_port.h"

namespace qq::relay {
namespace {

using dialects::openai::RealtimeEvent;

// Responses that are followed at a time: a conversation has one, and a few may run beside it.
constexpr std::size_t kRunningMax = 32;

std::size_t hash_of(std::string_view id) noexcept {
  return std::hash<std::string_view>{}(id);
}

}  // namespace

void RealtimeMeter::take(const RealtimeEvent& event) {
  switch (event.kind) {
    case RealtimeEvent::Kind::Other: return;
    case RealtimeEvent::Kind::Error: refused(event.event_id); return;
    case RealtimeEvent::Kind::ResponseCreated: began(event.id); return;
    case RealtimeEvent::Kind::Delta: {
      const auto found = std::ranges::find(running_, hash_of(event.id), &Running::id);
      if (found != running_.end() && !found->first_content) found->first_content = state_.services.loop.now();
      return;
    }
    case RealtimeEvent::Kind::ResponseDone: {
      const bool was_told = std::ranges::find(running_, hash_of(event.id), &Running::id) != running_.end();
      const Running ended = take_running(event.id);
      if (is_repeated("response", event.id)) return;
      if (!was_told) answered();
      ++state_.incoming.realtime->responses;
      const bool failed = event.status == "failed";
      const Error error = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                          "the provider says that the response failed");
      record(RecordPart::Response, ended, event.usage, shown_finish(event.status, *attempt_.target),
             failed ? &error : nullptr);
      return;
    }
    case RealtimeEvent::Kind::Transcribed:
      if (event.usage.source == model::UsageSource::None || is_repeated("item", event.id, event.content))
        return;
      record(RecordPart::Transcript, take_running({}), event.usage, "completed", nullptr);
      return;
  }
}

void RealtimeMeter::end(const Error& why) {
  if (!asked_.empty() && running_.empty()) record(RecordPart::Response, take_running({}), {}, {}, &why);
  for (const Running& cut : std::exchange(running_, {})) record(RecordPart::Response, cut, {}, {}, &why);
  asked_.clear();
}

void RealtimeMeter::asked(std::string_view event_id) {
  if (asked_.size() >= kRunningMax) answered();
  asked_.push_back(hash_of(event_id));
}

// The oldest has its answer.
void RealtimeMeter::answered() {
  if (!asked_.empty()) asked_.erase(asked_.begin());
}

// An error that names no message may answer one that has no id.
void RealtimeMeter::refused(std::string_view event_id) {
  const auto found = std::ranges::find(asked_, hash_of(event_id));
  if (found != asked_.end()) asked_.erase(found);
}

void RealtimeMeter::began(std::string_view id) {
  answered();
  if (running_.size() >= kRunningMax) running_.erase(running_.begin());
  net::EventLoop& loop = state_.services.loop;
  running_.push_back({hash_of(id), loop.now(), loop.wall_now(), std::nullopt});
}

// Of one whose beginning was not seen: that it begins now.
RealtimeMeter::Running RealtimeMeter::take_running(std::string_view id) {
  net::EventLoop& loop = state_.services.loop;
  Running running{hash_of(id), loop.now(), loop.wall_now(), std::nullopt};
  const auto found = std::ranges::find(running_, running.id, &Running::id);
  if (found == running_.end()) return running;
  running = *found;
  running_.erase(found);
  return running;
}

// Whether this id was counted already. What has none cannot be told apart.
bool RealtimeMeter::is_repeated(std::string_view kind, std::string_view id, std::string_view part) noexcept {
  if (id.empty()) return false;
  const std::size_t hash = hash_of(id) ^ hash_of(kind) ^ (3 * hash_of(part));
  if (std::ranges::find(ended_, hash) != ended_.end()) return true;
  ended_[ended_next_++ % ended_.size()] = hash;
  return false;
}

void RealtimeMeter::record(RecordPart part, const Running& of, const model::Usage& usage,
                           std::string_view finish, const Error* error) {
  state_.incoming.realtime->used.add(usage);
  model::Attempt attempt;
  attempt.target = attempt_.target;
  attempt.endpoint = attempt_.endpoint;
  attempt.delivered = attempt.reached_provider = true;
  attempt.outcome = model::Outcome::Success;
  attempt.started = of.started;
  attempt.ended = state_.services.loop.precise_now();
  attempt.usage = usage;

  RequestRecord record;
  record.part = part;
  record.request_id = state_.incoming.id.text();
  record.method = state_.incoming.method;
  record.path = state_.incoming.path;
  record.endpoint = state_.incoming.endpoint;
  record.route = state_.plan.route;
  record.key_name = state_.incoming.key->name;
  record.owner = state_.incoming.key->owner;
  record.stream = true;
  record.status = state_.client.status();
  if (error != nullptr) {
    record.error = *error;
    record.interrupted = true;
    if (error->origin == ErrorOrigin::Upstream) {
      attempt.outcome = model::Outcome::Failure;
      attempt.error = *error;
    }
  }
  record.wall_started = of.wall_started;
  record.started = of.started;
  record.ended = attempt.ended;
  record.first_content = of.first_content;
  record.upstream_wait = record.ended - record.started;
  record.attempts = {&attempt, 1};
  record.usage = usage;
  record.finish_reason = finish;
  record.config_generation = state_.snapshot.generation;
  state_.services.observer.request_ended(record);
}

}  // namespace qq::relay
