#include "dialects/openai/errors.h"

#include "dialects/openai_responses/output.h"
#include "dialects/openai_responses/parts.h"
#include "dialects/openai_responses/stream_error.h"

namespace qq::dialects::openai_responses {

EncodedError encode_error(const Error& error, std::string_view request_id) {
  openai::EncodedError encoded = openai::encode_error(error, request_id);
  return {encoded.status, std::move(encoded.body)};
}

ErrorWords words_of(const Error& error, std::string_view request_id) {
  // The event is `event: error\ndata: {…}\n\n`: its members are the words.
  ErrorWords words;
  words.event = openai::encode_stream_error(error, model::Endpoint::Responses, request_id);
  const std::size_t begin = words.event.find('{');
  const wire::JsonValue data(std::string_view(words.event).substr(begin));
  if (const auto code = data.member("code"); code && code->is_string()) words.code = code->string();
  if (const auto message = data.member("message")) words.message = message->string();
  return words;
}

void encode_stream_error(const Error& error, std::string_view request_id, std::string& out) {
  const ErrorWords words = words_of(error, request_id);
  const std::string id = response_id({}, request_id);
  out += words.event;
  out += "event: response.failed\ndata: ";
  wire::JsonWriter json(out);
  json.begin_object().member("type", "response.failed").key("response");
  write_response(
      json, {.id = id, .ending = {"failed", {}}, .error_code = words.code, .error_message = words.message});
  json.end_object();
  out += "\n\n";
}

}  // namespace qq::dialects::openai_responses
