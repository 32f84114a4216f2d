// Keeps what the relay tells about each request, and counts it as the product's metrics do.
#pragma once
#include <string>
#include <vector>

#include "relay/request_record.h"
#include "telemetry/metrics/loop_metrics.h"
#include "telemetry/record_facts.h"

namespace qq::fakes {

struct KeptRecord {
  relay::RecordPart part = relay::RecordPart::None;
  std::uint32_t responses = 0;
  int status = 0;
  bool stream = false;
  bool interrupted = false;
  std::string method;
  std::string path;
  std::string route;
  std::string key;
  std::string owner;
  std::string request_id;
  std::string finish_reason;
  std::optional<Error> error;
  std::vector<model::Attempt> attempts;
  model::Usage usage;
  MonotonicTime started{};
  MonotonicTime ended{};
  std::chrono::nanoseconds overhead{};
  std::optional<MonotonicTime> first_content;
  std::uint64_t bytes_from_client = 0;
  std::uint64_t bytes_to_client = 0;
};

class RecordingObserver : public relay::RequestObserver {
 public:
  void request_ended(const relay::RequestRecord& record) noexcept override {
    KeptRecord kept;
    kept.part = record.part;
    kept.responses = record.responses;
    kept.status = record.status;
    kept.stream = record.stream;
    kept.interrupted = record.interrupted;
    kept.method = record.method;
    kept.path = record.path;
    kept.route = record.route;
    kept.key = record.key_name;
    kept.owner = record.owner;
    kept.request_id = record.request_id;
    kept.finish_reason = record.finish_reason;
    kept.error = record.error;
    kept.attempts.assign(record.attempts.begin(), record.attempts.end());
    kept.usage = record.usage;
    kept.started = record.started;
    kept.ended = record.ended;
    kept.overhead = telemetry::overhead_of(record);
    kept.first_content = record.first_content;
    kept.bytes_from_client = record.bytes_from_client;
    kept.bytes_to_client = record.bytes_to_client;
    records.push_back(std::move(kept));
    metrics.count(record);
  }

  std::vector<KeptRecord> records;
  telemetry::LoopMetrics metrics;
};

}  // namespace qq::fakes
