// A client's messages to turns. Tool results become parts of user turns; state that travelled in a call's id
// comes back to where it was.
#include <algorithm>
#include <map>

#include "dialects/call_index.h"
#include "dialects/carried_state.h"
#include "dialects/media.h"
#include "dialects/openai_chat/members.h"
#include "dialects/openai_chat/sides.h"
#include "dialects/openai_chat/thoughts.h"
#include "dialects/openai_chat/words.h"

namespace qq::dialects::openai_chat {
namespace {

using model::MediaPart;
using model::Part;
using model::Role;
using wire::JsonValue;
using Parts = std::vector<Part>;

// {url, detail} or, as Mistral takes it, the URL alone.
Result<> read_url_part(JsonValue value, const Path& path, MediaPart::Kind kind, Parts& out) {
  std::string url;
  std::string detail;
  if (value.is_object()) {
    constexpr std::array<std::string_view, 2> kNames{"url", "detail"};
    std::array<JsonValue, 2> found;
    model::ExtraFields other;
    QQ_CHECK(read_members(value, path, kNames, found, other));
    QQ_CHECK(read_into(found[0], path / kNames[0], url));
    QQ_CHECK(read_into(found[1], path / kNames[1], detail));
  } else {
    QQ_CHECK(read_into(value, path, url));
  }
  if (url.empty()) return fail(invalid_at(path / "url", "is missing: give an URL or a data URL"));
  MediaPart media = media_of_url(kind, url);
  media.detail = std::move(detail);
  out.emplace_back(std::move(media));
  return {};
}

Result<> read_audio_part(JsonValue value, const Path& path, Parts& out) {
  MediaPart media{.kind = MediaPart::Kind::Audio, .data = {}, .media_type = {}, .name = {}, .detail = {}};
  if (value.is_object()) {
    constexpr std::array<std::string_view, 2> kNames{"data", "format"};
    std::array<JsonValue, 2> found;
    model::ExtraFields other;
    QQ_CHECK(read_members(value, path, kNames, found, other));
    std::string format;
    QQ_CHECK(read_into(found[0], path / kNames[0], media.data));
    QQ_CHECK(read_into(found[1], path / kNames[1], format));
    if (!format.empty()) media.media_type = format == "mp3" ? "audio/mpeg" : "audio/" + format;
  } else {
    QQ_CHECK(read_into(value, path, media.data));  // Mistral: base64 or an URL
    if (media.data.starts_with("http")) media.source = MediaPart::Source::Url;
  }
  if (media.data.empty()) return fail(invalid_at(path / "data", "is missing: give the sound as base64"));
  if (media.media_type.empty() && media.source == MediaPart::Source::Base64)
    media.media_type = sound_type(media.data);
  out.emplace_back(std::move(media));
  return {};
}

Result<> read_file_part(JsonValue value, const Path& path, Parts& out) {
  constexpr std::array<std::string_view, 3> kNames{"file_id", "file_data", "filename"};
  std::array<JsonValue, 3> found;
  model::ExtraFields other;
  QQ_CHECK(read_members(value, path, kNames, found, other));
  MediaPart media;
  std::string file_id;
  std::string data;
  std::string name;
  QQ_CHECK(read_into(found[0], path / kNames[0], file_id));
  QQ_CHECK(read_into(found[1], path / kNames[1], data));
  QQ_CHECK(read_into(found[2], path / kNames[2], name));
  if (file_id.empty() && data.empty()) {
    return fail(invalid_at(path, "needs 'file_id', or 'file_data' with a data URL"));
  }
  if (!file_id.empty()) {
    media.data = std::move(file_id);
    media.source = MediaPart::Source::FileId;
  } else {
    media = media_of_url(MediaPart::Kind::File, data);
    // Base64 alone was seen too; an URL is OpenRouter's.
    if (media.source == MediaPart::Source::Url && data.find("://") == std::string::npos)
      media.source = MediaPart::Source::Base64;
  }
  media.kind = MediaPart::Kind::File;
  media.name = std::move(name);
  out.emplace_back(std::move(media));
  return {};
}

enum PartKey : std::size_t {
  PType,
  PText,
  PRefusal,
  PImage,
  PVideo,
  PAudio,
  PFile,
  PThinking,
  PCache,
  kPartKeys
};
constexpr std::array<std::string_view, kPartKeys> kPart{
    "type", "text", "refusal", "image_url", "video_url", "input_audio", "file", "thinking", "cache_control"};

Result<> read_part(JsonValue value, const Path& path, Parts& out) {
  std::array<JsonValue, kPartKeys> found;
  model::ExtraFields extra;
  QQ_CHECK(read_members(value, path, kPart, found, extra));
  const std::size_t before = out.size();
  const std::string_view type = found[PType].raw_string();
  if (type == "text") {
    model::TextPart text;
    if (!found[PText].is_string()) return fail(invalid_at(path / "text", "must be a string", "invalid_type"));
    text.text = found[PText].string();
    out.emplace_back(std::move(text));
  } else if (type == "image_url") {
    QQ_CHECK(read_url_part(found[PImage], path / kPart[PImage], MediaPart::Kind::Image, out));
  } else if (type == "video_url") {
    QQ_CHECK(read_url_part(found[PVideo], path / kPart[PVideo], MediaPart::Kind::Video, out));
  } else if (type == "input_audio") {
    QQ_CHECK(read_audio_part(found[PAudio], path / kPart[PAudio], out));
  } else if (type == "file") {
    QQ_CHECK(read_file_part(found[PFile], path / kPart[PFile], out));
  } else if (type == "refusal") {
    model::RefusalPart refusal;
    QQ_CHECK(read_into(found[PRefusal], path / "refusal", refusal.text));
    out.emplace_back(std::move(refusal));
  } else if (type == "thinking" && found[PThinking].is_array()) {  // Mistral
    model::ReasoningPart thought;
    for (wire::JsonElements each(found[PThinking]); each.next();) {
      if (const auto text = each.value().member("text")) thought.text += text->string();
    }
    out.emplace_back(std::move(thought));
  } else if (type.empty()) {
    return fail(invalid_at(path / "type", "is missing: say \"text\", \"image_url\", …"));
  } else {
    out.emplace_back(model::OpaquePart{.type = std::string(type), .value = std::string(value.text())});
    return {};
  }
  if (out.size() == before) return {};
  out.back().extra = std::move(extra);
  return read_into(found[PCache], path / kPart[PCache], out.back().cache);
}

Result<> read_content(JsonValue content, const Path& path, Parts& out) {
  if (!given(content)) return {};
  if (content.is_string()) {
    if (content.text().size() > 2)
      out.emplace_back(model::TextPart{.text = content.string(), .citations = {}});
    return {};
  }
  if (!content.is_array()) {
    return fail(invalid_at(path, "must be a string or an array of parts", "invalid_type"));
  }
  std::size_t index = 0;
  for (wire::JsonElements each(content); each.next();) QQ_CHECK(read_part(each.value(), path[index++], out));
  return {};
}

enum MessageKey : std::size_t {
  MRole,
  MContent,
  MName,
  MToolCalls,
  MToolCallId,
  MRefusal,
  MAudio,
  MReasoningContent,
  MReasoning,
  MDetails,
  MAnnotations,
  MFunctionCall,
  kMessageKeys,
};
constexpr std::array<std::string_view, kMessageKeys> kMessage{
    "role",  "content",           "name",      "tool_calls",        "tool_call_id", "refusal",
    "audio", "reasoning_content", "reasoning", "reasoning_details", "annotations",  "function_call"};
using MessageValues = std::array<JsonValue, kMessageKeys>;

class MessageReader {
 public:
  explicit MessageReader(model::ChatRequest& out) noexcept : out_(out) {}

