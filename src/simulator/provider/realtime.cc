#include "simulator/provider/realtime.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/provider/tokens.h"
#include "wire/json.h"

namespace qq::simulator {
namespace {

constexpr std::uint64_t kBytesPerToken = 4800;
constexpr std::string_view kSpokenWords = "Rivers bend where the ground lets them.";

std::string quoted_text(std::string_view text) {
  std::string out;
  wire::append_json_string(out, text);
  return out;
}

std::string member_text(wire::JsonValue object, std::string_view key) {
  const auto found = object.member(key);
  return found && found->is_string() ? found->string() : std::string();
}

bool says_text_only(wire::JsonValue object) {
  const auto modalities = object.member("output_modalities");
  return modalities && modalities->text().find("audio") == std::string_view::npos;
}

}  // namespace

std::string RealtimeModel::event(std::string_view type, std::string_view members) {
  return fmt::format(R"({{"type":"{}","event_id":"event_{}"{}{}}})", type, ++events_,
                     members.empty() ? "" : ",", members);
}

RealtimeModel::Event RealtimeModel::error(std::string_view code, std::string_view text,
                                          std::string_view event_id) {
  return {event("error",
                fmt::format(R"("error":{{"type":"invalid_request_error","code":"{}","message":{},)"
                            R"("param":null,"event_id":{}}})",
                            code, quoted_text(text), event_id.empty() ? "null" : quoted_text(event_id)))};
}

std::string RealtimeModel::session() {
  return fmt::format(
      R"("session":{{"type":"realtime","object":"realtime.session","id":"sess_sim","model":{},)"
      R"("output_modalities":["{}"]}})",
      quoted_text(model_), text_only_ ? "text" : "audio");
}

std::vector<RealtimeModel::Event> RealtimeModel::greeting() {
  return {{event("session.created", session())}};
}

void RealtimeModel::take_session(wire::JsonValue session) {
  if (session.member("output_modalities")) text_only_ = says_text_only(session);
  if (const auto transcription = session.at("audio", "input", "transcription"); transcription) {
    transcription_ = transcription->is_object() ? member_text(*transcription, "model") : std::string();
  }
}

std::string RealtimeModel::take_item(wire::JsonValue item) {
  if (const auto content = item.member("content"); content && content->is_array()) {
    for (wire::JsonElements parts(*content); parts.next();) {
      text_tokens_ += token_pieces(member_text(parts.value(), "text")).size();
      audio_tokens_ += member_text(parts.value(), "audio").size() * 3 / 4 / kBytesPerToken;
    }
  }
  return fmt::format(R"("item":{{"id":"item_{}","type":"message","status":"completed"}})", ++items_);
}

void RealtimeModel::commit_audio(std::vector<Event>& events) {
  const std::uint64_t tokens = buffered_ / kBytesPerToken;
  buffered_ = 0;
  audio_tokens_ += tokens;
  const std::string id = fmt::format("item_{}", ++items_);
  events.push_back({event("input_audio_buffer.committed", fmt::format(R"("item_id":"{}")", id))});
  if (transcription_.empty()) return;
  events.push_back(
      {event("conversation.item.input_audio_transcription.completed",
             fmt::format(R"("item_id":"{}","content_index":0,"transcript":"What was said.",)"
                         R"("usage":{{"type":"tokens","total_tokens":{},"input_tokens":{},)"
                         R"("input_token_details":{{"text_tokens":0,"audio_tokens":{}}},"output_tokens":4}})",
                         id, tokens + 4, tokens, tokens))});
}

std::string RealtimeModel::usage(std::uint64_t words, bool spoken) const {
  const std::uint64_t input = text_tokens_ + audio_tokens_;
  const std::uint64_t cached =
      std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(script_.cached.value_or(0), 0)), input);
  const std::uint64_t cached_audio = std::min(cached, audio_tokens_);
  const std::uint64_t output = spoken ? words * 5 : words;
  return fmt::format(
      R"("usage":{{"total_tokens":{},"input_tokens":{},"output_tokens":{},"input_token_details":{{)"
      R"("text_tokens":{},"audio_tokens":{},"cached_tokens":{},"cached_tokens_details":{{"text_tokens":{},)"
      R"("audio_tokens":{}}}}},"output_token_details":{{"text_tokens":{},"audio_tokens":{}}}}})",
      input + output, input, output, text_tokens_, audio_tokens_, cached, cached - cached_audio, cached_audio,
      words, spoken ? words * 4 : 0);
}

