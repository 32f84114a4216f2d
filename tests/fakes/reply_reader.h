// Takes a client's side of HTTP/1.1 apart: replies with their framing, however the bytes were split.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/body_reader.h"
#include "wire/http_head.h"

namespace qq::fakes {

struct HttpReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool keep_alive = false;
  bool until_close = false;
  bool complete = false;  // the body ended where its framing says

  // The first header of that name, or nothing.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (wire::iequals(key, name)) return value;
    }
    return std::nullopt;
  }
};

class ReplyReader {
 public:
  void feed(std::string_view bytes) {
    rest_.append(bytes);
    while (error_.empty() && step()) {
    }
  }
  // The peer has closed.
  void finish() {
    if (body_ && body_->finish()) end_reply();
  }

  // Interim replies (100 Continue) are not in here.
  [[nodiscard]] const std::deque<HttpReply>& replies() const noexcept { return replies_; }
  [[nodiscard]] std::size_t complete_replies() const noexcept { return complete_; }
  [[nodiscard]] int interim_replies() const noexcept { return interim_; }
  // What a strict reader says about it; empty if nothing is wrong.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  // Bytes that belong to no reply yet.
  [[nodiscard]] const std::string& rest() const noexcept { return rest_; }

 private:
  bool step() {
    if (rest_.empty()) return false;
    if (!body_) return read_head();
    const auto taken = body_->feed(rest_);
    if (taken.error != nullptr) {
      error_ = taken.error;
      return false;
    }
    replies_.back().body.append(taken.payload);
    rest_.erase(0, taken.consumed);
    if (body_->done()) end_reply();
    return taken.consumed > 0;
  }
  bool read_head() {
    wire::ResponseHead head;
    const wire::HeadVerdict verdict = wire::read_response_head(rest_, wire::HeadLimits{}, head);
    if (verdict.kind == wire::HeadVerdict::Kind::Bad) error_ = verdict.reason;
    if (verdict.kind != wire::HeadVerdict::Kind::Complete) return false;
    if (head.status < 200) {
      ++interim_;
    } else {
      HttpReply& reply = replies_.emplace_back();
      reply.status = head.status;
      reply.keep_alive = head.keep_alive;
      reply.until_close = head.framing.kind == wire::Framing::Kind::UntilClose;
      for (const wire::Field& field : head.fields.all()) reply.headers.emplace_back(field.name, field.value);
      body_.emplace(head.framing);
      if (body_->done()) end_reply();
    }
    rest_.erase(0, verdict.consumed);
    return true;
  }
  void end_reply() {
    replies_.back().complete = true;
    ++complete_;
    body_.reset();
  }

  std::deque<HttpReply> replies_;
  std::string rest_;
  std::optional<wire::BodyReader> body_;
  std::string error_;
  std::size_t complete_ = 0;
  int interim_ = 0;
};

}  // namespace qq::fakes
