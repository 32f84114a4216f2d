#include "dialects/openai/request.h"

#include <algorithm>

#include "dialects/carried_state.h"
#include "dialects/openai/key_case.h"

namespace qq::dialects::openai {
namespace {

using wire::JsonValue;

Error invalid(std::string message, std::string param = {}, std::string code = {}) {
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(message), std::move(param));
  error.type = "invalid_request_error";
  error.code = std::move(code);
  return error;
}

bool model_may_be_missing(model::Endpoint endpoint) noexcept {
  return endpoint == model::Endpoint::Moderations;
}

constexpr bool has_stream_options(model::Endpoint endpoint) noexcept {
  return endpoint == model::Endpoint::ChatCompletions || endpoint == model::Endpoint::Completions;
}

// The others give whole answers only. A `stream` in their requests means nothing and goes on like every
// member that we don't know.
constexpr bool has_streams(model::Endpoint endpoint) noexcept {
  switch (endpoint) {
    case model::Endpoint::Embeddings:
    case model::Endpoint::Moderations:
    case model::Endpoint::Rerank:
    case model::Endpoint::CompactResponse:
    case model::Endpoint::CountInputTokens:
    case model::Endpoint::CountMessageTokens:
    case model::Endpoint::CountContentTokens:
    case model::Endpoint::AudioSpeech:  // whatever form it has, it comes as it is made
    case model::Endpoint::AudioTranslations: return false;
    default: return true;
  }
}

// Only what a conversation's answer held can come back.
constexpr bool has_history(model::Endpoint endpoint) noexcept {
  return model::conversation_at(endpoint) || model::dialect_of(endpoint) != model::Dialect::OpenAiChat;
}

constexpr bool has_state(model::Endpoint endpoint) noexcept {
  return endpoint == model::Endpoint::Responses || endpoint == model::Endpoint::CountInputTokens ||
         endpoint == model::Endpoint::CompactResponse;
}

// Gemini's requests say the model and whether to stream in the URL.
constexpr bool says_it_in_the_path(model::Endpoint endpoint) noexcept {
  return model::dialect_of(endpoint) == model::Dialect::Gemini;
}

// One of the keys we act on. Two readers that disagree about which of two `model` members counts are a way
// around every rule, so a second one and an escaped spelling are refused.
struct OwnedKey {
  std::string_view name;
  JsonValue value{};
  bool seen = false;