void RealtimeModel::respond(wire::JsonValue request, std::vector<Event>& events) {
  const std::string id = fmt::format("resp_{}", ++responses_);
  const auto of_response = request.member("response");
  const bool asks = of_response && of_response->is_object() && of_response->member("output_modalities");
  const bool spoken = asks ? !says_text_only(*of_response) : !text_only_;
  std::vector<std::string> words = token_pieces(kSpokenWords);
  if (script_.words) {
    const std::vector<std::string> usual = words;
    words.clear();
    for (std::uint64_t i = 0; i < *script_.words; ++i) words.push_back(usual[i % usual.size()]);
  }
  events.push_back(
      {event("response.created", fmt::format(R"("response":{{"object":"realtime.response","id":"{}",)"
                                             R"("status":"in_progress","output":[],"model":{}}})",
                                             id, quoted_text(model_)))});
  const std::string place = fmt::format(
      R"("response_id":"{}","item_id":"item_{}","output_index":0,"content_index":0)", id, ++items_);
  std::string said;
  for (const std::string& word : words) {
    said += word;
    const std::string_view type =
        spoken ? "response.output_audio_transcript.delta" : "response.output_text.delta";
    events.push_back(
        {event(type, fmt::format(R"({},"delta":{})", place, quoted_text(word))), Place::Content});
    if (!spoken) continue;
    events.push_back({event("response.output_audio.delta",
                            fmt::format(R"({},"delta":"{}")", place, std::string(400, 'A'))),
                      Place::Content});
  }
  if (script_.faults.has(Fault::BigEvent)) {
    const std::uint64_t size = script_.size > 0 ? script_.size : 1U << 20U;
    events.push_back({event("response.output_text.delta",
                            fmt::format(R"({},"delta":"{}")", place, std::string(size, 'x'))),
                      Place::Content});
  }
  const std::string_view key = spoken ? "transcript" : "text";
  const std::string_view part = spoken ? "output_audio" : "output_text";
  const std::string done = event(
      "response.done",
      fmt::format(R"("response":{{"object":"realtime.response","id":"{}","status":"{}","model":{},)"
                  R"("output":[{{"id":"item_{}","type":"message","role":"assistant","status":"completed",)"
                  R"("content":[{{"type":"{}","{}":{}}}]}}]{}{}}})",
                  id, script_.finish.empty() ? "completed" : script_.finish, quoted_text(model_), items_,
                  part, key, quoted_text(said), script_.faults.has(Fault::UsageMissing) ? "" : ",",
                  script_.faults.has(Fault::UsageMissing) ? std::string() : usage(words.size(), spoken)));
  events.push_back({done, Place::Done});
  if (script_.faults.has(Fault::UsageRepeated)) events.push_back({done});
  text_tokens_ += words.size();
}

std::vector<RealtimeModel::Event> RealtimeModel::answer(std::string_view message) {
  std::vector<Event> events;
  if (wire::check_json(message)) {
    events.push_back(error("invalid_json", "The message is not JSON.", {}));
    return events;
  }
  const wire::JsonValue asked(message);
  const std::string type = member_text(asked, "type");
  if (type == "session.update") {
    const auto wanted = asked.member("session");
    if (wanted && wanted->is_object()) {
      const std::string named = member_text(*wanted, "model");
      if (!named.empty() && named != model_) {
        events.push_back(error("invalid_model", "Model cannot be changed.", member_text(asked, "event_id")));
        return events;
      }
      take_session(*wanted);
    }
    events.push_back({event("session.updated", session())});
  } else if (type == "conversation.item.create") {
    const auto item = asked.member("item");
    events.push_back({event("conversation.item.added", take_item(item.value_or(wire::JsonValue("{}"))))});
  } else if (type == "input_audio_buffer.append") {
    buffered_ += member_text(asked, "audio").size() * 3 / 4;
  } else if (type == "input_audio_buffer.commit") {
    commit_audio(events);
  } else if (type == "response.create") {
    respond(asked, events);
  } else {
    events.push_back(
        error("invalid_value", fmt::format("Invalid value: '{}'.", type), member_text(asked, "event_id")));
  }
  return events;
}

}  // namespace qq::simulator
