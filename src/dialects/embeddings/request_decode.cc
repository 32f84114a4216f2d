// What a client asks for.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dialects/embeddings/embeddings.h"

namespace qq::dialects::embeddings {
namespace {

using model::Endpoint;
using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

Error invalid_embedding(std::string field, std::string_view why) {
  Error error = Error::client(ErrorKind::InvalidRequest, fmt::format("'{}' {}", field, why), field);
  error.type = "invalid_request_error";
  return error;
}

Result<> read_dimensions(JsonValue value, std::string field, Request& out) {
  const auto number = value.integer();
  if (!number || *number < 1) return fail(invalid_embedding(std::move(field), "must be a positive integer"));
  out.dimensions = number;
  return {};
}

Result<std::string> read_word(JsonValue value, std::string field) {
  if (!value.is_string()) return fail(invalid_embedding(std::move(field), "must be a string"));
  return value.string();
}

// ---- OpenAI's words
// -----------------------------------------------------------------------------------------

// Only OpenAI knows what its tokens stand for.
void note_tokens(Request& out) {
  out.own_field = "input";
  out.own_advice = "holds tokens, which this model does not read: send the texts themselves";
}

Result<> read_input(JsonValue input, Request& out) {
  constexpr std::string_view kForms = "must be a string, or an array of strings or of tokens";
  if (input.is_string()) {
    out.texts.push_back(input.string());
    return {};
  }
  if (!input.is_array()) return fail(invalid_embedding("input", kForms));
  std::size_t index = 0;
  bool tokens = false;
  for (JsonElements each(input); each.next(); ++index) {
    if (each.is_string() && !tokens) {
      out.texts.push_back(each.value().string());
    } else if ((each.is_array() || each.value().integer()) && (tokens || index == 0)) {
      tokens = true;
    } else {
      return fail(
          invalid_embedding(fmt::format("input[{}]", index), "is not like those before it, or no text"));
    }
  }
  if (index == 0) return fail(invalid_embedding("input", "is empty: send at least one text"));
  if (tokens) note_tokens(out);
  return {};
}

Result<> read_openai_member(const JsonMembers& members, Request& out) {
  const std::string_view key = members.raw_key();
  const JsonValue value = members.value();
  if (key == "model" || value.is_null()) return {};
  if (key == "input") {
    const bool is_second = !out.texts.empty() || !out.own_field.empty();
    if (is_second) return fail(invalid_embedding("input", "is given twice: send it once"));
    return read_input(value, out);
  }
  if (key == "dimensions") return read_dimensions(value, "dimensions", out);
  if (key == "encoding_format") {
    out.base64 = value.raw_string() == "base64";
    if (out.base64 || value.raw_string() == "float") return {};
    return fail(invalid_embedding("encoding_format", "must be \"float\" or \"base64\""));
  }
  if (key == "input_type" || key == "task_type") {
    QQ_TRY(out.task, read_word(value, std::string(key)));
    out.task_field = key;
  } else if (key == "title") {
    QQ_TRY(out.title, read_word(value, "title"));
  } else if (key == "truncate") {
    QQ_TRY(out.truncate, read_word(value, "truncate"));
  } else if (key == "normalize" && (value.is_true() || value.is_false())) {
    out.normalize = value.is_true();
  } else {
    out.others.emplace_back(key);
  }
  return {};
}

Result<Request> decode_openai(JsonValue document) {
  Request out;
  for (JsonMembers members(document); members.next();) QQ_CHECK(read_openai_member(members, out));
  if (out.texts.empty() && out.own_field.empty())
    return fail(invalid_embedding("input", "is missing: send the text to be embedded"));
  return out;
}

// ---- Google's words
// -----------------------------------------------------------------------------------------

// Both spellings of proto3's JSON.
std::optional<JsonValue> google_member(JsonValue object, std::string_view camel, std::string_view snake) {
  auto found = object.member(camel);
  if (!found) found = object.member(snake);
  return found && !found->is_null() ? found : std::nullopt;
}

// A content is one text, however many parts it has.
std::optional<std::string> text_of_content(JsonValue content) {
  std::string text;
  const auto parts = content.member("parts");
  if (!parts) return text;
  for (JsonElements each(*parts); each.next();) {
    const auto said = each.value().member("text");
    if (!said || !said->is_string()) return std::nullopt;
    text += said->string();
  }
  return text;
}

constexpr std::array<std::string_view, 9> kGoogleMembers{"model",
                                                         "content",
                                                         "title",
                                                         "taskType",
                                                         "outputDimensionality",
                                                         "task_type",
                                                         "output_dimensionality",
                                                         "embedContentConfig",
                                                         "embed_content_config"};

void note_others(JsonValue object, const std::string& at, Request& out) {
  for (JsonMembers members(object); members.next();) {
    const auto is_known = [&](std::string_view name) { return members.key_is(name); };
    if (std::ranges::none_of(kGoogleMembers, is_known))
      out.others.push_back(at + std::string(members.raw_key()));
  }
}

// Of one request; `at` is where it stands, with a full stop behind it, or empty.
Result<> read_google_request(JsonValue request, const std::string& at, Request& out) {
  const auto content = request.member("content");
  if (!content || !content->is_object())
    return fail(invalid_embedding(at + "content", "is missing: send the content to be embedded"));
  auto text = text_of_content(*content);
  if (!text && out.own_field.empty()) {
    out.own_field = at + "content.parts";
    out.own_advice = "holds more than text, which this model does not embed: send texts";
  }
  out.texts.push_back(text.value_or(std::string()));
  out.contents.push_back(request);
  // Newer clients say it one level further down.
  const JsonValue config =
      google_member(request, "embedContentConfig", "embed_content_config").value_or(request);
  if (const auto task = google_member(config, "taskType", "task_type")) {
    QQ_TRY(out.task, read_word(*task, at + "taskType"));
    out.task_field = at + "taskType";
  }
  if (const auto title = google_member(config, "title", "title")) {
    QQ_TRY(out.title, read_word(*title, at + "title"));
  }
  if (const auto wanted = google_member(config, "outputDimensionality", "output_dimensionality"))
    QQ_CHECK(read_dimensions(*wanted, at + "outputDimensionality", out));
  note_others(request, at, out);
  if (config.text().data() != request.text().data()) {
    note_others(config, at, out);
    // What stands beside it instead of in it is not read.
    for (const std::string_view name :
         {"taskType", "task_type", "title", "outputDimensionality", "output_dimensionality"}) {
      if (request.member(name)) out.others.push_back(at + std::string(name));
    }
  }
  return {};
}

bool wants_the_same(const Request& one, const Request& other) noexcept {
  return one.task == other.task && one.title == other.title && one.dimensions == other.dimensions;
}

Result<Request> decode_batch(JsonValue document) {
  Request out;
  out.asked = Endpoint::BatchEmbedContents;
  const auto requests = document.member("requests");
  if (!requests || !requests->is_array())
    return fail(invalid_embedding("requests", "is missing: send an array of requests"));
  for (JsonElements each(*requests); each.next();) {
    const std::string at = fmt::format("requests[{}].", out.texts.size());
    Request one;
    QQ_CHECK(read_google_request(each.value(), at, one));
    if (out.texts.empty()) {
      out = std::move(one);
      out.asked = Endpoint::BatchEmbedContents;
      continue;
    }
    if (!wants_the_same(out, one) && out.own_field.empty()) {
      out.own_field = at.substr(0, at.size() - 1);
      out.own_advice =
          "wants other things than those before it, which this model embeds in one way only: "
          "send them apart";
    }
    if (out.own_field.empty()) {
      out.own_field = std::move(one.own_field);
      out.own_advice = std::move(one.own_advice);
    }
    for (std::string& other : one.others) out.others.push_back(std::move(other));
    out.texts.push_back(std::move(one.texts.front()));
    out.contents.push_back(one.contents.front());
  }
  if (out.texts.empty()) return fail(invalid_embedding("requests", "is empty: send at least one request"));
  return out;
}

}  // namespace

Result<Request> decode_request(Endpoint asked, std::string_view body) {
  const JsonValue document(body);
  if (asked == Endpoint::BatchEmbedContents) return decode_batch(document);
  if (asked != Endpoint::EmbedContent) return decode_openai(document);
  Request out;
  out.asked = asked;
  QQ_CHECK(read_google_request(document, {}, out));
  return out;
}

}  // namespace qq::dialects::embeddings
