// Turns to messages for a target: results become messages of their own, thoughts go where the provider wants
// them, ids become what it takes.
#include <algorithm>
#include <map>

#include "dialects/call_index.h"
#include "dialects/carried_state.h"
#include "dialects/fields.h"
#include "dialects/openai_chat/sides.h"
#include "dialects/openai_chat/thoughts.h"
#include "dialects/openai_chat/words.h"
#include "dialects/plain_messages.h"
#include "dialects/reasoning.h"
#include "wire/json_writer.h"

namespace qq::dialects::openai_chat {
namespace {

using model::ChatQuirks;
using model::MediaPart;
using model::Part;
using model::Role;
using model::TextPart;
using model::Turn;
using wire::JsonWriter;
using PartList = std::vector<const Part*>;
constexpr model::Dialect kOurs = model::Dialect::OpenAiChat;

// The ids of calls as the target takes them: the same in, the same out.
class CallIds {
 public:
  explicit CallIds(bool nine_letters) noexcept : nine_letters_(nine_letters) {}

  std::string of_call(const model::ToolCallPart& call) {
    if (!call.id.empty()) return mapped(call.id);
    // A history without ids: its results come by name and order.
    std::string id = mapped("call " + std::to_string(made_++) + " " + call.name);
    calls_.add({}, call.name);
    return given_.emplace_back(std::move(id));
  }
  std::string of_result(const model::ToolResultPart& result) {
    if (!result.call_id.empty()) return mapped(result.call_id);
    auto open = calls_.open_named(result.name);
    if (!open) open = calls_.open_named({});
    if (!open) return mapped("result " + result.name);
    calls_.close(*open);
    return given_[*open];
  }

 private:
  [[nodiscard]] std::string mapped(std::string_view id) const {
    constexpr std::size_t kNine = 9;
    constexpr std::size_t kIdMax = 40;  // OpenAI's limit
    const auto is_letter = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    if (nine_letters_) {
      if (id.size() == kNine && std::ranges::all_of(id, is_letter)) return std::string(id);
      return fingerprint(id).substr(0, kNine);
    }
    if (id.size() <= kIdMax && id.find(' ') == std::string_view::npos) return std::string(id);
    return "call_" + fingerprint(id);
  }

  bool nine_letters_;
  std::size_t made_ = 0;
  CallIndex calls_;                 // without ids
  std::vector<std::string> given_;  // to each of them
};

class MessageWriter {
 public:
  MessageWriter(const model::ChatRequest& request, const model::Target& target, std::string& out,
                Losses& losses) noexcept
      : request_(request),
        quirks_(target.quirks.chat),
        own_(request.dialect == kOurs),
        json_(out),
        losses_(losses),
        ids_(quirks_.nine_letter_ids) {}

  void write() {
    if (quirks_.takes_cache_control && !own_) move_marks();
    json_.begin_array();
    for (std::size_t i = 0; i < request_.turns.size();) {
      std::size_t end = i + 1;
      switch (request_.turns[i].role) {
        case Role::System: write_plain(request_.turns[i], "system"); break;
        case Role::Developer:
          write_plain(request_.turns[i], quirks_.openai_words ? "developer" : "system");
          break;
        case Role::User: write_user(request_.turns[i]); break;
        case Role::Assistant:
          // Calls that stand in turns of their own belong to one message: each must be answered before the
          // next one.
          while (!own_ && end < request_.turns.size() && request_.turns[end].role == Role::Assistant) ++end;
          write_assistant(i, end);
          break;
      }
      i = end;
    }
    json_.end_array();
  }

 private:
  void lose(Field field, std::string_view why) {
    losses_.push_back({std::string(name_of(field, request_.dialect)), why});
  }
  void write_extra(const model::ExtraFields& fields) {
    if (!own_) return;
    for (const model::ExtraField& extra : fields) json_.any_key(extra.key).raw(extra.value);
  }

  // ---- cache marks, which OpenRouter takes on parts of `content` alone

