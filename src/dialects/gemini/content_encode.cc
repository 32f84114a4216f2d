#include "dialects/gemini/content_encode.h"

#include <algorithm>
#include <vector>

#include "base/base64.h"
#include "base/text.h"
#include "dialects/call_index.h"
#include "dialects/fields.h"
#include "dialects/gemini/part_write.h"
#include "dialects/gemini/words.h"
#include "dialects/losses.h"
#include "dialects/plain_messages.h"

namespace qq::dialects::gemini {
namespace {

using model::ChatRequest;
using model::Dialect;
using model::MediaPart;
using model::Part;
using model::Role;
using wire::JsonWriter;

// Takes the place of a signature that only another model's history would have (ai.google.dev/gemini-api/docs/
// thought-signatures, "transferring history from another model").
constexpr std::string_view kNoSignature = "skip_thought_signature_validator";

// The dialect's place for what the caller sent, for errors and losses.
std::string_view place_of(Dialect caller) noexcept {
  return name_of(Field::ForeignParts, caller);
}

// A content in the making: neighbours of one role are one, as parallel calls and their results must be.
struct Content {
  bool of_model = false;
  std::vector<const Part*> parts;
  const model::Turn* turn = nullptr;  // the first, for its extra members
};

std::string_view guessed_type(const MediaPart& media) noexcept {
  if (!media.media_type.empty()) return media.media_type;
  struct Ending {
    std::string_view ending;
    std::string_view type;
  };
  constexpr Ending kEndings[] = {
      {".png", "image/png"},    {".jpg", "image/jpeg"},  {".jpeg", "image/jpeg"},     {".webp", "image/webp"},
      {".gif", "image/gif"},    {".heic", "image/heic"}, {".pdf", "application/pdf"}, {".mp3", "audio/mpeg"},
      {".wav", "audio/wav"},    {".mp4", "video/mp4"},   {".webm", "video/webm"},     {".txt", "text/plain"},
      {".md", "text/markdown"},
  };
  std::string_view name = media.source == MediaPart::Source::Url ? media.data : media.name;
  name = name.substr(0, name.find_first_of("?#"));
  for (const Ending& each : kEndings) {
    if (name.ends_with(each.ending)) return each.type;
  }
  switch (media.kind) {
    case MediaPart::Kind::Image: return "image/jpeg";
    case MediaPart::Kind::Audio: return "audio/wav";
    case MediaPart::Kind::Video: return "video/mp4";
    case MediaPart::Kind::File: return "application/pdf";
  }
  return {};
}

class ContentWriter {
 public:
  ContentWriter(JsonWriter& json, const ChatRequest& request, const model::Target& target, Losses& losses)
      : json_(json),
        request_(request),
        losses_(losses),
        own_(request.dialect == Dialect::Gemini),
        vertex_(is_vertex(target)),
        traits_(traits_of(target.upstream_model)) {}

  Result<> run() {
    split();
    json_.key("contents").begin_array();
    for (Content& content : contents_) QQ_CHECK(write(content));
    json_.end_array();
    write_system();
    return {};
  }

 private:
  void lose(std::string_view what, std::string_view why) {
    losses_.push_back({std::string(place_of(request_.dialect)).append(what), why});
  }

  void split() {
    for (const model::Turn& turn : request_.turns) {
      if (turn.role == Role::System || turn.role == Role::Developer) {
        system_.push_back(&turn);
        continue;
      }
      std::vector<const Part*> parts;
      for (const Part& part : turn.parts) {
        if (says_something(part)) parts.push_back(&part);
      }
      if (parts.empty()) continue;
      const bool of_model = turn.role == Role::Assistant;
      if (contents_.empty() || contents_.back().of_model != of_model) {
        contents_.push_back({of_model, {}, &turn});
      }
      std::ranges::copy(parts, std::back_inserter(contents_.back().parts));
    }
    if (!contents_.empty() || system_.empty()) return;
    // Google answers contents only.
    Content spoken{false, {}, system_.back()};
    for (const Part& part : system_.back()->parts) spoken.parts.push_back(&part);
    system_.pop_back();
    contents_.push_back(std::move(spoken));
    losses_.push_back({std::string(name_of(Field::LateSystem, request_.dialect)), loss::kNearest});
  }

