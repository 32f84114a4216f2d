#include "dialects/anthropic/count_envelope.h"

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"
#include "dialects/provider_json.h"
#include "wire/json_writer.h"

namespace qq::dialects::anthropic {
namespace {

using model::MessagesForm;

// A body of InvokeModel needs one, above what may be thought; it counts for nothing.
std::int64_t some_max_tokens(std::string_view body) {
  const auto budget = wire::JsonValue(body).at("thinking", "budget_tokens");
  constexpr std::int64_t kMost = 1'000'000'000;  // more than any model takes
  return std::clamp(budget ? budget->integer().value_or(0) : 0, std::int64_t{0}, kMost) + 1;
}

void write_betas(wire::JsonWriter& json, std::string_view beta) {
  json.key("anthropic_beta").begin_array();
  while (!beta.empty()) {
    const std::size_t comma = std::min(beta.find(','), beta.size());
    const std::string_view name = trimmed(beta.substr(0, comma));
    if (!name.empty()) json.string(name);
    beta.remove_prefix(std::min(comma + 1, beta.size()));
  }
  json.end_array();
}

// "publishers/anthropic/models/claude-…" is a name in the URL, not in a body.
std::string_view short_name(std::string_view model) noexcept {
  const std::size_t slash = model.rfind('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

std::string inner_body(std::string_view body, std::string_view beta, const model::Target& target) {
  const bool bedrock = target.quirks.messages_form == MessagesForm::BedrockInvoke;
  std::string out;
  out.reserve(body.size() + 128);
  wire::JsonWriter json(out);
  json.begin_object();
  json.member("anthropic_version", bedrock ? "bedrock-2023-05-31" : "vertex-2023-10-16");
  if (!bedrock) json.member("model", short_name(target.upstream_model));
  bool has_max_tokens = false;
  for (wire::JsonMembers members{wire::JsonValue(body)}; members.next();) {
    if (members.key_is("model") || members.key_is("stream") || members.key_is("anthropic_version")) continue;
    if (members.key_is("max_tokens")) has_max_tokens = true;
    json.raw_member(members.raw_key(), members.value().text());
  }
  if (bedrock && !has_max_tokens) json.member("max_tokens", some_max_tokens(body));
  if (bedrock && !beta.empty()) write_betas(json, beta);
  json.end_object();
  return out;
}

}  // namespace

EncodedRequest encode_enveloped_count(std::string_view body, std::string_view beta,
                                      const model::Target& target) {
  EncodedRequest out;
  out.body = inner_body(body, beta, target);
  if (target.quirks.messages_form == MessagesForm::BedrockInvoke) {
    out.body = R"({"input":{"invokeModel":{"body":")" + to_base64(out.body) + "\"}}}";
  } else if (!beta.empty()) {
    out.header_lines.append("anthropic-beta: ").append(beta).append("\r\n");
  }
  return out;
}

std::optional<std::int64_t> decode_enveloped_count(std::string_view body) {
  std::string room;
  const auto document = provider_json(body, room);
  if (!document) return std::nullopt;
  const auto count = count_in(document->member("inputTokens"));
  return count ? count : count_in(document->member("input_tokens"));
}

}  // namespace qq::dialects::anthropic
