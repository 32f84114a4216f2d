#include "dialects/openai/request.h"

#include "base/assert.h"

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

// One of the keys we act on. Two readers that disagree about which of two `model` members counts are a way
// around every rule, so a second one and an escaped spelling are refused.
struct OwnedKey {
  std::string_view name;
  JsonValue value{};
  bool seen = false;

  Result<bool> take(const wire::JsonMembers& members) {
    if (!members.key_is(name)) return false;
    if (members.raw_key() != name) {
      return fail(invalid("the key \"" + std::string(name) + "\" is written with escapes; write it plainly",
                          std::string(name), "invalid_json"));
    }
    if (seen) {
      return fail(invalid("the key \"" + std::string(name) + "\" is given twice; give it once", std::string(name),
                          "invalid_json"));
    }
    seen = true;
    value = members.value();
    return true;
  }
};

Result<bool> boolean_or_null(JsonValue value, std::string_view name) {
  if (value.is_true()) return true;
  if (value.text().empty() || value.is_null() || value.is_false()) return false;
  return fail(invalid("'" + std::string(name) + "' must be true or false", std::string(name), "invalid_type"));
}

Result<> read_model(model::Endpoint endpoint, JsonValue value, RequestFacts& facts) {
  if (value.text().empty()) {
    if (model_may_be_missing(endpoint)) return {};
    return fail(invalid("you must provide a model parameter: add \"model\" with the name of a model or route",
                        "model", "missing_required_parameter"));
  }
  if (!value.is_string()) {
    return fail(invalid("'model' must be a string with the name of a model or route", "model", "invalid_type"));
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
    if (auto taken = include_usage.take(members); !taken) {
      taken.error().param = "stream_options.include_usage";
      return fail(std::move(taken).error());
    }
  }
  QQ_TRY(facts.usage_in_stream_asked, boolean_or_null(include_usage.value, "stream_options.include_usage"));
  return {};
}

}  // namespace

Result<RequestFacts> inspect_request(model::Endpoint endpoint, std::string_view body,
                                     const wire::JsonLimits& limits) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(invalid("the request has no body; send a JSON object with content-type: application/json", {},
                        "invalid_json"));
  }
  if (const auto error = wire::check_json(body, limits)) {
    return fail(invalid("the body is not valid JSON: " + std::string(error->reason) + " at byte " +
                            std::to_string(error->offset),
                        {}, "invalid_json"));
  }
  RequestFacts facts;
  facts.document = JsonValue(body);
  if (!facts.document.is_object()) {
    return fail(invalid("the body must be a JSON object", {}, "invalid_type"));
  }
  OwnedKey model{"model"};
  OwnedKey stream{"stream"};
  OwnedKey stream_options{"stream_options"};
  for (wire::JsonMembers members(facts.document); members.next();) {
    for (OwnedKey* key : {&model, &stream, &stream_options}) {
      QQ_TRY(const bool taken, key->take(members));
      if (taken) break;
    }
  }
  QQ_CHECK(read_model(endpoint, model.value, facts));
  QQ_TRY(facts.stream, boolean_or_null(stream.value, "stream"));
  if (has_stream_options(endpoint)) QQ_CHECK(read_stream_options(stream_options.value, facts));
  return facts;
}

bool usage_was_forced(const RequestFacts& facts, model::Endpoint endpoint, const model::Target& target) noexcept {
  return facts.stream && !facts.usage_in_stream_asked && target.quirks.force_include_usage &&
         has_stream_options(endpoint);
}

namespace {

// Edits of the body in the order of its bytes, emitted as pieces.
class Pieces {
 public:
  Pieces(std::string_view body, TargetBody& out) : body_(body), out_(out) {
    out_.pieces.clear();
    out_.storage.clear();
    out_.bytes = 0;
    out_.storage.reserve(kEditsMax);  // pieces are views into it: it must not move
  }
  // Replaces [begin, end) of the body.
  void replace(std::size_t begin, std::size_t end, std::string text) {
    QQ_ASSERT(begin >= at_ && end >= begin && out_.storage.size() < kEditsMax);
    emit(body_.substr(at_, begin - at_));
    out_.storage.push_back(std::move(text));
    emit(out_.storage.back());
    at_ = end;
  }
  void finish() { emit(body_.substr(at_)); }
  [[nodiscard]] std::size_t offset(const char* inside) const {
    return static_cast<std::size_t>(inside - body_.data());
  }
  [[nodiscard]] std::size_t begin_of(JsonValue value) const { return offset(value.text().data()); }
  [[nodiscard]] std::size_t end_of(JsonValue value) const { return begin_of(value) + value.text().size(); }