  // Empty texts are refused, and what only another dialect has is reported by its field.
  static bool says_something(const Part& part) noexcept {
    const bool own_state = part.state.maker == Dialect::Gemini && !part.state.empty();
    if (const auto* text = part.as<model::TextPart>()) return !text->text.empty() || own_state;
    if (const auto* reasoning = part.as<model::ReasoningPart>()) {
      // Thoughts with another maker's state are that maker's; those without any are anybody's.
      return own_state || (part.state.empty() && !reasoning->text.empty());
    }
    if (const auto* refusal = part.as<model::RefusalPart>()) return !refusal->text.empty();
    const auto* opaque = part.as<model::OpaquePart>();
    return opaque == nullptr || opaque->dialect == Dialect::Gemini;
  }

  // Results in the order of the calls they answer, in front of all else.
  void order_results(std::vector<const Part*>& parts) const {
    struct Placed {
      std::size_t call;
      std::size_t before;  // where it stood: of one call's results the order stays
      const Part* part;
      auto operator<=>(const Placed&) const = default;
    };
    std::vector<Placed> placed;
    bool has_results = false;
    for (const Part* part : parts) {
      std::size_t place = calls_.size() + 1;
      if (const auto* result = part->as<model::ToolResultPart>()) {
        has_results = true;
        place = last_calls_.last_with_id(result->call_id).value_or(calls_.size());
      }
      placed.push_back({place, placed.size(), part});
    }
    if (!has_results) return;
    std::ranges::sort(placed);
    std::ranges::transform(placed, parts.begin(), &Placed::part);
  }

  Result<> write(Content& content) {
    if (content.of_model) {
      calls_before_ = calls_.size();
    } else {
      order_results(content.parts);
    }
    json_.begin_object().member("role", content.of_model ? "model" : "user").key("parts").begin_array();
    for (const Part* part : content.parts) QQ_CHECK(write(*part));
    json_.end_array();
    if (own_) write_extra(json_, content.turn->extra, {});
    json_.end_object();
    return {};
  }

  void write_system() {
    if (system_.empty()) return;
    json_.key("systemInstruction").begin_object().key("parts").begin_array();
    for (const model::Turn* turn : system_) {
      for (const Part& part : turn->parts) {
        const auto* text = part.as<model::TextPart>();
        if (text != nullptr && !text->text.empty()) write_text(json_, text->text, TextKind::Text);
        if (text == nullptr) lose({}, loss::kNoSuchField);
      }
    }
    json_.end_array().end_object();
  }

  [[nodiscard]] static std::string_view signature_of(const Part& part) noexcept {
    return part.state.maker == Dialect::Gemini ? std::string_view(part.state.data) : std::string_view();
  }

  Result<> write(const Part& part) {
    const std::string_view signature = signature_of(part);
    if (const auto* text = part.as<model::TextPart>()) {
      json_.begin_object().member("text", text->text);
      write_signature(json_, signature);
      if (own_) write_extra(json_, part.extra, {});
      json_.end_object();
    } else if (const auto* reasoning = part.as<model::ReasoningPart>()) {
      write_text(json_, reasoning->text, TextKind::Thought, signature);
    } else if (const auto* refusal = part.as<model::RefusalPart>()) {
      write_text(json_, refusal->text, TextKind::Text);
    } else if (const auto* opaque = part.as<model::OpaquePart>()) {
      json_.raw(opaque->value);
    } else if (const auto* media = part.as<MediaPart>()) {
      return write_medium(*media, part);
    } else if (const auto* call = part.as<model::ToolCallPart>()) {
      write_call(*call, part);
    } else if (const auto* result = part.as<model::ToolResultPart>()) {
      return write_result(*result, part);
    }
    return {};
  }

  Result<> write_medium(const MediaPart& media, const Part& part) {
    if (media.source == MediaPart::Source::FileId) {
      return fail(
          Error::client(ErrorKind::InvalidRequest,
                        "a file id names a file of its own provider; send the file's bytes or its URL",
                        std::string(place_of(request_.dialect))));
    }
    if (!media.detail.empty() && media.detail != "auto") lose("[].detail", loss::kNoSuchField);
    json_.begin_object();
    if (media.source == MediaPart::Source::Text) {
      MediaPart bytes = media;
      bytes.source = MediaPart::Source::Base64;
      bytes.data = to_base64(media.data);
      gemini::write_media(json_, bytes, media.media_type.empty() ? "text/plain" : media.media_type);
    } else {
      gemini::write_media(json_, media, guessed_type(media));
    }
    // Only Vertex has file names, and in a place of its own.
    if (!media.name.empty()) lose("[].name", loss::kNoSuchField);
    write_signature(json_, signature_of(part));
    if (own_) write_extra(json_, part.extra, {});
    json_.end_object();
    return {};
  }

