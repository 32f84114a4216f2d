#include "dialects/gemini/logprobs.h"

#include <optional>

namespace qq::dialects::gemini {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

// {token, logProbability} as {token, logprob, bytes}, without the closing brace.
void write_token(wire::JsonWriter& json, JsonValue candidate) {
  json.begin_object();
  for (JsonMembers members(candidate); members.next();) {
    if (members.raw_key() == "token") json.raw_member("token", members.value().text());
    if (members.raw_key() == "logProbability") json.raw_member("logprob", members.value().text());
  }
  json.key("bytes").null();
}

void write_candidate(wire::JsonWriter& json, JsonValue token) {
  json.begin_object();
  for (JsonMembers members(token); members.next();) {
    if (members.raw_key() == "token") json.raw_member("token", members.value().text());
    if (members.raw_key() == "logprob") json.raw_member("logProbability", members.value().text());
  }
  json.end_object();
}

}  // namespace

model::Json decode_logprobs(JsonValue result) {
  const auto chosen = result.member("chosenCandidates");
  if (!chosen) return {};
  const auto top = result.member("topCandidates");
  JsonElements others(top ? *top : JsonValue());
  model::Json out;
  wire::JsonWriter json(out);
  json.begin_array();
  bool any = false;
  for (JsonElements each(*chosen); each.next();) {
    any = true;
    write_token(json, each.value());
    json.key("top_logprobs").begin_array();
    if (others.next()) {
      const auto candidates = others.value().member("candidates");
      for (JsonElements candidate(candidates ? *candidates : JsonValue()); candidate.next();) {
        write_token(json, candidate.value());
        json.end_object();
      }
    }
    json.end_array().end_object();
  }
  json.end_array();
  return any ? out : model::Json();
}

void write_logprobs(wire::JsonWriter& json, JsonValue logprobs) {
  json.key("logprobsResult").begin_object();
  json.key("chosenCandidates").begin_array();
  bool has_top = false;
  for (JsonElements each(logprobs); each.next();) {
    write_candidate(json, each.value());
    const auto top = each.value().member("top_logprobs");
    has_top |= top && JsonElements(*top).next();
  }
  json.end_array();
  if (has_top) {
    json.key("topCandidates").begin_array();
    for (JsonElements each(logprobs); each.next();) {
      json.begin_object().key("candidates").begin_array();
      const auto top = each.value().member("top_logprobs");
      for (JsonElements one(top ? *top : JsonValue()); one.next();) write_candidate(json, one.value());
      json.end_array().end_object();
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace qq::dialects::gemini