  [[nodiscard]] const model::CacheMark* mark_of(const Part& part) const noexcept {
    if (!quirks_.takes_cache_control) return nullptr;
    if (part.cache) return &*part.cache;
    const auto moved = moved_marks_.find(&part);
    return moved == moved_marks_.end() ? nullptr : &moved->second;
  }
  // Those of calls and results, where coding agents put their last one, go to the text before them.
  void move_marks() {
    const Part* text = nullptr;
    bool lost = false;
    for (const Turn& turn : request_.turns) {
      for (const Part& part : turn.parts) {
        const auto* said = part.as<TextPart>();
        if (said != nullptr || part.as<MediaPart>() != nullptr) {
          if (said != nullptr && !said->text.empty()) text = &part;
          continue;
        }
        std::optional<model::CacheMark> mark = part.cache;
        if (const auto* result = part.as<model::ToolResultPart>()) {
          for (const Part& inner : result->content) {
            if (inner.cache && inner.as<MediaPart>() == nullptr) mark = inner.cache;
          }
        }
        if (mark && text != nullptr) moved_marks_[text] = *mark;
        if (mark && text == nullptr && !std::exchange(lost, true))
          lose(Field::CacheMarks, loss::kNoSuchField);
      }
    }
  }

  // ---- content

  [[nodiscard]] static bool is_foreign(const Part& part) noexcept {
    const auto* opaque = part.as<model::OpaquePart>();
    return opaque != nullptr && opaque->dialect != kOurs;
  }
  [[nodiscard]] bool is_bare(const Part& part) const noexcept {
    return part.as<TextPart>() != nullptr && mark_of(part) == nullptr && (part.extra.empty() || !own_);
  }
  // `content`: a text where that is all there is.
  void write_content(const PartList& parts) {
    json_.key("content");
    if (parts.empty()) {
      json_.string("");
    } else if (parts.size() == 1 && is_bare(*parts.front())) {
      json_.string(parts.front()->as<TextPart>()->text);
    } else {
      json_.begin_array();
      for (const Part* part : parts) write_part(*part);
      json_.end_array();
    }
  }
  void end_part(const Part& part) {
    if (const model::CacheMark* mark = mark_of(part)) json_.key("cache_control").raw(cache_control(*mark));
    write_extra(part.extra);
    json_.end_object();
  }
  void write_part(const Part& part) {
    if (const auto* opaque = part.as<model::OpaquePart>()) {
      json_.raw(opaque->value);
      return;
    }
    json_.begin_object();
    if (const auto* media = part.as<MediaPart>()) {
      write_media(*media);
    } else if (const auto* thought = part.as<model::ReasoningPart>()) {
      json_.member("type", "thinking").key("thinking").begin_array();
      json_.begin_object().member("type", "text").member("text", thought->text).end_object().end_array();
    } else if (const auto* text = part.as<TextPart>()) {
      json_.member("type", "text").member("text", text->text);
    }
    end_part(part);
  }

  void write_media(const MediaPart& media) {
    using Kind = MediaPart::Kind;
    using Source = MediaPart::Source;
    if (media.source == Source::Text) {  // a document of text, which has no place but as text
      lose(Field::FileInput, loss::kNearest);
      json_.member("type", "text");
      json_.member("text", media.name.empty() ? media.data : media.name + ":\n" + media.data);
      return;
    }
    const bool is_id = media.source == Source::FileId;
    if ((media.kind == Kind::Image || media.kind == Kind::Video) && !is_id) {
      const std::string_view type = media.kind == Kind::Image ? "image_url" : "video_url";
      json_.member("type", type).key(type).begin_object();
      write_data("url", media, media.kind == Kind::Image ? "image/png" : "video/mp4");
      if (!media.detail.empty()) json_.member("detail", media.detail);
      json_.end_object();
    } else if (media.kind == Kind::Audio && media.source == Source::Base64) {
      std::string_view format = media.media_type;
      format.remove_prefix(std::min(format.size(), format.find('/') + 1));
      if (format.starts_with("x-")) format.remove_prefix(2);
      if (format == "mpeg" || format.empty()) format = "mp3";
      json_.member("type", "input_audio").key("input_audio").begin_object();
      json_.member("data", media.data).member("format", format).end_object();
    } else {
      json_.member("type", "file").key("file").begin_object();
      if (is_id) {
        json_.member("file_id", media.data);
      } else {
        // OpenAI wants a name with the data.
        json_.member("filename",
                     media.name.empty() ? std::string_view("file") : std::string_view(media.name));
        write_data("file_data", media, "application/pdf");
      }
      json_.end_object();
    }
  }
  void write_data(std::string_view key, const MediaPart& media, std::string_view usual_type) {
    if (media.source == MediaPart::Source::Url) {
      json_.member(key, media.data);
      return;
    }
    std::string url = "data:";
    url.reserve(media.data.size() + 40);
    url.append(media.media_type.empty() ? usual_type : std::string_view(media.media_type));
    url.append(";base64,").append(media.data);
    json_.member(key, url);
  }

