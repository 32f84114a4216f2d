// The request in the words of whoever makes the vectors.
#include <fmt/format.h>

#include <span>

#include "dialects/embeddings/embeddings.h"
#include "dialects/embeddings/tasks.h"
#include "dialects/losses.h"
#include "wire/json_writer.h"

namespace qq::dialects::embeddings {
namespace {

using model::Endpoint;
using wire::JsonWriter;

constexpr std::size_t kOpenAiMost = 2'048;
constexpr std::size_t kGeminiMost = 100;
constexpr std::size_t kVertexMost = 250;
constexpr std::size_t kCohereMost = 96;
constexpr std::int64_t kTitanG1Dimensions = 1'536;

enum class Titan : std::uint8_t { No, G1, V2, Multimodal };

bool is_named(const model::Target& target, std::string_view mark) noexcept {
  return target.upstream_model.contains(mark) || target.model.contains(mark);
}

Titan titan_of(const model::Target& target, Endpoint endpoint) noexcept {
  if (endpoint != Endpoint::InvokeEmbed || !is_named(target, "titan-embed")) return Titan::No;
  if (is_named(target, "titan-embed-image")) return Titan::Multimodal;
  return is_named(target, "titan-embed-text-v1") || is_named(target, "titan-embed-g1") ? Titan::G1
                                                                                       : Titan::V2;
}

std::size_t most_texts(const model::Target& target, Endpoint endpoint, Titan titan) noexcept {
  switch (endpoint) {
    case Endpoint::Embeddings: return kOpenAiMost;
    case Endpoint::BatchEmbedContents: return kGeminiMost;
    // https://cloud.google.com/vertex-ai/docs/generative-ai/embeddings/get-text-embeddings
    case Endpoint::Predict: return is_named(target, "gemini-embedding") ? 1 : kVertexMost;
    case Endpoint::EmbedContent: return 1;
    default: return titan == Titan::No ? kCohereMost : 1;
  }
}

// The caller's name of the list of texts.
std::string_view texts_field(const Request& request) noexcept {
  return request.asked == Endpoint::Embeddings ? "input" : "requests";
}
std::string_view dimensions_field(const Request& request) noexcept {
  return request.asked == Endpoint::Embeddings ? "dimensions" : "outputDimensionality";
}

Error not_possible(std::string_view field, std::string_view why) {
  Error error =
      Error::client(ErrorKind::InvalidRequest, fmt::format("'{}' {}", field, why), std::string(field));
  error.type = "invalid_request_error";
  return error;
}

bool is_googles(Endpoint endpoint) noexcept {
  return model::dialect_of(endpoint) == model::Dialect::Gemini;
}

class EmbeddingsWriter {
 public:
  EmbeddingsWriter(const Request& request, const model::Target& target, Losses& losses, std::string& out)
      : request_(request), target_(target), losses_(losses), json_(out) {}

  void openai() {
    json_.begin_object();
    if (target_.quirks.sends_model_in_body) json_.member("model", target_.upstream_model);
    texts("input");
    json_.member("encoding_format", "float");
    if (request_.dimensions) json_.member("dimensions", *request_.dimensions);
    json_.end_object();
    lose_task();
    lose_words(Takes{});
  }

  // A model's own name belongs to each request of a batch.
  void gemini_batch() {
    json_.begin_object().key("requests").begin_array();
    for (const std::string& text : request_.texts) {
      json_.begin_object().member("model", resource_name());
      gemini_content(text);
      json_.end_object();
    }
    json_.end_array().end_object();
    lose_words({.title = true});
  }
  void gemini_single() {
    json_.begin_object();
    gemini_content(request_.texts.front());
    json_.end_object();
    lose_words({.title = true});
  }
  // What a client of Google's says to Google, but for the model's name.
  void gemini_as_it_is(Endpoint endpoint) {
    const bool batch = endpoint == Endpoint::BatchEmbedContents;
    if (batch) json_.begin_object().key("requests").begin_array();
    for (const wire::JsonValue content : request_.contents) {
      json_.begin_object();
      if (batch) json_.member("model", resource_name());
      for (wire::JsonMembers members(content); members.next();) {
        if (!members.key_is("model")) json_.raw_member(members.raw_key(), members.value().text());
      }
      json_.end_object();
    }
    if (batch) json_.end_array().end_object();
  }

  void predict() {
    json_.begin_object().key("instances").begin_array();
    for (const std::string& text : request_.texts) {
      json_.begin_object().member("content", text);
      if (!request_.task.empty()) json_.member("task_type", google_task(request_.task));
      if (!request_.title.empty()) json_.member("title", request_.title);
      json_.end_object();
    }
    json_.end_array();
    if (request_.dimensions) {
      json_.key("parameters")
          .begin_object()
          .member("outputDimensionality", *request_.dimensions)
          .end_object();
    }
    json_.end_object();
    lose_words({.title = true});
  }

