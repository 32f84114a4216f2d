#include "simulator/provider/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/sha256.h"
#include "wire/json.h"

namespace qq::simulator {
namespace {

std::string_view to_string(ExchangeEnd end) noexcept {
  switch (end) {
    case ExchangeEnd::Running: return "running";
    case ExchangeEnd::Complete: return "complete";
    case ExchangeEnd::Cut: return "cut";
    case ExchangeEnd::Aborted: return "aborted";
  }
  return "unknown";
}

void append_counts(std::string& out, const std::map<std::string, std::uint64_t, std::less<>>& counts) {
  out += '{';
  bool first = true;
  for (const auto& [name, count] : counts) {
    if (!std::exchange(first, false)) out += ',';
    wire::append_json_string(out, name);
    fmt::format_to(std::back_inserter(out), ":{}", count);
  }
  out += '}';
}

void append_request(std::string& out, const SeenRequest& seen, MonotonicTime since) {
  const auto text = [&](std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":", key);
    wire::append_json_string(out, value);
  };
  const auto ms = std::chrono::duration_cast<Milliseconds>(seen.at - since).count();
  fmt::format_to(std::back_inserter(out), "{{\"id\":{},\"connection\":{},\"at_ms\":{}", seen.id,
                 seen.connection, ms);
  text("method", seen.method);
  text("target", seen.target);
  text("head", seen.head);
  fmt::format_to(std::back_inserter(out), ",\"body_bytes\":{}", seen.body_bytes);
  text("body_sha256", seen.body_sha256);
  text("body", seen.body);
  text("model", seen.model);
  text("reply", seen.reply);
  fmt::format_to(std::back_inserter(out), ",\"status\":{}", seen.status);
  text("end", to_string(seen.end));
  out += '}';
}

}  // namespace

std::uint64_t Statistics::connection_opened() noexcept {
  ++accepted_;
  max_live_ = std::max(max_live_, ++live_);
  return ++next_connection_;
}

void Statistics::connection_closed(bool control) noexcept {
  if (!control) --live_;
}

void Statistics::connection_is_control() noexcept {
  --live_;
  if (accepted_ > 0) --accepted_;  // it may have come before a reset
}

std::uint64_t Statistics::request_started(SeenRequest request, std::string_view body) {
  ++total_;
  max_in_flight_ = std::max(max_in_flight_, ++in_flight_);
  bytes_in_ += request.head.size() + body.size();
  // A hostile number of names must not fill the memory.
  constexpr std::size_t kNamesMax = 1000;
  const auto count = [](auto& counts, const std::string& name) {
    const bool known = counts.size() < kNamesMax || counts.contains(name);
    ++counts[known ? name : std::string("(others)")];
  };
  count(by_model_, request.model);
  count(by_reply_, request.reply);
  request.id = ++next_request_;
  if (kept_ == 0) return request.id;
  request.body_bytes = body.size();
  request.body_sha256 = to_hex(sha256(body));
  request.body = body.substr(0, body_max_);
  if (requests_.size() == kept_) requests_.pop_front();
  requests_.push_back(std::move(request));
  return next_request_;
}

void Statistics::request_ended(std::uint64_t id, ExchangeEnd end) noexcept {
  --in_flight_;
  if (end == ExchangeEnd::Complete) ++completed_;
  if (end == ExchangeEnd::Cut) ++cut_;
  if (end == ExchangeEnd::Aborted) ++aborted_;
  const auto seen = std::ranges::lower_bound(requests_, id, {}, &SeenRequest::id);
  if (seen != requests_.end() && seen->id == id) seen->end = end;
}

void Statistics::reset(MonotonicTime now) noexcept {
  since_ = now;
  max_live_ = live_;
  accepted_ = total_ = completed_ = cut_ = aborted_ = unfinished_ = bytes_in_ = bytes_out_ = 0;
  max_in_flight_ = in_flight_;
  by_model_.clear();
  by_reply_.clear();
  requests_.clear();
}

std::string Statistics::json() const {
  std::string out = fmt::format(
      R"({{"connections":{{"live":{},"live_max":{},"accepted":{}}},)"
      R"("requests":{{"total":{},"in_flight":{},"in_flight_max":{},"completed":{},"cut":{},"aborted":{},"unfinished":{}}},)"
      R"("bytes":{{"in":{},"out":{}}},"models":)",
      live_, max_live_, accepted_, total_, in_flight_, max_in_flight_, completed_, cut_, aborted_,
      unfinished_, bytes_in_, bytes_out_);
  append_counts(out, by_model_);
  out += ",\"replies\":";
  append_counts(out, by_reply_);
  out += '}';
  return out;
}

std::string Statistics::requests_json() const {
  std::string out = "{\"requests\":[";
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (i > 0) out += ',';
    append_request(out, requests_[i], since_);
  }
  return out + "]}";
}

}  // namespace qq::simulator