  Result<> read(JsonValue message, const Path& path) {
    MessageValues found;
    model::ExtraFields extra;
    QQ_CHECK(read_members(message, path, kMessage, found, extra));
    const std::string_view role = found[MRole].raw_string();
    if (role == "tool") return read_result(found, path, std::move(extra));
    model::Turn turn;
    turn.extra = std::move(extra);
    QQ_CHECK(read_into(found[MName], path / kMessage[MName], turn.name));
    if (role == "assistant") {
      turn.role = Role::Assistant;
      QQ_CHECK(read_assistant(found, path, turn));
    } else if (role == "user" || role == "system" || role == "developer") {
      turn.role = role == "user" ? Role::User : role == "system" ? Role::System : Role::Developer;
      if (!given(found[MContent])) return fail(invalid_at(path / kMessage[MContent], "is missing"));
      QQ_CHECK(read_content(found[MContent], path / kMessage[MContent], turn.parts));
    } else {
      return fail(invalid_at(path / kMessage[MRole],
                             "must be \"system\", \"developer\", \"user\", \"assistant\" or \"tool\""));
    }
    results_open_ = false;
    out_.turns.push_back(std::move(turn));
    return {};
  }

 private:
  // Results that follow each other are one user turn.
  Result<> read_result(const MessageValues& found, const Path& path, model::ExtraFields extra) {
    model::ToolResultPart result;
    std::string id;
    QQ_CHECK(read_into(found[MToolCallId], path / kMessage[MToolCallId], id));
    if (id.empty()) {
      return fail(invalid_at(path / kMessage[MToolCallId], "is missing: give the id of the tool call"));
    }
    result.call_id = take_carried(id).id;
    QQ_CHECK(read_into(found[MName], path / kMessage[MName], result.name));
    if (result.name.empty()) {
      if (const auto call = names_.find(result.call_id); call != names_.end()) result.name = call->second;
    }
    QQ_CHECK(read_content(found[MContent], path / kMessage[MContent], result.content));
    if (!results_open_) out_.turns.push_back({.role = Role::User, .parts = {}, .name = {}, .extra = {}});
    results_open_ = true;
    Part part(std::move(result));
    part.extra = std::move(extra);
    out_.turns.back().parts.push_back(std::move(part));
    return {};
  }