  // ---- messages

  void begin(std::string_view role, const Turn& turn) {
    json_.begin_object().member("role", role);
    if (!turn.name.empty()) json_.member("name", turn.name);
  }

  void write_plain(const Turn& turn, std::string_view role) {
    PartList parts;
    for (const Part& part : turn.parts) {
      if (!is_foreign(part)) parts.push_back(&part);
    }
    begin(role, turn);
    write_content(parts);
    write_extra(turn.extra);
    json_.end_object();
  }

  void write_user(const Turn& turn) {
    PartList rest;
    PartList attached;
    for (const Part& part : turn.parts) {
      if (const auto* result = part.as<model::ToolResultPart>()) {
        write_result(*result, part, attached);
      } else if (!is_foreign(part)) {
        rest.push_back(&part);
      }
    }
    // What a result showed: a message of the tool's holds text alone.
    rest.insert(rest.begin(), attached.begin(), attached.end());
    if (rest.empty() && !turn.parts.empty()) return;
    begin("user", turn);
    write_content(rest);
    write_extra(turn.extra);
    json_.end_object();
  }

  void write_result(const model::ToolResultPart& result, const Part& part, PartList& attached) {
    PartList texts;
    std::string all;
    const auto add = [&all](std::string_view words) { all.append(all.empty() ? "" : "\n").append(words); };
    for (const Part& inner : result.content) {
      const auto* text = inner.as<TextPart>();
      const bool is_text = text != nullptr;
      if (own_) texts.push_back(&inner);
      if (!own_ && is_text) add(text->text);
      if (const auto words = own_ ? std::nullopt : text_of_opaque(inner)) add(*words);
      if (!is_text && !own_ && inner.as<MediaPart>() != nullptr) {
        attached.push_back(&inner);
        lose(Field::ImageInput, loss::kNearest);
      }
    }
    if (result.is_error) losses_.push_back({"is_error", loss::kNoSuchField});
    json_.begin_object().member("role", "tool").member("tool_call_id", ids_.of_result(result));
    if (own_) {
      write_content(texts);
    } else {
      if (all.empty() && !attached.empty()) all = "(see the next message)";
      json_.member("content", all);
    }
    write_extra(part.extra);
    json_.end_object();
  }

  void write_assistant(std::size_t begin_turn, std::size_t end_turn) {
    PartList thoughts;
    PartList content;
    PartList calls;
    std::string refusal;
    const Part* audio = nullptr;
    for (std::size_t i = begin_turn; i < end_turn; ++i) {
      for (const Part& part : request_.turns[i].parts) {
        if (part.as<model::ReasoningPart>() != nullptr) {
          thoughts.push_back(&part);
          if (quirks_.thoughts == ChatQuirks::Thoughts::Parts) content.push_back(&part);
        } else if (part.as<model::ToolCallPart>() != nullptr) {
          calls.push_back(&part);
        } else if (const auto* refused = part.as<model::RefusalPart>()) {
          refusal += refused->text;
        } else if (const auto* media = part.as<MediaPart>();
                   media != nullptr && media->kind == MediaPart::Kind::Audio) {
          audio = &part;
        } else if (!is_foreign(part)) {
          content.push_back(&part);
        }
      }
    }
    const Turn& turn = request_.turns[begin_turn];
    begin("assistant", turn);
    write_spoken(content, refusal, !calls.empty() || audio != nullptr);
    if (!refusal.empty() && quirks_.openai_words) json_.member("refusal", refusal);
    if (audio != nullptr) write_audio(*audio);
    write_thoughts(thoughts, !calls.empty());
    if (own_) write_citations(content);
    if (!calls.empty()) {
      json_.key("tool_calls").begin_array();
      for (const Part* call : calls) write_call(*call);
      json_.end_array();
    } else if (!own_ && end_turn == request_.turns.size()) {
      write_prefill();
    }
    write_extra(turn.extra);
    json_.end_object();
  }

