#include "telemetry/metrics/loop_metrics.h"

#include "telemetry/record_facts.h"

namespace qq::telemetry {

std::string_view endpoint_label(std::size_t slot) noexcept {
  return slot < model::kEndpointCount ? to_string(static_cast<model::Endpoint>(slot))
                                      : std::string_view("none");
}

std::uint64_t LoopMetrics::RequestKey::pack() const noexcept {
  return std::uint64_t{route} | std::uint64_t{endpoint} << 16U | std::uint64_t{outcome} << 24U |
         std::uint64_t{status} << 32U;
}

LoopMetrics::RequestKey LoopMetrics::RequestKey::unpack(std::uint64_t key) noexcept {
  return {static_cast<std::uint16_t>(key), static_cast<std::uint8_t>(key >> 16U),
          static_cast<std::uint8_t>(key >> 24U), static_cast<std::uint16_t>(key >> 32U)};
}

std::uint64_t LoopMetrics::AttemptKey::pack() const noexcept {
  return std::uint64_t{provider} | std::uint64_t{outcome} << 16U | std::uint64_t{error} << 24U;
}

LoopMetrics::AttemptKey LoopMetrics::AttemptKey::unpack(std::uint64_t key) noexcept {
  return {static_cast<std::uint16_t>(key), static_cast<std::uint8_t>(key >> 16U),
          static_cast<std::uint8_t>(key >> 24U)};
}

// Of a connection, whose end is counted as the request: its tries and how long it was are not told again.
void LoopMetrics::count_part(const relay::RequestRecord& record) noexcept {
  const auto slot = static_cast<std::size_t>(*record.endpoint);
  if (record.first_content) ttft[slot].observe(*record.first_content - record.started);
  if (record.part == relay::RecordPart::Response) {
    realtime_responses[static_cast<std::size_t>(outcome_of(record))].add();
  }
  count_tokens(record.usage);
}

void LoopMetrics::count(const relay::RequestRecord& record) noexcept {
  if (record.part != relay::RecordPart::None) return count_part(record);
  const std::size_t slot =
      record.endpoint ? static_cast<std::size_t>(*record.endpoint) : model::kEndpointCount;
  const RequestOutcome outcome = outcome_of(record);
  const RequestKey key{routes.number_of(record.route.empty() ? "none" : record.route),
                       static_cast<std::uint8_t>(slot), static_cast<std::uint8_t>(outcome),
                       static_cast<std::uint16_t>(record.status)};
  requests.add(key.pack());

  overhead.observe(overhead_of(record));
  duration[slot].observe(record.ended - record.started);
  if (record.first_content) ttft[slot].observe(*record.first_content - record.started);
  if (outcome == RequestOutcome::Interrupted) streams_interrupted.add();

  const model::Attempt* tried = nullptr;
  for (const model::Attempt& attempt : record.attempts) {
    AttemptKey attempt_key{LabelTable::kOther, static_cast<std::uint8_t>(attempt.outcome), 0};
    if (attempt.target != nullptr) attempt_key.provider = providers.number_of(attempt.target->provider);
    if (attempt.error)
      attempt_key.error = static_cast<std::uint8_t>(static_cast<unsigned>(attempt.error->kind) + 1);
    attempts.add(attempt_key.pack());
    if (attempt.outcome == model::Outcome::Refused) continue;
    // Moving on to another target is a fallback: from what was tried before, or from the first choice if that
    // was passed over. Trying the same one again is none, whatever was passed over in between.
    const model::Attempt& before = tried != nullptr ? *tried : record.attempts.front();
    if (before.target != attempt.target && before.error) {
      fallbacks[static_cast<std::size_t>(before.error->kind)].add();
    }
    tried = &attempt;
  }

  // Whatever was used is counted, by failed attempts as well.
  for (const model::Attempt& attempt : record.attempts) count_tokens(attempt.usage);
}

void LoopMetrics::count_tokens(const model::Usage& usage) noexcept {
  if (usage.source == model::UsageSource::None) return;
  const std::array buckets = {usage.input_uncached, usage.cache_read,   usage.cache_write,
                              usage.output_text,    usage.reasoning,    usage.audio_input,
                              usage.image_input,    usage.audio_output, usage.image_output};
  static_assert(buckets.size() == kTokenKinds.size());
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i]) tokens[i].add(*buckets[i]);
  }
}

}  // namespace qq::telemetry