  Result<> read_assistant(const MessageValues& found, const Path& path, model::Turn& turn) {
    if (given(found[MFunctionCall])) {
      return fail(invalid_at(path / kMessage[MFunctionCall],
                             "is not possible with this model: use 'tool_calls'", "unsupported_parameter"));
    }
    const JsonValue thoughts =
        found[MReasoningContent].is_string() ? found[MReasoningContent] : found[MReasoning];
    append_thoughts(thoughts, found[MDetails], turn.parts);
    QQ_CHECK(read_content(found[MContent], path / kMessage[MContent], turn.parts));
    std::string refusal;
    QQ_CHECK(read_into(found[MRefusal], path / kMessage[MRefusal], refusal));
    if (!refusal.empty()) turn.parts.emplace_back(model::RefusalPart{std::move(refusal)});
    if (found[MAudio].is_object()) {
      MediaPart media{.kind = MediaPart::Kind::Audio,
                      .source = MediaPart::Source::FileId,
                      .data = {},
                      .media_type = {},
                      .name = {},
                      .detail = {}};
      if (const auto id = found[MAudio].member("id")) media.data = id->string();
      turn.parts.emplace_back(std::move(media));
    }
    add_annotations(found[MAnnotations], turn.parts);
    if (!given(found[MToolCalls])) return {};
    const Path at = path / kMessage[MToolCalls];
    if (!found[MToolCalls].is_array()) return fail(invalid_at(at, "must be an array", "invalid_type"));
    carried_.clear();
    states_.reset();
    std::size_t index = 0;
    for (wire::JsonElements each(found[MToolCalls]); each.next();)
      QQ_CHECK(read_call(each.value(), at[index++], turn.parts));
    if (!carried_.empty()) drop_repeated(turn.parts);
    return {};
  }

