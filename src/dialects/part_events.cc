#include "dialects/part_events.h"

#include <utility>

#include "dialects/made_ids.h"

namespace qq::dialects {

using model::PartKind;
using model::StreamEvent;
using Kind = StreamEvent::Kind;

void PartEvents::start(std::string_view id, std::string_view model, std::int64_t created) {
  if (done_ || std::exchange(started_, true)) return;
  say({.kind = Kind::Started, .id = id, .model = model, .created = created, .dialect = dialect_});
}

void PartEvents::open(PartKind kind, StreamEvent like) {
  if (!may_speak()) return;
  start();
  close();
  open_ = true;
  has_arguments_ = has_state_ = false;
  kind_ = kind;
  like.kind = Kind::PartStarted;
  like.part_kind = kind;
  like.part = parts_++;
  like.dialect = dialect_;
  say(like);
}

void PartEvents::open_call(std::string_view id, std::string_view name) {
  const std::string made = id.empty() ? made_call_id(id_seed_, parts_) : std::string();
  open(PartKind::ToolCall, {.id = id.empty() ? std::string_view(made) : id, .name = name});
}

void PartEvents::close() {
  if (!std::exchange(open_, false)) return;
  say({.kind = Kind::PartFinished, .part = parts_ - 1});
}

void PartEvents::text(PartKind kind, std::string_view piece) {
  if (piece.empty() || !may_speak()) return;
  if (!is_open(kind)) open(kind);
  say({.kind = Kind::TextDelta, .part = parts_ - 1, .text = piece});
}

void PartEvents::arguments(std::string_view piece) {
  if (piece.empty() || !is_open(PartKind::ToolCall)) return;
  if (!has_arguments_ && piece == "null") return;
  has_arguments_ = true;
  say({.kind = Kind::ArgumentsDelta, .part = parts_ - 1, .text = piece});
}

void PartEvents::state(std::string_view data) {
  if (data.empty() || !open_ || has_arguments_ || std::exchange(has_state_, true)) return;
  const model::OpaqueState state{dialect_, std::string(data)};
  say({.kind = Kind::StateDelta, .part = parts_ - 1, .state = &state});
}

void PartEvents::citation(std::string_view json) {
  if (!is_open(PartKind::Text)) return;
  say({.kind = Kind::CitationDelta, .part = parts_ - 1, .json = json, .dialect = dialect_});
}

void PartEvents::media(std::string_view base64) {
  if (base64.empty() || !is_open(PartKind::Media)) return;
  say({.kind = Kind::MediaDelta, .part = parts_ - 1, .text = base64});
}

void PartEvents::opaque(std::string_view word, std::string_view json) {
  if (!may_speak()) return;
  open(PartKind::Opaque, {.word = word});
  say({.kind = Kind::OpaqueDelta, .part = parts_ - 1, .json = json, .dialect = dialect_});
  close();
}

void PartEvents::logprobs(std::string_view json) {
  if (!may_speak()) return;
  start();
  say({.kind = Kind::Logprobs, .json = json});
}

void PartEvents::usage(const model::Usage& usage) {
  if (done_ || usage.source == model::UsageSource::None) return;
  start();
  say({.kind = Kind::UsageSoFar, .usage = &usage});
}

void PartEvents::finish(model::Finish finish, std::string_view word, std::string_view stop_string) {
  if (!may_speak()) return;
  start();
  close();
  finished_ = true;
  say({.kind = Kind::Finished, .finish = finish, .text = stop_string, .word = word, .dialect = dialect_});
}

void PartEvents::end() {
  if (done_) return;
  finish(model::Finish::Stop, {});
  done_ = true;
  say({.kind = Kind::End});
}

void PartEvents::fail(Error error) {
  if (std::exchange(done_, true)) return;
  say({.kind = Kind::Failed, .error = &error});
}

void PartEvents::fail(ErrorKind kind, std::string text) {
  fail(Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(text)));
}

void PartEvents::body_ended() {
  if (finished_) return end();
  fail(ErrorKind::StreamCut, "the stream ended before the answer did");
}

}  // namespace qq::dialects
