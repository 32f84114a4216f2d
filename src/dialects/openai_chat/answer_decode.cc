// A provider's whole answer to the neutral one. Whether it is an answer at all is judged as for answers that
// pass through (dialects/openai/answer.h).
#include <algorithm>
#include <array>

#include "dialects/calls.h"
#include "dialects/made_ids.h"
#include "dialects/media.h"
#include "dialects/openai/answer.h"
#include "dialects/openai/content.h"
#include "dialects/openai_chat/sides.h"
#include "dialects/openai_chat/thoughts.h"
#include "dialects/openai_chat/words.h"
#include "wire/json_text.h"
#include "wire/utf8.h"

namespace qq::dialects::openai_chat {
namespace {

using model::MediaPart;
using model::Part;
using wire::JsonValue;

std::string text_or_none(const std::optional<JsonValue>& value) {
  return value && value->is_string() ? value->string() : std::string();
}

class MessageDecoder {
 public:
  MessageDecoder(model::Choice& out, std::string_view id_seed) noexcept : out_(out), id_seed_(id_seed) {}

  void decode(const Said& said) {
    append_thoughts(said.thoughts, said.details, out_.parts);
    take_content(said.content);
    if (said.refusal.is_string()) out_.parts.emplace_back(model::RefusalPart{said.refusal.string()});
    if (said.audio.is_object()) take_audio(said.audio);
    take_annotations(said.annotations);
    for (wire::JsonElements each(said.images); said.images.is_array() && each.next();) {
      if (const auto url = each.value().at("image_url", "url"))
        out_.parts.emplace_back(media_of_url(MediaPart::Kind::Image, url->string()));
    }
    for (wire::JsonElements each(said.calls); said.calls.is_array() && each.next();) take_call(each.value());
    if (said.old_call.is_object())
      add_call({}, said.old_call, "arguments", model::ToolCallPart::Kind::Function);
  }

 private:
  void take_content(JsonValue content) {
    if (content.is_string()) {
      out_.parts.emplace_back(model::TextPart{.text = content.string(), .citations = {}});
    }
    if (!content.is_array()) return;
    for (wire::JsonElements each(content); each.next();) {
      const JsonValue part = each.value();
      const auto type = part.member("type");
      if (const auto text = part.member("text"); text && text->is_string()) {
        out_.parts.emplace_back(model::TextPart{.text = text->string(), .citations = {}});
      } else if (const auto thinking = part.member("thinking")) {  // Mistral
        model::ReasoningPart thought;
        if (thinking->is_string()) thought.text = thinking->string();
        for (wire::JsonElements piece(*thinking); thinking->is_array() && piece.next();)
          thought.text += text_or_none(piece.value().member("text"));
        out_.parts.emplace_back(std::move(thought));
      } else {
        out_.parts.emplace_back(
            model::OpaquePart{.type = text_or_none(type), .value = std::string(part.text())});
      }
    }
  }

  // The sound, and before it what is said in it.
  void take_audio(JsonValue audio) {
    const std::string transcript = text_or_none(audio.member("transcript"));
    if (!transcript.empty()) out_.parts.emplace_back(model::TextPart{.text = transcript, .citations = {}});
    MediaPart media{.kind = MediaPart::Kind::Audio,
                    .data = text_or_none(audio.member("data")),
                    .media_type = {},
                    .name = {},
                    .detail = {}};
    media.media_type = sound_type(media.data);
    Part part(std::move(media));
    for (const std::string_view key : {"id", "expires_at"}) {
      if (const auto value = audio.member(key))
        part.extra.push_back({std::string(key), std::string(value->text())});
    }
    out_.parts.push_back(std::move(part));
  }

  void take_annotations(JsonValue annotations) {
    for (wire::JsonElements each(annotations); annotations.is_array() && each.next();) {
      const auto text = std::find_if(out_.parts.rbegin(), out_.parts.rend(),
                                     [](const Part& part) { return part.as<model::TextPart>() != nullptr; });
      if (text != out_.parts.rend()) text->as<model::TextPart>()->citations.emplace_back(each.value().text());
    }
  }

  void take_call(JsonValue call) {
    using Kind = model::ToolCallPart::Kind;
    const auto custom = call.member("custom");
    const auto function = call.member("function");
    if (!custom && !function) return;
    add_call(text_or_none(call.member("id")), custom ? *custom : *function, custom ? "input" : "arguments",
             custom ? Kind::Custom : Kind::Function);
    const auto state = call.member("extra_content");
    if (state && state->is_object())
      out_.parts.back().state = {model::Dialect::OpenAiChat, std::string(state->text())};
  }
  void add_call(std::string id, JsonValue function, std::string_view arguments_key,
                model::ToolCallPart::Kind kind) {
    model::ToolCallPart call{
        .kind = kind, .id = std::move(id), .name = text_or_none(function.member("name")), .arguments = {}};
    if (call.id.empty()) call.id = made_call_id(id_seed_, calls_ + out_.index * std::size_t{100});
    ++calls_;
    const JsonValue arguments = function.member(arguments_key).value_or(JsonValue());
    call.arguments =
        kind == model::ToolCallPart::Kind::Function ? arguments_of(arguments) : wire::text_of(arguments);
    out_.parts.emplace_back(std::move(call));
  }

