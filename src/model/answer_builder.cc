#include "model/answer_builder.h"

#include <algorithm>

namespace qq::model {
namespace {

Part empty_part(const StreamEvent& event) {
  switch (event.part_kind) {
    case PartKind::Text: return Part(TextPart{});
    case PartKind::Reasoning:
      return Part(ReasoningPart{.kind = event.reasoning, .text = {}, .id = std::string(event.id)});
    case PartKind::ToolCall:
      return Part(
          ToolCallPart{.kind = event.custom ? ToolCallPart::Kind::Custom : ToolCallPart::Kind::Function,
                       .id = std::string(event.id),
                       .name = std::string(event.name),
                       .arguments = {}});
    case PartKind::Refusal: return Part(RefusalPart{});
    case PartKind::Media: return Part(MediaPart{.media_type = std::string(event.media_type)});
    case PartKind::Opaque:
      return Part(OpaquePart{.dialect = event.dialect, .type = std::string(event.word), .value = {}});
  }
  return {};
}

void append_text(Part& part, std::string_view text) {
  if (auto* prose = part.as<TextPart>()) prose->text.append(text);
  if (auto* reasoning = part.as<ReasoningPart>()) reasoning->text.append(text);
  if (auto* refusal = part.as<RefusalPart>()) refusal->text.append(text);
}

// A delta of it.
void append(Part& part, const StreamEvent& event) {
  using Kind = StreamEvent::Kind;
  if (event.kind == Kind::TextDelta) append_text(part, event.text);
  if (event.kind == Kind::StateDelta) part.state = *event.state;
  if (auto* call = part.as<ToolCallPart>(); call != nullptr && event.kind == Kind::ArgumentsDelta)
    call->arguments.append(event.text);
  if (auto* text = part.as<TextPart>(); text != nullptr && event.kind == Kind::CitationDelta)
    text->citations.emplace_back(event.json);
  if (auto* opaque = part.as<OpaquePart>(); opaque != nullptr && event.kind == Kind::OpaqueDelta)
    opaque->value = event.json;
  auto* media = part.as<MediaPart>();
  if (media == nullptr || event.kind != Kind::MediaDelta) return;
  media->data.append(event.text);
  if (!event.media_type.empty()) media->media_type = event.media_type;
  media->kind = media_kind(media->media_type);
}

StreamEvent start_of(const Part& part, std::uint32_t choice, std::uint32_t number) {
  StreamEvent event{.kind = StreamEvent::Kind::PartStarted, .choice = choice, .part = number};
  if (part.as<TextPart>() != nullptr) event.part_kind = PartKind::Text;
  if (part.as<RefusalPart>() != nullptr) event.part_kind = PartKind::Refusal;
  if (const auto* reasoning = part.as<ReasoningPart>()) {
    event.part_kind = PartKind::Reasoning;
    event.reasoning = reasoning->kind;
    event.id = reasoning->id;
  }
  if (const auto* call = part.as<ToolCallPart>()) {
    event.part_kind = PartKind::ToolCall;
    event.id = call->id;
    event.name = call->name;
    event.custom = call->kind == ToolCallPart::Kind::Custom;
  }
  if (const auto* media = part.as<MediaPart>()) {
    event.part_kind = PartKind::Media;
    event.media_type = media->media_type;
  }
  if (const auto* opaque = part.as<OpaquePart>()) {
    event.part_kind = PartKind::Opaque;
    event.word = opaque->type;
    event.dialect = opaque->dialect;
  }
  return event;
}

}  // namespace

Choice& AnswerBuilder::choice(std::uint32_t index) {
  const auto found = std::ranges::find(answer_.choices, index, &Choice::index);
  if (found != answer_.choices.end()) return *found;
  return answer_.choices.emplace_back(Choice{.index = index});
}

void AnswerBuilder::take(const StreamEvent& event) {
  using Kind = StreamEvent::Kind;
  switch (event.kind) {
    case Kind::Started:
      answer_.id = event.id;
      answer_.model = event.model;
      answer_.created = event.created;
      answer_.dialect = event.dialect;
      break;
    case Kind::PartStarted: {
      Choice& owner = choice(event.choice);
      owner.parts.push_back(empty_part(event));
      places_.resize(std::max<std::size_t>(places_.size(), event.part + 1));
      places_[event.part] = {static_cast<std::size_t>(&owner - answer_.choices.data()),
                             owner.parts.size() - 1, true};
      break;
    }
    case Kind::TextDelta:
    case Kind::ArgumentsDelta:
    case Kind::StateDelta:
    case Kind::CitationDelta:
    case Kind::MediaDelta:
    case Kind::OpaqueDelta:
      if (Part* of = part(event.part)) append(*of, event);
      break;
    case Kind::Logprobs: {
      // Arrays of one entry a token: the pieces make one array.
      Json& all = choice(event.choice).logprobs;
      if (all.size() > 2 && event.json.size() > 2) {
        all.back() = ',';
        all.append(event.json.substr(1));
      } else if (event.json.size() > 2 || all.empty()) {
        all = event.json;
      }
      break;
    }
    case Kind::UsageSoFar: answer_.usage = *event.usage; break;
    case Kind::Finished: {
      Choice& owner = choice(event.choice);
      owner.finish = event.finish;
      owner.finish_word = event.word;
      if (event.finish == Finish::StopString) owner.stop_string = event.text;
      break;
    }
    case Kind::End: ended_ = true; break;
    case Kind::Failed: error_ = *event.error; break;
    case Kind::PartFinished:
    case Kind::Ping: break;
  }
}

void for_each_event(const ChatAnswer& answer, const std::function<void(const StreamEvent&)>& take) {
  using Kind = StreamEvent::Kind;
  take({.kind = Kind::Started,
        .id = answer.id,
        .model = answer.model,
        .created = answer.created,
        .dialect = answer.dialect});
  std::uint32_t number = 0;
  for (const Choice& choice : answer.choices) {
    for (const Part& part : choice.parts) {
      StreamEvent event = start_of(part, choice.index, number++);
      take(event);
      event.id = event.name = event.word = {};
      const auto take_state = [&] {
        event.text = event.json = event.media_type = {};
        if (part.state.empty()) return;
        event.kind = Kind::StateDelta;
        event.state = &part.state;
        take(event);
        event.state = nullptr;
      };
      if (const auto* text = part.as<TextPart>()) {
        event.kind = Kind::TextDelta;
        event.text = text->text;
        if (!event.text.empty()) take(event);
        event.kind = Kind::CitationDelta;
        event.dialect = answer.dialect;
        event.text = {};
        for (const Json& citation : text->citations) {
          event.json = citation;
          take(event);
        }
      } else if (const auto* call = part.as<ToolCallPart>()) {
        take_state();
        event.kind = Kind::ArgumentsDelta;
        event.text = call->arguments;
        if (!event.text.empty()) take(event);
      } else if (const auto* media = part.as<MediaPart>()) {
        event.kind = Kind::MediaDelta;
        event.text = media->data;
        take(event);
      } else if (const auto* opaque = part.as<OpaquePart>()) {
        event.kind = Kind::OpaqueDelta;
        event.json = opaque->value;
        take(event);
      } else {
        event.kind = Kind::TextDelta;
        if (const auto* reasoning = part.as<ReasoningPart>()) event.text = reasoning->text;
        if (const auto* refusal = part.as<RefusalPart>()) event.text = refusal->text;
        if (!event.text.empty()) take(event);
      }
      if (part.as<ToolCallPart>() == nullptr) take_state();
      event.text = event.json = event.media_type = {};
      event.kind = Kind::PartFinished;
      take(event);
    }
    if (!choice.logprobs.empty())
      take({.kind = Kind::Logprobs, .choice = choice.index, .json = choice.logprobs});
  }
  for (const Choice& choice : answer.choices) {
    if (choice.finish == Finish::None) continue;
    take({.kind = Kind::Finished,
          .finish = choice.finish,
          .choice = choice.index,
          .text = choice.stop_string,
          .word = choice.finish_word,
          .dialect = answer.dialect});
  }
  take({.kind = Kind::UsageSoFar, .usage = &answer.usage});
  take({.kind = Kind::End});
}

}  // namespace qq::model