  void write_call(const model::ToolCallPart& call, const Part& part) {
    const bool first_of_step = calls_.size() == calls_before_;
    calls_.push_back(call.name);
    last_calls_.add(call.id, call.name);
    json_.begin_object().key("functionCall").begin_object();
    if (!vertex_ && !call.id.empty()) json_.member("id", call.id);
    json_.member("name", call.name).key("args");
    if (call.kind == model::ToolCallPart::Kind::Custom) {
      json_.begin_object().member("input", call.arguments).end_object();
    } else if (!write_arguments(json_, call.arguments)) {
      lose("[].arguments", loss::kNotJson);
    }
    if (own_) write_extra(json_, part.extra, "functionCall");
    json_.end_object();
    std::string_view signature = signature_of(part);
    if (signature.empty() && first_of_step && traits_.has_levels()) signature = kNoSignature;
    write_signature(json_, signature);
    if (own_) write_extra(json_, part.extra, {});
    json_.end_object();
  }

  Result<> write_result(const model::ToolResultPart& result, const Part& part) {
    std::string_view name = result.name;
    const auto call = name.empty() ? last_calls_.last_with_id(result.call_id) : std::nullopt;
    if (call) name = calls_[*call];
    if (name.empty()) {
      return fail(Error::client(ErrorKind::InvalidRequest,
                                "the result of '" + result.call_id +
                                    "' has no tool call before it; send the assistant's turn with the call",
                                std::string(place_of(request_.dialect))));
    }
    json_.begin_object().key("functionResponse").begin_object();
    if (!vertex_ && !result.call_id.empty()) json_.member("id", result.call_id);
    json_.member("name", name).key("response");
    write_response(result);
    std::vector<const Part*> media;
    for (const Part& inner : result.content) {
      if (inner.as<MediaPart>() != nullptr) media.push_back(&inner);
    }
    // Before Gemini 3 a response has no parts of its own: they follow it.
    const bool inside = traits_.has_levels();
    if (inside && !media.empty()) {
      json_.key("parts").begin_array();
      for (const Part* medium : media) QQ_CHECK(write_medium(*medium->as<MediaPart>(), *medium));
      json_.end_array();
    }
    if (own_) write_extra(json_, part.extra, "functionResponse");
    json_.end_object().end_object();
    if (inside) return {};
    for (const Part* medium : media) QQ_CHECK(write_medium(*medium->as<MediaPart>(), *medium));
    return {};
  }

  // The reverse of content_decode.cc's take_response.
  void write_response(const model::ToolResultPart& result) {
    std::string joined;
    const std::string* only = nullptr;
    for (const Part& inner : result.content) {
      const auto* text = inner.as<model::TextPart>();
      const auto words = text_of_opaque(inner);
      if (text == nullptr && !words) continue;
      if (only == nullptr && joined.empty() && text != nullptr) {
        only = &text->text;
      } else {
        if (only != nullptr) joined = *std::exchange(only, nullptr);
        joined.append(joined.empty() ? "" : "\n").append(words ? *words : text->text);
      }
    }
    const std::string_view text = only != nullptr ? std::string_view(*only) : std::string_view(joined);
    const std::string_view bare = trimmed(text);
    const bool is_object = bare.starts_with('{') && !wire::check_json(bare);
    if (is_object && !result.is_error) {
      json_.raw(bare);
    } else {
      json_.begin_object().key(result.is_error ? "error" : "output");
      if (is_object) {
        json_.raw(bare);
      } else {
        json_.string(text);
      }
      json_.end_object();
    }
  }

  JsonWriter& json_;
  const ChatRequest& request_;
  Losses& losses_;
  bool own_;
  bool vertex_;
  ModelTraits traits_;
  std::vector<const model::Turn*> system_;
  std::vector<Content> contents_;
  std::vector<std::string_view> calls_;  // their names
  CallIndex last_calls_;                 // ids may repeat between turns: the last one is meant
  std::size_t calls_before_ = 0;         // of the step that is being written
};

}  // namespace

Result<> write_contents(JsonWriter& json, const ChatRequest& request, const model::Target& target,
                        Losses& losses) {
  return ContentWriter(json, request, target, losses).run();
}

}  // namespace qq::dialects::gemini
