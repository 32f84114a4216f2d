#include "dialects/gemini/count_tokens.h"

#include "dialects/gemini/members.h"
#include "dialects/gemini/request_decode.h"
#include "dialects/gemini/request_encode.h"
#include "dialects/gemini/words.h"
#include "dialects/openai/error_body.h"
#include "wire/json_writer.h"

namespace qq::dialects::gemini {
namespace {

void write_model(wire::JsonWriter& json, const model::ListedModel& model) {
  json.begin_object().member("name", std::string("models/").append(model.name));
  json.member("displayName", model.name);
  // What it may say at most is not known here.
  if (model.context_tokens) json.member("inputTokenLimit", *model.context_tokens);
  if (!model.can.empty()) json.key("thinking").boolean(model.does("reasoning"));
  json.key("supportedGenerationMethods").begin_array();
  for (const std::string_view method : {"generateContent", "streamGenerateContent", "countTokens"}) {
    json.string(method);
  }
  json.end_array().end_object();
}

}  // namespace

Result<model::ChatRequest> decode_count_request(std::string_view body, const RequestHead& head) {
  if (!wire::check_json(body)) {
    for (wire::JsonMembers members{wire::JsonValue(body)}; members.next();) {
      if (is_field(members.raw_key(), "generateContentRequest") && !members.is_null()) {
        return decode_request(members.value(), head);
      }
    }
  }
  return decode_request(body, head);
}

std::string encode_count_answer(std::int64_t tokens) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().member("totalTokens", tokens).end_object();
  return out;
}

Result<EncodedRequest> encode_count_request(const model::ChatRequest& request, const model::Target& target,
                                            Losses& losses) {
  QQ_TRY(EncodedRequest encoded, encode_request(request, target, losses));
  if (is_vertex(target)) return encoded;
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object().key("generateContentRequest").begin_object();
  json.member("model", "models/" + target.upstream_model);
  for (wire::JsonMembers members{wire::JsonValue(encoded.body)}; members.next();) {
    json.key(members.raw_key()).raw(members.value().text());
  }
  json.end_object().end_object();
  encoded.body = std::move(body);
  return encoded;
}

Result<std::int64_t> decode_count_answer(std::string_view body) {
  const auto no_answer = [](ErrorKind kind, const char* message) {
    return fail(Error::upstream(kind, AttemptPhase::ReplyBegun, message));
  };
  if (wire::check_json(body)) return no_answer(ErrorKind::BadJson, "the provider's answer is not valid JSON");
  const wire::JsonValue document(body);
  if (const auto error = document.member("error"); error && openai::is_error_value(*error)) {
    return fail(openai::error_from_value(*error));
  }
  const auto total = document.member("totalTokens");
  const auto tokens = total ? total->integer() : std::nullopt;
  if (!tokens || *tokens < 0) return no_answer(ErrorKind::EmptyReply, "the provider's answer has no count");
  return *tokens;
}

std::string encode_models(std::span<const model::ListedModel> models) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_object().key("models").begin_array();
  for (const model::ListedModel& model : models) write_model(json, model);
  json.end_array().end_object();
  return out;
}

std::string encode_model(const model::ListedModel& model) {
  std::string out;
  wire::JsonWriter json(out);
  write_model(json, model);
  return out;
}

}  // namespace qq::dialects::gemini
