#include "downstream/local_endpoints.h"

#include <fmt/format.h>

#include "wire/json.h"

namespace qq::downstream {
namespace {

void append_model(std::string& out, const relay::Snapshot& snapshot, std::string_view name) {
  out.append(R"({"id":)");
  wire::append_json_string(out, name);
  fmt::format_to(std::back_inserter(out), R"(,"object":"model","created":{},"owned_by":"queqiao"}})",
                 snapshot.created_unix);
}

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string models_json(const relay::Snapshot& snapshot, const admission::KeyEntry& key) {
  std::string out = R"({"object":"list","data":[)";
  bool first = true;
  for (const std::string& name : snapshot.public_names) {
    if (!admission::may_use(key, name)) continue;
    if (!first) out.push_back(',');
    first = false;
    append_model(out, snapshot, name);
  }
  out.append("]}");
  return out;
}

std::optional<std::string> model_json(const relay::Snapshot& snapshot, const admission::KeyEntry& key,
                                      std::string_view name) {
  if (snapshot.find_route(name) == nullptr || !admission::may_use(key, name)) return std::nullopt;
  std::string out;
  append_model(out, snapshot, name);
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

LocalReply readiness(const relay::LoopServices& services) {
  LocalReply reply;
  if (services.process.draining.load(std::memory_order_relaxed)) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"draining"})";
  } else if (services.snapshot->public_names.empty()) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"no route is configured"})";
  } else {
    reply.body = R"({"ready":true})";
  }
  return reply;
}

}  // namespace qq::downstream
