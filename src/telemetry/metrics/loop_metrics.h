// What one loop counts about its requests. Written by the loop's thread alone with plain loads and stores;
// a scrape reads it from another thread and adds the loops up (metrics/exposition.h).
#pragma once
#include <array>
#include <cstdint>

#include "relay/loop_counters.h"
#include "relay/request_record.h"
#include "telemetry/metrics/histogram.h"
#include "telemetry/metrics/label_table.h"
#include "telemetry/metrics/series_table.h"
#include "telemetry/record_facts.h"

namespace qq::telemetry {

// Endpoints by their number, and one place for requests to unknown paths.
inline constexpr std::size_t kEndpointSlots = model::kEndpointCount + 1;
std::string_view endpoint_label(std::size_t slot) noexcept;

inline constexpr std::array<std::string_view, 9> kTokenKinds = {
    "input_uncached", "cache_read",  "cache_write",  "output_text", "reasoning",
    "audio_input",    "image_input", "audio_output", "image_output"};
inline constexpr std::size_t kErrorKinds = static_cast<std::size_t>(ErrorKind::Internal) + 1;

struct LoopMetrics {
  void count(const relay::RequestRecord& record) noexcept;
  void count_part(const relay::RequestRecord& record) noexcept;
  void count_tokens(const model::Usage& usage) noexcept;

  // Keys of `requests`: route | endpoint slot | outcome | status.
  struct RequestKey {
    std::uint16_t route;
    std::uint8_t endpoint;
    std::uint8_t outcome;
    std::uint16_t status;
    [[nodiscard]] std::uint64_t pack() const noexcept;
    static RequestKey unpack(std::uint64_t key) noexcept;
  };
  // Keys of `attempts`: provider | outcome | error kind + 1, or 0 for none.
  struct AttemptKey {
    std::uint16_t provider;
    std::uint8_t outcome;
    std::uint8_t error;
    [[nodiscard]] std::uint64_t pack() const noexcept;
    static AttemptKey unpack(std::uint64_t key) noexcept;
  };

  LabelTable routes;
  LabelTable providers;
  SeriesTable requests;
  SeriesTable attempts;
  Histogram<kOverheadBounds> overhead;
  std::array<Histogram<kTtftBounds>, kEndpointSlots> ttft;
  std::array<Histogram<kDurationBounds>, kEndpointSlots> duration;
  std::array<relay::Counter, kErrorKinds> fallbacks;  // by the error that made a request move on
  std::array<relay::Counter, kTokenKinds.size()> tokens;
  relay::Counter streams_interrupted;
  std::array<relay::Counter, kRequestOutcomeCount> realtime_responses;
};

}  // namespace qq::telemetry