  // What the assistant said. One text for what other dialects give in pieces, as not all take a list here.
  void write_spoken(const PartList& content, const std::string& refusal, bool may_be_null) {
    const bool refused = !refusal.empty() && !quirks_.openai_words;
    const bool all_text = std::ranges::all_of(content, [&](const Part* part) { return is_bare(*part); });
    if (content.empty() && !refused) {
      if (may_be_null || !refusal.empty()) {
        json_.key("content").null();
      } else {
        json_.member("content", "");
      }
    } else if (all_text && (!own_ || refused)) {
      std::string all;
      for (const Part* part : content) all += part->as<TextPart>()->text;
      if (refused) all += refusal;
      json_.member("content", all);
    } else {
      write_content(content);
    }
  }

  // An earlier answer that was spoken is named by its id, which only its maker gave.
  void write_audio(const Part& part) {
    const auto& media = *part.as<MediaPart>();
    std::string_view id = media.source == MediaPart::Source::FileId ? std::string_view(media.data) : "";
    if (id.empty()) {
      lose(Field::AudioInput, loss::kNoSuchField);
      return;
    }
    json_.key("audio").begin_object().member("id", id).end_object();
  }

  void write_citations(const PartList& content) {
    bool any = false;
    for (const Part* part : content) {
      const auto* text = part->as<TextPart>();
      for (std::size_t i = 0; text != nullptr && i < text->citations.size(); ++i) {
        if (!std::exchange(any, true)) json_.key("annotations").begin_array();
        json_.raw(text->citations[i]);
      }
    }
    if (any) json_.end_array();
  }

  void write_thoughts(const PartList& thoughts, bool has_calls) {
    using Thoughts = ChatQuirks::Thoughts;
    std::string all;
    for (const Part* part : thoughts) all += part->as<model::ReasoningPart>()->text;
    switch (quirks_.thoughts) {
      case Thoughts::Parts: return;
      case Thoughts::Dropped:
        if (!all.empty()) lose(Field::ForeignState, loss::kNoSuchField);
        return;
      case Thoughts::Content:
        if (!all.empty()) json_.member("reasoning_content", all);
        return;
      case Thoughts::WithCalls:
        if (has_calls || !all.empty()) json_.member("reasoning_content", all);
        return;
      case Thoughts::FilledCalls:
        if (has_calls && all.empty()) all = " ";
        if (!all.empty()) json_.member("reasoning_content", all);
        return;
      case Thoughts::Details: break;
    }
    std::int64_t index = 0;
    for (const Part* part : thoughts) {
      // A state of somebody else's would be refused, and a thought without its state as well.
      if (part->state.empty() ? part->as<model::ReasoningPart>()->text.empty() : part->state.maker != kOurs)
        continue;
      if (index == 0) json_.key("reasoning_details").begin_array();
      write_thought(json_, *part, index++);
    }
    if (index > 0) json_.end_array();
  }

  void write_call(const Part& part) {
    const auto& call = *part.as<model::ToolCallPart>();
    const bool is_custom = call.kind == model::ToolCallPart::Kind::Custom;
    json_.begin_object().member("id", ids_.of_call(call));
    json_.member("type", is_custom ? "custom" : "function");
    json_.key(is_custom ? "custom" : "function").begin_object().member("name", call.name);
    const bool nothing = !is_custom && is_no_arguments(call.arguments);
    json_.member(is_custom ? "input" : "arguments",
                 nothing ? std::string_view("{}") : std::string_view(call.arguments));
    json_.end_object();
    if (part.state.maker == kOurs && part.state.data.starts_with('{') && !wire::check_json(part.state.data))
      json_.raw_member("extra_content", part.state.data);
    write_extra(part.extra);
    json_.end_object();
  }

  // Other dialects' callers mean an assistant's last turn as the beginning of the answer.
  void write_prefill() {
    using Prefill = ChatQuirks::Prefill;
    switch (quirks_.prefill) {
      case Prefill::None: losses_.push_back({"messages", loss::kNearest}); return;
      case Prefill::Plain: return;
      case Prefill::Prefix: json_.member("prefix", true); return;
      case Prefill::Partial: json_.member("partial", true); return;
    }
  }

  const model::ChatRequest& request_;
  const ChatQuirks& quirks_;
  bool own_;  // the caller's dialect is this one
  JsonWriter json_;
  Losses& losses_;
  CallIds ids_;
  std::map<const Part*, model::CacheMark> moved_marks_;
};

}  // namespace

void encode_messages(const model::ChatRequest& request, const model::Target& target, std::string& out,
                     Losses& losses) {
  MessageWriter(request, target, out, losses).write();
}

}  // namespace qq::dialects::openai_chat