  // In Bedrock the model is in the URL.
  void cohere() {
    json_.begin_object();
    if (target_.quirks.sends_model_in_body) json_.member("model", target_.upstream_model);
    texts("texts");
    std::string_view task = cohere_task(request_.task);
    if (task.empty() && !request_.task.empty()) losses_.push_back({request_.task_field, loss::kNearest});
    if (task.empty()) task = "search_document";
    json_.member("input_type", task).key("embedding_types").begin_array().string("float").end_array();
    if (request_.dimensions) json_.member("output_dimension", *request_.dimensions);
    if (!request_.truncate.empty()) json_.member("truncate", request_.truncate);
    json_.end_object();
    lose_words({.truncate = true});
  }

  Result<> titan(Titan which) {
    json_.begin_object().member("inputText", request_.texts.front());
    if (request_.dimensions && which == Titan::Multimodal) {
      json_.key("embeddingConfig").begin_object();
      json_.member("outputEmbeddingLength", *request_.dimensions).end_object();
    } else if (request_.dimensions && which == Titan::V2) {
      json_.member("dimensions", *request_.dimensions);
    } else if (request_.dimensions.value_or(kTitanG1Dimensions) != kTitanG1Dimensions) {
      return fail(
          not_possible(dimensions_field(request_),
                       fmt::format("must be {} or left out: this model has no other", kTitanG1Dimensions)));
    }
    if (request_.normalize && which == Titan::V2) json_.member("normalize", *request_.normalize);
    json_.end_object();
    lose_task();
    lose_words({.normalize = which == Titan::V2});
    return {};
  }

 private:
  // What the target has a place for, of words that only some have.
  struct Takes {
    bool title = false;
    bool truncate = false;
    bool normalize = false;
  };

  void texts(std::string_view name) {
    json_.key(name).begin_array();
    for (const std::string& text : request_.texts) json_.string(text);
    json_.end_array();
  }
  [[nodiscard]] std::string resource_name() const {
    const std::string& name = target_.upstream_model;
    return name.starts_with("models/") || name.starts_with("tunedModels/") ? name : "models/" + name;
  }
  void gemini_content(std::string_view text) {
    json_.key("content").begin_object().key("parts").begin_array();
    json_.begin_object().member("text", text).end_object().end_array().end_object();
    if (!request_.task.empty()) json_.member("taskType", google_task(request_.task));
    if (!request_.title.empty()) json_.member("title", request_.title);
    if (request_.dimensions) json_.member("outputDimensionality", *request_.dimensions);
  }

  void lose(std::string_view field) { losses_.push_back({std::string(field), loss::kNoSuchField}); }
  void lose_task() {
    if (!request_.task.empty()) lose(request_.task_field);
  }
  void lose_words(Takes takes) {
    if (!request_.title.empty() && !takes.title) lose("title");
    if (!request_.truncate.empty() && !takes.truncate) lose("truncate");
    if (request_.normalize && !takes.normalize) lose("normalize");
    for (const std::string& other : request_.others) lose(other);
  }

  const Request& request_;
  const model::Target& target_;
  Losses& losses_;
  JsonWriter json_;
};

Result<> check_possible(const Request& request, const model::Target& target, Endpoint endpoint, Titan titan) {
  const std::size_t most = most_texts(target, endpoint, titan);
  if (request.texts.size() > most) {
    return fail(
        not_possible(texts_field(request),
                     fmt::format("has {} texts, and this model takes {} at once: send them in several "
                                 "requests",
                                 request.texts.size(), most)));
  }
  if (!request.own_field.empty() && !(is_googles(endpoint) && is_googles(request.asked)))
    return fail(not_possible(request.own_field, request.own_advice));
  return {};
}

}  // namespace

Result<std::string> encode_request(const Request& request, const model::Target& target, Endpoint endpoint,
                                   Losses& losses) {
  const Titan titan = titan_of(target, endpoint);
  QQ_CHECK(check_possible(request, target, endpoint, titan));
  std::string out;
  std::size_t size = 256;
  for (const std::string& text : request.texts) size += text.size() + 64;
  out.reserve(size);
  EmbeddingsWriter writer(request, target, losses, out);
  if (is_googles(endpoint) && is_googles(request.asked)) {
    writer.gemini_as_it_is(endpoint);
    return out;
  }
  switch (endpoint) {
    case Endpoint::Embeddings: writer.openai(); break;
    case Endpoint::BatchEmbedContents: writer.gemini_batch(); break;
    case Endpoint::EmbedContent: writer.gemini_single(); break;
    case Endpoint::Predict: writer.predict(); break;
    default:
      if (titan == Titan::No) {
        writer.cohere();
      } else {
        QQ_CHECK(writer.titan(titan));
      }
  }
  return out;
}

}  // namespace qq::dialects::embeddings
