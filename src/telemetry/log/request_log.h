// The log lines of a finished request: one for the request ("request"), and one per attempt ("attempt") that
// was not the first and good. Fields: docs/operations.md. Never a key or a prompt: what providers say in
// their error bodies is not logged, only the kind of error; our own messages are, with credentials masked.
//
// One per loop, used on its thread.
#pragma once
#include <atomic>

#include "relay/request_record.h"
#include "telemetry/log/json_line.h"
#include "telemetry/log/level.h"
#include "telemetry/log/log_writer.h"
#include "telemetry/log/timestamp.h"

namespace qq::telemetry {

class RequestLog {
 public:
  // Lines go to `writer.ring(ring)`; `level` may change at any time.
  RequestLog(LogWriter& writer, std::size_t ring, const std::atomic<Level>& level)
      : writer_(writer), ring_(ring), level_(level) {}

  void write(const relay::RequestRecord& record) noexcept;

  // Server-side failures and cut streams are warnings, our own bugs errors.
  static Level level_of(const relay::RequestRecord& record) noexcept;
  static Level level_of(const model::Attempt& attempt) noexcept;

 private:
  void write_request(const relay::RequestRecord& record, Level level) noexcept;
  void write_attempt(const relay::RequestRecord& record, std::size_t index, Level level) noexcept;

  LogWriter& writer_;
  std::size_t ring_;
  const std::atomic<Level>& level_;
  Timestamp timestamp_;
  JsonLine line_;
};

}  // namespace qq::telemetry
