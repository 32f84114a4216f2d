// Records for the tests and the benchmark of this folder: a plain good request, and the parts to spoil it.
#pragma once
#include <string>
#include <vector>

#include "relay/request_record.h"

namespace qq::telemetry {

struct RecordFixture {
  model::Target primary;
  model::Target backup;
  std::vector<model::Attempt> attempts;
  relay::RequestRecord record;

  RecordFixture() {
    using namespace std::chrono_literals;
    name(primary, "openai", "main", "gpt-mini");
    name(backup, "deepseek", "one", "deepseek-chat");
    record.request_id = "01HF7YAT00ABCDEFGHJKMNPQRS";
    record.method = "POST";
    record.path = "/v1/chat/completions";
    record.endpoint = model::Endpoint::ChatCompletions;
    record.route = "chat-fast";
    record.key_name = "demo";
    record.owner = "team-a";
    record.stream = true;
    record.status = 200;
    record.wall_started = WallTime(1'700'000'000'123ms);
    record.started = MonotonicTime(1000s);
    record.ended = record.started + 100ms;
    record.first_content = record.started + 40ms;
    record.upstream_wait = 99'950us;
    record.usage.input_uncached = 12;
    record.usage.output_text = 34;
    record.usage.source = model::UsageSource::Provider;
    record.finish_reason = "stop";
    record.bytes_from_client = 1024;
    record.bytes_to_client = 2048;
    record.config_generation = 3;
    add_attempt(primary, model::Outcome::Success, std::nullopt, 200);
    attempts.back().usage = record.usage;
  }
  RecordFixture(const RecordFixture&) = delete;
  RecordFixture& operator=(const RecordFixture&) = delete;

  static void name(model::Target& target, std::string provider, std::string account, std::string model) {
    target.name = provider + "/" + account + "/" + model;
    target.account_name = provider + "/" + account;
    target.provider = std::move(provider);
    target.account = std::move(account);
    target.model = std::move(model);
  }

  void add_attempt(const model::Target& target, model::Outcome outcome, std::optional<Error> error,
                   std::uint16_t status) {
    using namespace std::chrono_literals;
    model::Attempt attempt;
    attempt.target = &target;
    attempt.outcome = outcome;
    attempt.error = std::move(error);
    attempt.reached_provider = true;
    attempt.delivered = outcome == model::Outcome::Success;
    attempt.status = status;
    attempt.started = record.started + 1ms;
    attempt.ended = record.started + 31ms;
    attempts.push_back(std::move(attempt));
    record.attempts = attempts;
  }
};

}  // namespace qq::telemetry
