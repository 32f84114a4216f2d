#include "telemetry/log/request_log.h"

#include <algorithm>

#include "telemetry/record_facts.h"

namespace qq::telemetry {
namespace {

void put_usage(JsonLine& line, const model::Usage& usage) noexcept {
  const auto bucket = [&line](std::string_view name, const std::optional<model::TokenCount>& count) {
    if (count) line.integer(name, *count);
  };
  bucket("tokens_input_uncached", usage.input_uncached);
  bucket("tokens_cache_read", usage.cache_read);
  bucket("tokens_cache_write", usage.cache_write);
  bucket("tokens_audio_input", usage.audio_input);
  bucket("tokens_image_input", usage.image_input);
  bucket("tokens_output_text", usage.output_text);
  bucket("tokens_reasoning", usage.reasoning);
  bucket("tokens_audio_output", usage.audio_output);
  bucket("tokens_image_output", usage.image_output);
}

// A message that is ours. A provider's may quote the prompt or the key, so it stays out.
bool message_is_ours(const Error& error) noexcept {
  return error.origin == ErrorOrigin::Gateway ||
         (error.origin == ErrorOrigin::Upstream && error.phase == AttemptPhase::NotSent &&
          error.upstream_status == 0);
}

void put_error(JsonLine& line, const Error& error) noexcept {
  line.text("error", to_string(error.kind));
  line.text("error_origin", to_string(error.origin));
  if (message_is_ours(error) && !error.message.empty()) line.redacted_text("error_message", error.message);
}

constexpr std::string_view message_of(relay::RecordPart part) noexcept {
  switch (part) {
    case relay::RecordPart::None: break;
    case relay::RecordPart::Response: return "response";
    case relay::RecordPart::Transcript: return "transcript";
  }
  return "request";
}

// Fields that the caller has named, perhaps after something that is not for logs.
void put_lost(JsonLine& line, const model::Attempt* attempt) noexcept {
  if (attempt != nullptr && !attempt->lost.empty()) line.redacted_text("lossy", attempt->lost);
}

// A line of its own, or an entry of the request's list: whatever is not the first and good.
bool is_remarkable(const relay::RequestRecord& record, std::size_t index) noexcept {
  return index > 0 || record.attempts[index].outcome != model::Outcome::Success;
}

}  // namespace

Level RequestLog::level_of(const relay::RequestRecord& record) noexcept {
  if (record.error && record.error->kind == ErrorKind::Internal) return Level::Error;
  if (record.status >= 500 || record.interrupted) return Level::Warn;
  return Level::Info;
}

Level RequestLog::level_of(const model::Attempt& attempt) noexcept {
  return attempt.outcome == model::Outcome::Failure ? Level::Warn : Level::Info;
}

void RequestLog::write(const relay::RequestRecord& record) noexcept {
  const Level wanted = level_.load(std::memory_order_relaxed);
  if (const Level level = level_of(record); level >= wanted) write_request(record, level);
  for (std::size_t i = 0; i < record.attempts.size(); ++i) {
    if (!is_remarkable(record, i)) continue;
    if (const Level level = level_of(record.attempts[i]); level >= wanted) write_attempt(record, i, level);
  }
}

void RequestLog::write_request(const relay::RequestRecord& record, Level level) noexcept {
  const std::chrono::nanoseconds duration = record.ended - record.started;
  line_.begin();
  line_.text("ts",
             timestamp_.text(record.wall_started + std::chrono::duration_cast<WallTime::duration>(duration)));
  line_.text("level", to_string(level));
  line_.text("msg", message_of(record.part));
  line_.text("request_id", record.request_id);
  if (record.endpoint) line_.text("endpoint", to_string(*record.endpoint));
  // Endpoints are asked by POST, but for what comes over WebSocket.
  if (!record.endpoint || record.method != "POST") {
    line_.text("method", record.method);
    line_.redacted_text("path", record.path);
  }
  line_.integer("status", record.status);
  line_.text("outcome", to_string(outcome_of(record)));
  if (!record.route.empty()) line_.text("route", record.route);
  if (const model::Target* target = answering_target(record)) {
    line_.text("model", target->model);
    line_.text("account", target->account_name);
  }
  if (!record.key_name.empty()) line_.text("key", record.key_name);
  if (!record.owner.empty()) line_.text("owner", record.owner);
  line_.boolean("stream", record.stream);
  if (record.error) put_error(line_, *record.error);
  if (record.interrupted) line_.boolean("interrupted", true);
  line_.milliseconds("duration_ms", duration);
  if (record.first_content) line_.milliseconds("ttft_ms", *record.first_content - record.started);
  line_.milliseconds("overhead_ms", overhead_of(record));
  line_.integer("attempts", std::ranges::count_if(record.attempts, [](const model::Attempt& attempt) {
                  return attempt.outcome != model::Outcome::Refused;
                }));
  if (record.responses > 0) line_.integer("responses", record.responses);
  put_usage(line_, record.usage);
  if (!record.finish_reason.empty()) line_.text("finish_reason", record.finish_reason);
  put_lost(line_, answering_attempt(record));
  line_.integer("bytes_in", static_cast<std::int64_t>(record.bytes_from_client));
  line_.integer("bytes_out", static_cast<std::int64_t>(record.bytes_to_client));
  line_.integer("config", static_cast<std::int64_t>(record.config_generation));
  // Last, so that a long list costs none of the fields above.
  if (record.attempts.size() > 1) {
    line_.begin_list("tries");
    for (const model::Attempt& attempt : record.attempts) {
      line_.begin_element();
      if (attempt.target != nullptr) line_.text("target", attempt.target->name);
      line_.text("outcome", to_string(attempt.outcome));
      if (attempt.error) line_.text("error", to_string(attempt.error->kind));
      if (attempt.status != 0) line_.integer("status", attempt.status);
      line_.milliseconds("ms", attempt.ended - attempt.started);
      line_.end_element();
    }
    line_.end_list();
  }
  writer_.push(ring_, line_.finish());
}

void RequestLog::write_attempt(const relay::RequestRecord& record, std::size_t index, Level level) noexcept {
  const model::Attempt& attempt = record.attempts[index];
  const std::chrono::nanoseconds since_start = attempt.ended - record.started;
  line_.begin();
  line_.text("ts", timestamp_.text(record.wall_started +
                                   std::chrono::duration_cast<WallTime::duration>(since_start)));
  line_.text("level", to_string(level));
  line_.text("msg", "attempt");
  line_.text("request_id", record.request_id);
  line_.integer("attempt", static_cast<std::int64_t>(index) + 1);
  if (attempt.target != nullptr) {
    line_.text("model", attempt.target->model);
    line_.text("account", attempt.target->account_name);
  }
  line_.text("outcome", to_string(attempt.outcome));
  if (attempt.status != 0) line_.integer("status", attempt.status);
  if (attempt.error) {
    put_error(line_, *attempt.error);
    line_.text("phase", to_string(attempt.error->phase));
    if (attempt.error->retry_after) line_.milliseconds("retry_after_ms", *attempt.error->retry_after);
  }
  line_.boolean("reached_provider", attempt.reached_provider);
  line_.boolean("delivered", attempt.delivered);
  line_.milliseconds("start_ms", attempt.started - record.started);
  line_.milliseconds("duration_ms", attempt.ended - attempt.started);
  if (attempt.first_byte) line_.milliseconds("first_byte_ms", *attempt.first_byte - attempt.started);
  if (attempt.first_content) line_.milliseconds("first_content_ms", *attempt.first_content - attempt.started);
  put_usage(line_, attempt.usage);
  put_lost(line_, &attempt);
  line_.integer("config", static_cast<std::int64_t>(record.config_generation));
  writer_.push(ring_, line_.finish());
}

}  // namespace qq::telemetry
