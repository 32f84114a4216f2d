#include "dialects/declared/message_encode.h"

#include <fmt/format.h>

#include "dialects/calls.h"
#include "dialects/declared/render.h"
#include "dialects/declared/support.h"
#include "dialects/plain_messages.h"

namespace qq::dialects::declared {
namespace {

using model::MediaPart;
using model::Part;
using model::Placeholder;
using model::Role;

class MessageEncoder {
 public:
  MessageEncoder(const model::ChatRequest& request, const model::DeclaredRequest& templates,
                 Losses& losses) noexcept
      : request_(request),
        templates_(templates),
        has_parts_(model::uses(templates.message, Placeholder::Parts)),
        losses_(losses) {}

  Result<EncodedMessages> run() {
    out_.messages = "[";
    for (const model::Turn& turn : request_.turns) QQ_CHECK(take(turn));
    out_.messages += ']';
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string name(Field field) const { return std::string(name_of(field, request_.dialect)); }
  void lose(Field field, std::string_view why) { losses_.push_back({name(field), why}); }
  void separate() {
    if (out_.messages.size() > 1) out_.messages += ',';
  }

  // What a message is made of.
  struct Message {
    std::string text;
    std::string reasoning;
    std::string parts;  // elements, joined by commas
    std::string calls;
  };

  Result<> take(const model::Turn& turn) {
    const bool is_system = turn.role == Role::System || turn.role == Role::Developer;
    if (is_system && templates_.system_role.empty()) return take_system(turn);
    Message message;
    for (const Part& part : turn.parts) QQ_CHECK(take(part, message));
    Values values;
    values.set_text(Placeholder::Role, is_system                      ? templates_.system_role
                                       : turn.role == Role::Assistant ? templates_.assistant_role
                                                                      : templates_.user_role);
    if (message.text.empty() && message.parts.empty() && message.calls.empty()) return {};
    if (!message.text.empty()) values.set_text(Placeholder::Text, message.text);
    if (!message.reasoning.empty()) values.set_text(Placeholder::Reasoning, message.reasoning);
    if (!message.parts.empty()) values.set_json(Placeholder::Parts, "[" + message.parts + "]");
    if (!message.calls.empty()) values.set_json(Placeholder::ToolCalls, "[" + message.calls + "]");
    if (!turn.name.empty()) values.set_text(Placeholder::Name, turn.name);
    append(templates_.message, values);
    return {};
  }

  void append(const model::JsonTemplate& json, const Values& values) {
    const std::size_t before = out_.messages.size();
    separate();
    if (!render(json, values, out_.messages)) out_.messages.resize(before);
  }

  Result<> take_system(const model::Turn& turn) {
    if (!model::uses(templates_.body, Placeholder::System))
      return fail(not_possible(system_name(request_.dialect), loss::kNoSuchField));
    for (const Part& part : turn.parts) {
      const auto* text = part.as<model::TextPart>();
      if (text == nullptr || text->text.empty()) continue;
      if (!out_.system.empty()) out_.system += "\n\n";
      out_.system += text->text;
    }
    return {};
  }

  // ---- parts

  static void join(std::string& list, std::string_view element) {
    if (!list.empty()) list += ',';
    list += element;
  }

  Result<> take(const Part& part, Message& message) {
    if (const auto* text = part.as<model::TextPart>()) {
      take_text(text->text, message);
    } else if (const auto* refusal = part.as<model::RefusalPart>()) {
      take_text(refusal->text, message);
    } else if (const auto* reasoning = part.as<model::ReasoningPart>()) {
      message.reasoning += reasoning->text;
    } else if (const auto* media = part.as<MediaPart>()) {
      return take_media(*media, message);
    } else if (const auto* call = part.as<model::ToolCallPart>()) {
      return take_call(*call, message);
    } else if (const auto* result = part.as<model::ToolResultPart>()) {
      return take_result(*result);
    }
    return {};  // opaque parts are reported as foreign
  }

  void take_text(std::string_view text, Message& message) const {
    if (text.empty()) return;
    message.text += text;
    if (!has_parts_) return;
    Values values;
    values.set_text(Placeholder::Text, text);
    std::string part;
    if (render(templates_.text_part, values, part)) join(message.parts, part);
  }

  Result<> take_media(const MediaPart& media, Message& message) {
    if (media.source == MediaPart::Source::Text) {  // a document of text, which has no place but as text
      lose(Field::FileInput, loss::kNearest);
      take_text(media.name.empty() ? media.data : media.name + ":\n" + media.data, message);
      return {};
    }
    if (media.kind != MediaPart::Kind::Image)
      return fail(not_possible(name(Field::FileInput), loss::kNoSuchField));
    const bool is_bytes = media.source == MediaPart::Source::Base64;
    const bool needs_bytes = model::uses(templates_.image, Placeholder::Base64);
    if (media.source == MediaPart::Source::FileId || (needs_bytes && !is_bytes)) {
      return fail(not_possible(name(Field::ImageInput),
                               needs_bytes ? "it takes the image itself and no reference to it"
                                           : "it takes no files of another provider's"));
    }
    const std::string type = media.media_type.empty() && is_bytes ? "image/png" : media.media_type;
    Values values;
    if (is_bytes) values.set_text(Placeholder::Base64, media.data);
    values.set_text(Placeholder::Url, is_bytes ? "data:" + type + ";base64," + media.data : media.data);
    if (!type.empty()) values.set_text(Placeholder::MediaType, type);
    std::string part;
    if (render(templates_.image, values, part)) join(message.parts, part);
    return {};
  }

  // ---- tools

  Result<> take_call(const model::ToolCallPart& call, Message& message) {
    if (templates_.tool_call.empty()) return fail(not_possible(name(Field::Tools), loss::kNoSuchField));
    Values values;
    if (!call.id.empty()) values.set_text(Placeholder::Id, call.id);
    values.set_text(Placeholder::Name, call.name);
    bool wrapped = false;
    std::string arguments = input_of(call, wrapped);
    if (wrapped) lose(Field::Tools, loss::kNotJson);
    values.set_text(Placeholder::ArgumentsText, arguments);
    values.set_json(Placeholder::Arguments, std::move(arguments));
    std::string json;
    if (render(templates_.tool_call, values, json)) join(message.calls, json);
    return {};
  }

  Result<> take_result(const model::ToolResultPart& result) {
    if (templates_.tool_result.empty()) return fail(not_possible(name(Field::Tools), loss::kNoSuchField));
    std::string text;
    for (const Part& part : result.content) {
      if (const auto* words = part.as<model::TextPart>()) {
        text += words->text;
      } else if (const auto* media = part.as<MediaPart>()) {
        if (media->source != MediaPart::Source::Text)
          return fail(not_possible(name(Field::ImageInput), "its tools' results are text"));
        text += media->data;
      } else if (const auto found = text_of_opaque(part)) {
        text += *found;
      }
    }
    Values values;
    if (!result.call_id.empty()) values.set_text(Placeholder::Id, result.call_id);
    if (!result.name.empty()) values.set_text(Placeholder::Name, result.name);
    values.set_text(Placeholder::Text, text);
    values.set_boolean(Placeholder::IsError, result.is_error);
    append(templates_.tool_result, values);
    return {};
  }

  const model::ChatRequest& request_;
  const model::DeclaredRequest& templates_;
  bool has_parts_;
  Losses& losses_;
  EncodedMessages out_;
};

}  // namespace

Error not_possible(std::string_view field, std::string_view why) {
  Error error = Error::client(
      ErrorKind::InvalidRequest,
      fmt::format("'{}' is not possible with this model: {}; leave it out or ask another model", field, why),
      std::string(field));
  error.code = "unsupported_parameter";
  return error;
}

Result<EncodedMessages> encode_messages(const model::ChatRequest& request,
                                        const model::DeclaredRequest& templates, Losses& losses) {
  return MessageEncoder(request, templates, losses).run();
}

}  // namespace qq::dialects::declared