  [[nodiscard]] Error other_case() const {
    return invalid("the key \"" + std::string(name) + "\" is written with capital letters; write it plainly",
                   std::string(name), "invalid_json");
  }
  // Of a member whose key this is.
  Result<> take(const wire::JsonMembers& members) {
    if (members.raw_key() != name) {
      return fail(invalid("the key \"" + std::string(name) + "\" is written with escapes; write it plainly",
                          std::string(name), "invalid_json"));
    }
    if (seen) {
      return fail(invalid("the key \"" + std::string(name) + "\" is given twice; give it once",
                          std::string(name), "invalid_json"));
    }
    seen = true;
    value = members.value();
    return {};
  }
};

Result<bool> boolean_or_null(JsonValue value, std::string_view name) {
  if (value.is_true()) return true;
  if (value.text().empty() || value.is_null() || value.is_false()) return false;
  return fail(
      invalid("'" + std::string(name) + "' must be true or false", std::string(name), "invalid_type"));
}

Result<> read_model(model::Endpoint endpoint, JsonValue value, RequestFacts& facts) {
  if (value.text().empty()) {
    if (model_may_be_missing(endpoint)) return {};
    return fail(invalid("you must provide a model parameter: add \"model\" with the name of a model or route",
                        "model", "missing_required_parameter"));
  }
  if (!value.is_string()) {
    return fail(
        invalid("'model' must be a string with the name of a model or route", "model", "invalid_type"));
  }
  facts.model_value = value;
  facts.model = value.string();
  if (facts.model.empty()) {
    return fail(invalid("'model' is empty: give the name of a model or route", "model", "invalid_value"));
  }
  return {};
}

Result<> read_stream_options(JsonValue options, RequestFacts& facts) {
  if (options.text().empty()) return {};
  facts.stream_options = options;
  if (options.is_null()) return {};
  if (!options.is_object()) {
    return fail(invalid("'stream_options' must be an object or null", "stream_options", "invalid_type"));
  }
  OwnedKey include_usage{"include_usage"};
  for (wire::JsonMembers members(options); members.next();) {
    if (!members.key_is(include_usage.name)) continue;
    if (auto taken = include_usage.take(members); !taken) {
      taken.error().param = "stream_options.include_usage";
      return fail(std::move(taken).error());
    }
  }
  QQ_TRY(facts.usage_in_stream_asked, boolean_or_null(include_usage.value, "stream_options.include_usage"));
  return {};
}

// How many prompts a completion has: one, unless it is a list of texts or of lists of tokens.
std::int64_t prompts_in(JsonValue prompt) noexcept {
  std::int64_t count = 0;
  for (wire::JsonElements prompts(prompt); prompts.next(); ++count) {
    if (!prompts.is_string() && !prompts.is_array()) return 1;
  }
  return std::max(count, std::int64_t{1});
}

// As many as a ChoiceSet tells apart; more than any provider gives.
constexpr std::int64_t kChoicesMax = 65'536;

// What is no such number is the provider's to refuse as well.
std::uint32_t choices_of(JsonValue n, JsonValue prompt) noexcept {
  const std::int64_t each = std::clamp(n.integer().value_or(1), std::int64_t{1}, kChoicesMax);
  return static_cast<std::uint32_t>(std::min(each * prompts_in(prompt), kChoicesMax));
}

// With the limit that it exceeds, if it is that, and the setting that raises it.
std::string why_not_taken(const wire::JsonError& error, const wire::JsonLimits& limits) {
  const std::string at = std::string(error.reason) + " at byte " + std::to_string(error.offset);
  switch (error.limit) {
    case wire::JsonError::Limit::None: break;
    case wire::JsonError::Limit::Depth:
      return "the body is " + at + "; this gateway takes " + std::to_string(limits.depth_max) + " levels";
    case wire::JsonError::Limit::Nodes:
      return "the body has " + at + "; this gateway takes " + std::to_string(limits.nodes_max) +
             " (limits.json_nodes_max)";
  }
  return "the body is not valid JSON: " + at;
}

}  // namespace

Result<RequestFacts> inspect_request(model::Endpoint endpoint, std::string_view body,
                                     const wire::JsonLimits& limits) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(invalid("the request has no body; send a JSON object with content-type: application/json", {},
                        "invalid_json"));
  }
  wire::JsonOutline outline(1);
  if (const auto error = wire::check_json(body, limits, &outline)) {
    return fail(invalid(why_not_taken(*error, limits), {}, "invalid_json"));
  }
  RequestFacts facts;
  facts.document = JsonValue(body);
  if (!facts.document.is_object()) {
    return fail(invalid("the body must be a JSON object", {}, "invalid_type"));
  }
  facts.holds_carried = has_history(endpoint) && holds_carried(body);
  if (says_it_in_the_path(endpoint)) return facts;
  OwnedKey model{"model"};
  OwnedKey stream{"stream"};
  OwnedKey stream_options{"stream_options"};
  std::array<OwnedKey, 7> of_state{{{"input"},
                                    {"include"},
                                    {"store"},
                                    {"background"},
                                    {"reasoning"},
                                    {"previous_response_id"},
                                    {"conversation"}}};
  std::array<OwnedKey*, 3 + of_state.size()> owned{&model, &stream, &stream_options};
  std::size_t owned_count = 3;
  if (has_state(endpoint)) {
    for (OwnedKey& key : of_state) owned[owned_count++] = &key;
  }
  JsonValue n;
  JsonValue prompt;
  for (wire::JsonMembers members(facts.document, outline); members.next();) {
    if (members.raw_key() == "n") n = members.value();
    if (endpoint == model::Endpoint::Completions && members.raw_key() == "prompt") prompt = members.value();
    for (OwnedKey* key : std::span(owned).first(owned_count)) {
      if (members.key_is(key->name)) {
        QQ_CHECK(key->take(members));
        break;
      }
      if (is_other_case(members, key->name)) return fail(key->other_case());
    }
  }
  QQ_CHECK(read_model(endpoint, model.value, facts));
  const auto& [input, include, store, background, reasoning, previous, conversation] = of_state;
  facts.state = {.input = input.value,
                 .include = include.value,
                 .store = store.value,
                 .background = background.value,
                 .reasoning = reasoning.value,
                 .previous_response_id = previous.value,
                 .conversation = conversation.value};
  if (has_streams(endpoint)) {
    QQ_TRY(facts.stream, boolean_or_null(stream.value, "stream"));
  }
  if (has_stream_options(endpoint)) {
    QQ_CHECK(read_stream_options(stream_options.value, facts));
    facts.choices = choices_of(n, prompt);
  }
  return facts;
}