  model::Choice& out_;
  std::string_view id_seed_;
  std::size_t calls_ = 0;
};

bool any_cut_short(const model::Choice& choice) noexcept {
  return std::ranges::any_of(choice.parts, [](const Part& part) {
    const auto* call = part.as<model::ToolCallPart>();
    return call != nullptr && call->kind == model::ToolCallPart::Kind::Function &&
           is_cut_short(call->arguments);
  });
}

void decode_choice(JsonValue value, std::string_view id_seed, model::Choice& out) {
  JsonValue message;
  for (wire::JsonMembers members(value); members.next();) {
    const std::string_view key = members.raw_key();
    const JsonValue member = members.value();
    if (key == "index") {
      out.index = static_cast<std::uint32_t>(member.integer().value_or(0));
    } else if (key == "message") {
      message = member;
    } else if (key == "finish_reason") {
      out.finish_word = wire::text_of(member);
    } else if (key == "logprobs" && member.is_object()) {
      const auto content = member.member("content");
      if (content && content->is_array()) out.logprobs = content->text();
    } else if (openai::is_stop_string_mark(key, member) && member.is_string()) {
      out.stop_string = member.string();
    }
  }
  MessageDecoder(out, id_seed).decode(Said(message));
  out.finish = finish_of(out.finish_word);
  const bool has_calls = std::ranges::any_of(
      out.parts, [](const Part& part) { return part.as<model::ToolCallPart>() != nullptr; });
  out.finish = finish_with(out.finish, has_calls, any_cut_short(out), out.stop_string);
  if (out.finish != model::Finish::StopString) out.stop_string.clear();
}

// Nobody can call a tool without a name; in a stream it is a failure as well.
bool has_nameless_call(const model::ChatAnswer& answer) noexcept {
  return std::ranges::any_of(answer.choices, [](const model::Choice& choice) {
    return std::ranges::any_of(choice.parts, [](const Part& part) {
      const auto* call = part.as<model::ToolCallPart>();
      return call != nullptr && call->name.empty();
    });
  });
}

// Members of an answer that the neutral model or the judge has read.
bool is_read(std::string_view key) noexcept {
  constexpr std::array<std::string_view, 7> kRead{"id",    "object", "created",     "model",
                                                  "usage", "error",  "service_tier"};
  return std::ranges::find(kRead, key) != kRead.end();
}

}  // namespace

Result<model::ChatAnswer> decode_answer(std::string_view body, const model::Target& target,
                                        std::string_view id_seed) {
  std::string repaired;
  body = wire::as_utf8(body, repaired);
  openai::AnswerFacts facts = openai::judge_answer(model::Endpoint::ChatCompletions, body, target);
  if (facts.error) return fail(std::move(*facts.error));
  if (facts.fault)
    return fail(Error::upstream(*facts.fault, AttemptPhase::ReplyBegun, std::move(facts.fault_message)));
  if (body.starts_with("\xef\xbb\xbf")) body.remove_prefix(3);

  model::ChatAnswer out;
  out.usage = facts.usage;
  for (wire::JsonMembers members{JsonValue(body)}; members.next();) {
    const std::string_view key = members.raw_key();
    const JsonValue value = members.value();
    if (key == "choices") {
      for (wire::JsonElements each(value); each.next();) {
        model::Choice& choice = out.choices.emplace_back();
        choice.index = static_cast<std::uint32_t>(out.choices.size() - 1);
        decode_choice(each.value(), id_seed, choice);
      }
    } else if (key == "id") {
      out.id = wire::text_of(value);
    } else if (key == "model") {
      out.model = wire::text_of(value);
    } else if (key == "created") {
      out.created = value.integer().value_or(0);
    } else if (key == "service_tier") {
      out.service_tier = wire::text_of(value);
    } else if (!is_read(key) && !value.is_null()) {
      out.extra.push_back({std::string(key), std::string(value.text())});
    }
  }
  if (has_nameless_call(out)) {
    return fail(Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                "the provider sent a tool call without a name"));
  }
  if (std::ranges::any_of(out.choices, [](const model::Choice& choice) {
        return choice.finish == model::Finish::ToolCalls && any_cut_short(choice);
      })) {
    return fail(broken_off_call());
  }
  return out;
}

}  // namespace qq::dialects::openai_chat
