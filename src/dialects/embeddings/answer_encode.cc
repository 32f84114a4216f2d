// The vectors in the client's words.
#include <bit>
#include <charconv>

#include "base/base64.h"
#include "dialects/embeddings/embeddings.h"
#include "wire/json_writer.h"

namespace qq::dialects::embeddings {
namespace {

using model::Endpoint;
using wire::JsonElements;
using wire::JsonValue;
using wire::JsonWriter;

// As OpenAI writes them: 32-bit floats, the lowest byte first.
std::string little_endian_floats(JsonValue vector) {
  std::string bytes;
  for (JsonElements each(vector); each.next();) {
    const std::string_view text = each.value().text();
    float number = 0;  // what is too small for a float is none; too large is no part of a vector
    std::from_chars(text.data(), text.data() + text.size(), number);
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<char>(bits >> shift & 0xffU));
  }
  return bytes;
}

// The provider's digits, without the line breaks that Google puts between them.
void write_numbers(JsonWriter& json, JsonValue vector) {
  json.begin_array();
  for (JsonElements each(vector); each.next();) json.raw(each.value().text());
  json.end_array();
}

std::size_t size_hint(const Answer& answer) noexcept {
  std::size_t size = 256;
  for (const JsonValue vector : answer.vectors) size += vector.text().size() + 64;
  return size;
}

std::string openai_answer(const Answer& answer, const Request& request, std::string_view model) {
  std::string out;
  out.reserve(size_hint(answer));
  JsonWriter json(out);
  json.begin_object().member("object", "list").key("data").begin_array();
  std::int64_t index = 0;
  for (const JsonValue vector : answer.vectors) {
    json.begin_object().member("object", "embedding").member("index", index++).key("embedding");
    if (request.base64) {
      json.string(to_base64(little_endian_floats(vector)));
    } else {
      write_numbers(json, vector);
    }
    json.end_object();
  }
  json.end_array().member("model", model);
  if (answer.usage.source != model::UsageSource::None) {
    const model::TokenCount tokens = answer.usage.input_total();
    json.key("usage").begin_object();
    json.member("prompt_tokens", tokens).member("total_tokens", tokens).end_object();
  }
  json.end_object();
  return out;
}

std::string gemini_answer(const Answer& answer, bool batch) {
  std::string out;
  out.reserve(size_hint(answer));
  JsonWriter json(out);
  json.begin_object().key(batch ? "embeddings" : "embedding");
  if (batch) json.begin_array();
  for (const JsonValue vector : answer.vectors) {
    json.begin_object().key("values");
    write_numbers(json, vector);
    json.end_object();
  }
  if (batch) json.end_array();
  if (answer.usage.source != model::UsageSource::None) {
    json.key("usageMetadata").begin_object();
    json.member("promptTokenCount", answer.usage.input_total()).end_object();
  }
  json.end_object();
  return out;
}

}  // namespace

std::string encode_answer(const Answer& answer, const Request& request, std::string_view model) {
  if (request.asked == Endpoint::Embeddings) return openai_answer(answer, request, model);
  return gemini_answer(answer, request.asked == Endpoint::BatchEmbedContents);
}

}  // namespace qq::dialects::embeddings