  static void add_annotations(JsonValue annotations, Parts& parts) {
    const auto text = std::find_if(parts.rbegin(), parts.rend(),
                                   [](const Part& part) { return part.as<model::TextPart>() != nullptr; });
    if (!annotations.is_array() || text == parts.rend()) return;
    auto& citations = text->as<model::TextPart>()->citations;
    for (wire::JsonElements each(annotations); each.next();) citations.emplace_back(each.value().text());
  }

  Result<> read_call(JsonValue value, const Path& path, Parts& parts) {
    constexpr std::array<std::string_view, 6> kNames{"id",     "type",          "function",
                                                     "custom", "extra_content", "index"};
    std::array<JsonValue, 6> found;
    model::ExtraFields extra;
    QQ_CHECK(read_members(value, path, kNames, found, extra));
    const bool is_custom = found[1].raw_string() == "custom";
    const Path at = path / kNames[is_custom ? 3 : 2];
    constexpr std::array<std::string_view, 3> kInner{"name", "arguments", "input"};
    std::array<JsonValue, 3> inner;
    model::ExtraFields other;
    QQ_CHECK(read_members(found[is_custom ? 3 : 2], at, kInner, inner, other));
    model::ToolCallPart call;
    std::string id;
    QQ_CHECK(read_into(found[0], path / kNames[0], id));
    QQ_CHECK(read_into(inner[0], at / kInner[0], call.name));
    if (id.empty()) return fail(invalid_at(path / kNames[0], "is missing: give the tool call's id"));
    if (call.name.empty()) return fail(invalid_at(at / kInner[0], "is missing: give the tool's name"));
    if (is_custom) {
      call.kind = model::ToolCallPart::Kind::Custom;
      QQ_CHECK(read_into(inner[2], at / kInner[2], call.arguments));
    } else {
      call.arguments = arguments_of(inner[1]);
    }
    CarriedId carried = take_carried(id);
    call.id = carried.id;
    names_[call.id] = call.name;
    for (Part& thought : carried.carried.reasoning) restore(std::move(thought), parts);
    Part part(std::move(call));
    part.extra = std::move(extra);
    part.state = std::move(carried.carried.call);
    // Where Google's endpoint of this dialect keeps a thought's signature.
    if (part.state.empty() && found[4].is_object())
      part.state = {model::Dialect::OpenAiChat, std::string(found[4].text())};
    if (states_ && !part.state.empty()) states_->add(part.state);
    parts.push_back(std::move(part));
    return {};
  }

  // A thought that travelled in an id, unless the history holds it itself.
  void restore(Part thought, Parts& parts) {
    if (!states_) states_.emplace().add(parts);
    if (!states_->add(thought.state)) return;
    carried_ += thought.as<model::ReasoningPart>()->text;
    parts.push_back(std::move(thought));
  }
  // The same thoughts may stand there as text alone, from a client that keeps no more of them.
  void drop_repeated(Parts& parts) const {
    std::erase_if(parts, [&](const Part& part) {
      const auto* thought = part.as<model::ReasoningPart>();
      return thought != nullptr && part.state.empty() && thought->text == carried_;
    });
  }

  model::ChatRequest& out_;
  std::map<std::string, std::string> names_;  // of the calls, the last of each id
  std::optional<KnownStates> states_;         // of the turn at hand, once a thought is put back into it
  std::string carried_;  // the texts of the thoughts that were put back into the turn at hand
  bool results_open_ = false;
};

}  // namespace

Result<> decode_messages(std::string_view messages, model::ChatRequest& out) {
  const Path path{nullptr, "messages", 0};
  MessageReader reader(out);
  std::size_t index = 0;
  for (wire::JsonElements each{JsonValue(messages)}; each.next();)
    QQ_CHECK(reader.read(each.value(), path[index++]));
  return {};
}

}  // namespace qq::dialects::openai_chat