bool usage_was_forced(const RequestFacts& facts, model::Endpoint endpoint,
                      const model::Target& target) noexcept {
  return facts.stream && !facts.usage_in_stream_asked && target.quirks.force_include_usage &&
         has_stream_options(endpoint);
}

namespace {

void count_bytes(TargetBody& out) noexcept {
  out.bytes = 0;
  for (const std::string_view piece : out.pieces) out.bytes += piece.size();
}

bool names_include_usage(const RequestFacts& facts) noexcept {
  return facts.stream_options.is_object() && facts.stream_options.member("include_usage").has_value();
}

// What else the options hold is the client's to answer for; of empty ones nothing stays.
[[gnu::noinline]] void drop_include_usage(const RequestFacts& facts, wire::JsonPatch& patch) {
  const JsonValue options = facts.stream_options;
  std::size_t count = 0;
  for (wire::JsonMembers members(options); members.next();) ++count;
  if (count == 1) {
    patch.remove_member(facts.document, options);
  } else {
    patch.remove_member(options, *options.member("include_usage"));
  }
}

}  // namespace

void encode_for_target(const RequestFacts& facts, std::string_view body, model::Endpoint endpoint,
                       const model::Target& target, TargetBody& out) {
  const bool has_model = !facts.model_value.text().empty();
  const bool has_place = target.quirks.sends_model_in_body && !says_it_in_the_path(endpoint);
  const bool wants_model = has_place && !target.upstream_model.empty();
  const bool drops_model = has_model && !has_place;
  const bool writes_model = wants_model && facts.model != target.upstream_model;
  const bool forces_usage = usage_was_forced(facts, endpoint, target);
  const bool drops_usage = target.quirks.refuses_include_usage && names_include_usage(facts);
  const bool keeps_nothing = facts.keeps_nothing && has_state(endpoint);
  out.patch.reset();
  out.model_json.clear();

  // The usual cases need no patch: nothing to change, or one name to replace.
  if (!drops_model && !forces_usage && !drops_usage && !keeps_nothing && (has_model || !writes_model)) {
    if (writes_model) {
      out.few = wire::with_other_string(body, facts.model_value, target.upstream_model, out.model_json);
      out.pieces = out.few;
    } else {
      out.few[0] = body;
      out.pieces = std::span(out.few).first(1);
    }
    return count_bytes(out);
  }
  if (writes_model) wire::append_json_string(out.model_json, target.upstream_model);

  wire::JsonPatch& patch = out.patch.emplace(body);
  if (drops_model) {
    patch.remove_member(facts.document, facts.model_value);
  } else if (writes_model && has_model) {
    patch.replace(facts.model_value, out.model_json);
  } else if (writes_model) {
    patch.add_member(facts.document, "model", out.model_json);
  }
  if (forces_usage) {
    const JsonValue options = facts.stream_options;
    if (options.text().empty()) {
      patch.add_member(facts.document, "stream_options", R"({"include_usage":true})");
    } else if (!options.is_object()) {
      patch.replace(options, R"({"include_usage":true})");
    } else if (const auto asked = options.member("include_usage")) {
      patch.replace(*asked, "true");
    } else {
      patch.add_member(options, "include_usage", "true");
    }
  }
  if (drops_usage) drop_include_usage(facts, patch);
  if (keeps_nothing && endpoint == model::Endpoint::Responses) {
    openai_responses::make_stateless(facts.state, facts.document, target, facts.asks_thoughts, patch);
  } else if (keeps_nothing) {
    openai_responses::tidy_input(facts.state.input, target, patch);
  }
  out.many = patch.pieces();
  out.pieces = out.many;
  count_bytes(out);
}

}  // namespace qq::dialects::openai