 private:
  static constexpr std::size_t kEditsMax = 2;
  void emit(std::string_view piece) {
    if (piece.empty()) return;
    out_.pieces.push_back(piece);
    out_.bytes += piece.size();
  }
  std::string_view body_;
  TargetBody& out_;
  std::size_t at_ = 0;
};

struct BodyEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text{};
};

// The model member with its key and one comma.
BodyEdit without_model(const RequestFacts& facts, std::string_view body, const Pieces& pieces) {
  BodyEdit edit;
  const char* previous_end = nullptr;
  for (wire::JsonMembers members(facts.document); members.next();) {
    const std::string_view value = members.value().text();
    if (value.data() == facts.model_value.text().data()) {
      edit.begin = pieces.offset(members.raw_key().data()) - 1;
      edit.end = pieces.end_of(members.value());
      break;
    }
    previous_end = value.data() + value.size();
  }
  if (previous_end != nullptr) {
    edit.begin = pieces.offset(previous_end);  // takes the comma before it
  } else if (const std::size_t next = body.find_first_not_of(" \t\r\n", edit.end); body[next] == ',') {
    edit.end = next + 1;
  }
  return edit;
}

BodyEdit with_usage(const RequestFacts& facts, const Pieces& pieces) {
  const JsonValue options = facts.stream_options;
  if (options.text().empty()) {
    // A request that streams has at least the member that says so, hence the comma.
    const std::size_t at = pieces.begin_of(facts.document) + 1;
    return {at, at, R"("stream_options":{"include_usage":true},)"};
  }
  if (!options.is_object()) return {pieces.begin_of(options), pieces.end_of(options), R"({"include_usage":true})"};
  if (const auto asked = options.member("include_usage")) {
    return {pieces.begin_of(*asked), pieces.end_of(*asked), "true"};
  }
  const std::size_t at = pieces.begin_of(options) + 1;
  const bool has_others = wire::JsonMembers(options).next();
  return {at, at, has_others ? R"("include_usage":true,)" : R"("include_usage":true)"};
}

}  // namespace

void encode_for_target(const RequestFacts& facts, std::string_view body, model::Endpoint endpoint,
                       const model::Target& target, TargetBody& out) {
  Pieces pieces(body, out);
  const bool has_model = !facts.model_value.text().empty();
  BodyEdit model_edit;
  bool edits_model = false;
  if (has_model && !target.quirks.sends_model_in_body) {
    model_edit = without_model(facts, body, pieces);
    edits_model = true;
  } else if (has_model && facts.model != target.upstream_model) {
    model_edit = {pieces.begin_of(facts.model_value), pieces.end_of(facts.model_value), {}};
    wire::append_json_string(model_edit.text, target.upstream_model);
    edits_model = true;
  } else if (!has_model && target.quirks.sends_model_in_body && !target.upstream_model.empty()) {
    const std::size_t at = pieces.begin_of(facts.document) + 1;
    model_edit.begin = model_edit.end = at;
    model_edit.text = "\"model\":";
    wire::append_json_string(model_edit.text, target.upstream_model);
    if (wire::JsonMembers(facts.document).next()) model_edit.text += ',';
    edits_model = true;
  }
  const bool edits_usage = usage_was_forced(facts, endpoint, target);
  BodyEdit usage_edit;
  if (edits_usage) usage_edit = with_usage(facts, pieces);

  const bool model_first = model_edit.begin < usage_edit.begin;
  if (edits_model && (model_first || !edits_usage)) {
    pieces.replace(model_edit.begin, model_edit.end, std::move(model_edit.text));
  }
  if (edits_usage) pieces.replace(usage_edit.begin, usage_edit.end, std::move(usage_edit.text));
  if (edits_model && edits_usage && !model_first) {
    pieces.replace(model_edit.begin, model_edit.end, std::move(model_edit.text));
  }
  pieces.finish();
}

}  // namespace qq::dialects::openai
