#include "simulator/provider/native_embeddings.h"

#include <fmt/format.h>

#include <iterator>

#include "simulator/provider/chat.h"
#include "simulator/provider/in_quotes.h"
#include "simulator/provider/vectors.h"
#include "simulator/provider/voices/read.h"

namespace qq::simulator {
namespace {

using wire::JsonElements;
using wire::JsonValue;

constexpr std::uint64_t kUsualDimensions = 256;

std::unexpected<Error> refuse_embedding(std::string message) {
  return fail(Error::client(ErrorKind::InvalidRequest, std::move(message)));
}

std::string text_of_parts(JsonValue request) {
  std::string text;
  const auto parts = request.at("content", "parts");
  for (JsonElements each(parts.value_or(JsonValue("[]"))); each.next();)
    text += text_member(each.value(), "text");
  return text;
}

Result<> read_contents(std::string_view path_model, Asked& asked) {
  const auto requests = asked.body.member("requests");
  if (!requests) {
    if (!asked.body.member("content"))
      return refuse_embedding("* EmbedContentRequest.content: contents is not specified");
    asked.inputs.push_back(text_of_parts(asked.body));
    return {};
  }
  const std::string name = "models/" + std::string(path_model);
  for (JsonElements each(*requests); each.next();) {
    if (text_member(each.value(), "model") != name) {
      return refuse_embedding(fmt::format(
          "* BatchEmbedContentsRequest.requests[{}].model: model does not match the model in the URL",
          asked.inputs.size()));
    }
    asked.inputs.push_back(text_of_parts(each.value()));
  }
  if (asked.inputs.size() > 100) {
    return refuse_embedding("* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch");
  }
  return {};
}

Result<> read_instances(Asked& asked) {
  const auto instances = asked.body.member("instances");
  for (JsonElements each(instances.value_or(JsonValue("[]"))); each.next();)
    asked.inputs.push_back(text_member(each.value(), "content"));
  if (asked.inputs.size() > 250) return refuse_embedding("250 instance(s) is allowed per prediction.");
  return {};
}

Result<> read_texts(Asked& asked) {
  asked.inputs = texts_of(asked.body.member("texts"));
  if (asked.inputs.size() > 96) {
    return refuse_embedding(fmt::format(
        "invalid request: total number of texts must be at most 96 (received {})", asked.inputs.size()));
  }
  if (text_member(asked.body, "input_type").empty())
    return refuse_embedding("invalid request: input_type is required for this model");
  return {};
}

std::optional<std::int64_t> wanted_dimensions(JsonValue body) {
  if (const auto requests = body.member("requests")) {
    JsonElements first(*requests);
    return first.next() ? integer_member(first.value(), "outputDimensionality") : std::nullopt;
  }
  if (const auto parameters = body.member("parameters"))
    return integer_member(*parameters, "outputDimensionality");
  for (const std::string_view name : {"outputDimensionality", "output_dimension", "dimensions"}) {
    if (const auto said = integer_member(body, name)) return said;
  }
  return std::nullopt;
}

class NativeEmbeddings {
 public:
  NativeEmbeddings(const Asked& asked, const Script& script)
      : asked_(asked), tells_usage_(!script.faults.has(Fault::UsageMissing)) {
    const std::int64_t wanted = wanted_dimensions(asked.body).value_or(0);
    if (wanted > 0) dimensions_ = static_cast<std::uint64_t>(std::min<std::int64_t>(wanted, 16'384));
  }

  [[nodiscard]] std::string body() const {
    switch (asked_.route) {
      case Route::EmbedContents: return contents();
      case Route::Predict: return predictions();
      case Route::CohereEmbed: return by_type();
      default: return asked_.body.member("inputText") ? titan() : by_type();
    }
  }

 private:
  [[nodiscard]] std::string numbers(std::size_t index, std::string_view between = {}) const {
    return numbers_json(unit_vector(asked_.inputs[index], dimensions_), between);
  }
  [[nodiscard]] std::int64_t tokens() const { return prompt_tokens(asked_.prompt_bytes); }

  // One number to a line, as Google writes them. Its older models say nothing of tokens.
  [[nodiscard]] std::string contents() const {
    const bool batch = asked_.body.member("requests").has_value();
    std::string out = batch ? "{\n  \"embeddings\": [\n" : "{\n  \"embedding\": ";
    for (std::size_t i = 0; i < asked_.inputs.size(); ++i) {
      fmt::format_to(std::back_inserter(out), "{}{{\n    \"values\": {}\n  }}", i > 0 ? ",\n" : "",
                     numbers(i, "\n      "));
    }
    if (batch) out += "\n  ]";
    if (tells_usage_ && asked_.model.contains("embedding-2"))
      fmt::format_to(std::back_inserter(out), ",\n  \"usageMetadata\": {{\"promptTokenCount\": {}}}",
                     tokens());
    return out + "\n}\n";
  }
  [[nodiscard]] std::string predictions() const {
    std::string out = R"({"predictions":[)";
    for (std::size_t i = 0; i < asked_.inputs.size(); ++i) {
      if (i > 0) out += ',';
      out += R"({"embeddings":{)";
      if (tells_usage_) {
        fmt::format_to(std::back_inserter(out), R"("statistics":{{"truncated":false,"token_count":{}}},)",
                       prompt_tokens(asked_.inputs[i].size()));
      }
      out += R"("values":)" + numbers(i) + "}}";
    }
    return out + fmt::format(R"(],"metadata":{{"billableCharacterCount":{}}}}})", asked_.prompt_bytes);
  }
  [[nodiscard]] std::string by_type() const {
    std::string vectors;
    std::string texts;
    for (std::size_t i = 0; i < asked_.inputs.size(); ++i) {
      if (i > 0) vectors += ',', texts += ',';
      vectors += numbers(i);
      texts += in_quotes(asked_.inputs[i]);
    }
    std::string out = fmt::format(R"({{"id":"{}","embeddings":{{"float":[{}]}},"texts":[{}])",
                                  stable_id("", asked_.hash, 32), vectors, texts);
    if (tells_usage_ && asked_.route == Route::CohereEmbed) {
      fmt::format_to(std::back_inserter(out),
                     R"(,"meta":{{"api_version":{{"version":"2"}},"billed_units":{{"input_tokens":{}}}}})",
                     tokens());
    }
    return out + R"(,"response_type":"embeddings_by_type"})";
  }
  [[nodiscard]] std::string titan() const {
    const std::string vector = numbers(0);
    std::string out = fmt::format(R"({{"embedding":{0},"embeddingsByType":{{"float":{0}}})", vector);
    if (tells_usage_) fmt::format_to(std::back_inserter(out), R"(,"inputTextTokenCount":{})", tokens());
    return out + '}';
  }

  const Asked& asked_;
  bool tells_usage_;
  std::uint64_t dimensions_ = kUsualDimensions;
};

}  // namespace

bool is_native_embedding(Route route) noexcept {
  return route == Route::EmbedContents || route == Route::Predict || route == Route::CohereEmbed ||
         route == Route::InvokeEmbed;
}

Result<> read_native_embeddings(std::string_view path_model, Asked& asked) {
  switch (asked.route) {
    case Route::EmbedContents: QQ_CHECK(read_contents(path_model, asked)); break;
    case Route::Predict: QQ_CHECK(read_instances(asked)); break;
    default:
      if (const auto text = asked.body.member("inputText")) {
        asked.inputs.push_back(text->string());
      } else {
        QQ_CHECK(read_texts(asked));
      }
  }
  if (asked.inputs.empty()) return refuse_embedding("no text to embed");
  std::string all;
  for (const std::string& input : asked.inputs) all += input;
  asked.prompt_bytes = all.size();
  asked.hash = stable_hash(all);
  return {};
}

Reply native_embeddings_reply(const Asked& asked, const Script& script) {
  Reply reply = Reply::json(200, NativeEmbeddings(asked, script).body());
  reply.what = "embeddings";
  if (asked.route == Route::InvokeEmbed && !script.faults.has(Fault::UsageMissing)) {
    reply.fields.emplace_back("x-amzn-bedrock-input-token-count",
                              std::to_string(prompt_tokens(asked.prompt_bytes)));
  }
  return reply;
}

}  // namespace qq::simulator
