// The neutral answer as a chat completion.
#include <algorithm>

#include "dialects/carried_state.h"
#include "dialects/losses.h"
#include "dialects/openai_chat/sides.h"
#include "dialects/openai_chat/thoughts.h"
#include "dialects/openai_chat/words.h"

namespace qq::dialects::openai_chat {
namespace {

using model::MediaPart;
using model::Part;
using model::TextPart;
using wire::JsonWriter;

class AnswerWriter {
 public:
  AnswerWriter(const model::ChatAnswer& answer, const model::ChatRequest& request, std::string& out,
               Losses& losses) noexcept
      : own_(answer.dialect == model::Dialect::OpenAiChat),
        hides_thoughts_(request.reasoning && request.reasoning->show == false),
        json_(out),
        losses_(losses) {}

  void write(const model::ChatAnswer& answer, const AnswerHead& head) {
    json_.begin_object();
    json_.member("id", answer_id(answer.id, head)).member("object", "chat.completion");
    json_.member("created", answer_time(answer.created, head)).member("model", head.model);
    json_.key("choices").begin_array();
    for (const model::Choice& choice : answer.choices) write_choice(choice);
    json_.end_array();
    if (says_anything(answer.usage)) {
      json_.key("usage");
      write_usage(json_, answer.usage);
    }
    if (!answer.service_tier.empty()) json_.member("service_tier", answer.service_tier);
    for (const model::ExtraField& extra : answer.extra) {
      if (own_) json_.any_key(extra.key).raw(extra.value);
    }
    json_.end_object();
  }

 private:
  void lose(std::string field, std::string_view why) { losses_.push_back({std::move(field), why}); }

  void write_choice(const model::Choice& choice) {
    json_.begin_object().member("index", choice.index).key("message").begin_object();
    json_.member("role", "assistant");
    write_texts(choice.parts);
    write_thoughts(choice.parts);
    write_annotations(choice.parts);
    write_media(choice.parts);
    write_calls(choice.parts);
    json_.end_object().key("logprobs");
    if (choice.logprobs.empty()) {
      json_.null();
    } else {
      json_.begin_object().raw_member("content", choice.logprobs).key("refusal").null().end_object();
    }
    json_.key("finish_reason");
    const std::string_view word = finish_word(choice.finish);
    word.empty() ? json_.null() : json_.string(word);
    json_.end_object();
  }

  static bool is_audio(const Part& part) noexcept {
    const auto* media = part.as<MediaPart>();
    return media != nullptr && media->kind == MediaPart::Kind::Audio &&
           media->source == MediaPart::Source::Base64;
  }

  // What is said beside a sound is what is said in it.
  void write_texts(const std::vector<Part>& parts) {
    std::string refusal;
    bool any_refusal = false;
    text_.clear();
    bool any_text = false;
    for (const Part& part : parts) {
      if (const auto* text = part.as<TextPart>()) {
        text_ += text->text;
        any_text = true;
        if (!part.state.empty()) lose("content", loss::kNoPlace);
      } else if (const auto* refused = part.as<model::RefusalPart>()) {
        refusal += refused->text;
        any_refusal = true;
      }
    }
    json_.key("content");
    if (any_text && std::ranges::none_of(parts, is_audio)) {
      json_.string(text_);
    } else {
      json_.null();
    }
    json_.key("refusal");
    any_refusal ? json_.string(refusal) : json_.null();
  }

  void write_thoughts(const std::vector<Part>& parts) {
    std::string all;
    std::int64_t count = 0;
    for (const Part& part : parts) {
      if (const auto* thought = part.as<model::ReasoningPart>()) {
        all += thought->text;
        ++count;
      }
    }
    if (count == 0 || hides_thoughts_) return;
    if (!all.empty()) json_.member("reasoning_content", all);
    json_.key("reasoning_details").begin_array();
    std::int64_t index = 0;
    for (const Part& part : parts) {
      if (part.as<model::ReasoningPart>() != nullptr) write_thought(json_, part, index++);
    }
    json_.end_array();
  }

  void write_annotations(const std::vector<Part>& parts) {
    std::string list;
    JsonWriter json(list);
    json.begin_array();
    std::size_t at = 0;
    for (const Part& part : parts) {
      const auto* text = part.as<TextPart>();
      if (text == nullptr) continue;
      const std::size_t end = at + characters_in(text->text);
      for (const model::Json& citation : text->citations) {
        if (!write_annotation(json, citation, at, end)) lose("citations", loss::kNoPlace);
      }
      at = end;
    }
    json.end_array();
    if (list.size() > 2) json_.raw_member("annotations", list);
  }

  void write_media(const std::vector<Part>& parts) {
    bool any_image = false;
    for (const Part& part : parts) {
      const auto* media = part.as<MediaPart>();
      if (media == nullptr || is_audio(part)) {
        if (part.as<model::OpaquePart>() != nullptr) lose("content", loss::kForeignPart);
        continue;
      }
      if (media->kind != MediaPart::Kind::Image) {
        lose("content", loss::kNoPlace);
        continue;
      }
      if (!std::exchange(any_image, true)) json_.key("images").begin_array();
      json_.begin_object().member("type", "image_url").key("image_url").begin_object();
      if (media->source == MediaPart::Source::Base64) {
        json_.member("url", "data:" + media->media_type + ";base64," + media->data);
      } else {
        json_.member("url", media->data);
      }
      json_.end_object().end_object();
    }
    if (any_image) json_.end_array();
    const auto audio = std::ranges::find_if(parts, is_audio);
    if (audio == parts.end()) return;
    json_.key("audio").begin_object();
    bool has_id = false;
    for (const model::ExtraField& extra : audio->extra) {
      if (!own_) continue;
      has_id = has_id || extra.key == "id";
      json_.any_key(extra.key).raw(extra.value);
    }
    if (!has_id) json_.member("id", "audio_" + fingerprint(audio->as<MediaPart>()->data));
    json_.member("data", audio->as<MediaPart>()->data).member("transcript", text_);
    json_.end_object();
  }

  void write_calls(const std::vector<Part>& parts) {
    Carried carried;
    bool any = false;
    for (const Part& part : parts) {
      if (part.as<model::ReasoningPart>() != nullptr && !part.state.empty())
        carried.reasoning.push_back(part);
      const auto* call = part.as<model::ToolCallPart>();
      if (call == nullptr) continue;
      if (!std::exchange(any, true)) json_.key("tool_calls").begin_array();
      carried.call = part.state;
      std::optional<std::string> id = with_carried(call->id, carried);
      if (!id) lose("tool_calls[].id", loss::kNoPlace);
      carried = {};
      const bool is_custom = call->kind == model::ToolCallPart::Kind::Custom;
      json_.begin_object().member("id", id ? *id : call->id);
      json_.member("type", is_custom ? "custom" : "function");
      json_.key(is_custom ? "custom" : "function").begin_object().member("name", call->name);
      const bool nothing = !is_custom && is_no_arguments(call->arguments);
      json_.member(is_custom ? "input" : "arguments",
                   nothing ? std::string_view("{}") : std::string_view(call->arguments));
      json_.end_object().end_object();
    }
    if (any) json_.end_array();
  }

  bool own_;
  bool hides_thoughts_;
  JsonWriter json_;
  Losses& losses_;
  std::string text_;
};

}  // namespace

std::string encode_answer(const model::ChatAnswer& answer, const model::ChatRequest& request,
                          const AnswerHead& head, Losses& losses) {
  std::string out;
  out.reserve(2048);
  AnswerWriter(answer, request, out, losses).write(answer, head);
  return out;
}

}  // namespace qq::dialects::openai_chat
