#include "dialects/openai/realtime.h"

#include <fmt/format.h>

#include "dialects/openai/answer.h"
#include "dialects/openai/errors.h"
#include "dialects/openai/key_case.h"
#include "wire/json_patch.h"

namespace qq::dialects::openai {
namespace {

using Kind = RealtimeEvent::Kind;

Kind kind_of(std::string_view type) noexcept {
  if (type.starts_with("response.")) {
    if (type == "response.done") return Kind::ResponseDone;
    if (type == "response.created") return Kind::ResponseCreated;
    return type.ends_with(".delta") ? Kind::Delta : Kind::Other;
  }
  if (type == "conversation.item.input_audio_transcription.completed") return Kind::Transcribed;
  return type == "error" ? Kind::Error : Kind::Other;
}

std::string_view string_in(wire::JsonValue object, std::string_view key) noexcept {
  const auto found = object.member(key);
  return found ? found->raw_string() : std::string_view();
}

void read_response(wire::JsonValue response, const model::Quirks& quirks, RealtimeEvent& event) {
  event.id = string_in(response, "id");
  event.status = string_in(response, "status");
  if (const auto usage = response.member("usage")) event.usage = decode_usage(*usage, quirks);
}

Error not_json(const wire::JsonError& wrong) {
  return Error::client(ErrorKind::InvalidRequest,
                       fmt::format("the message is not JSON: {} at byte {}", wrong.reason, wrong.offset));
}

Error other_case(std::string_view key, std::string param) {
  return Error::client(ErrorKind::InvalidRequest,
                       fmt::format("the key \"{}\" is written with capital letters; write it plainly", key),
                       std::move(param));
}

// The model in an object of the client's. Each spelling counts: which of two a provider reads is not known.
Result<> rename_model(wire::JsonValue object, std::string_view place, std::string_view asked,
                      std::string_view upstream_model, wire::JsonPatch& patch) {
  if (!object.is_object()) return {};
  for (wire::JsonMembers members(object); members.next();) {
    if (!members.key_is("model")) {
      if (is_other_case(members, "model")) return fail(other_case("model", fmt::format("{}.model", place)));
      continue;
    }
    if (members.is_null()) continue;
    if (!members.is_string() || members.value().string() != asked) {
      return fail(Error::client(
          ErrorKind::InvalidRequest,
          fmt::format("this connection is one to `{}`; for another model open another connection", asked),
          fmt::format("{}.model", place)));
    }
    if (asked == upstream_model) continue;
    std::string json;
    wire::append_json_string(json, upstream_model);
    patch.replace(members.value(), std::move(json));
  }
  return {};
}

}  // namespace

RealtimeEvent read_realtime_event(std::string_view message, const wire::JsonLimits& limits,
                                  const model::Quirks& quirks) {
  RealtimeEvent event;
  if (wire::check_json(message, limits)) return event;
  const wire::JsonValue document(message);
  wire::JsonValue response;
  wire::JsonValue session;
  wire::JsonValue usage;
  std::string_view item;
  std::string_view content;
  std::string_view response_id;
  wire::JsonValue error;
  for (wire::JsonMembers members(document); members.next();) {
    const std::string_view key = members.raw_key();
    if (key == "type") event.kind = kind_of(members.value().raw_string());
    if (key == "response") response = members.value();
    if (key == "session") session = members.value();
    if (key == "usage") usage = members.value();
    if (key == "item_id") item = members.value().raw_string();
    if (key == "content_index") content = members.value().text();
    if (key == "error") error = members.value();
    if (key == "response_id") response_id = members.value().raw_string();
  }
  if (event.kind == Kind::ResponseCreated || event.kind == Kind::ResponseDone) {
    read_response(response, quirks, event);
  } else if (event.kind == Kind::Transcribed) {
    event.id = item;
    event.content = content;
    if (usage.is_object()) event.usage = decode_usage(usage, quirks);
  }
  if (event.kind == Kind::Error && error.is_object()) event.event_id = string_in(error, "event_id");
  if (event.kind == Kind::Delta) event.id = response_id;
  for (const wire::JsonValue holder : {session, response}) {
    const auto model = holder.is_object() ? holder.member("model") : std::nullopt;
    if (model && !model->raw_string().empty()) event.model = *model;
  }
  return event;
}

std::string with_model(std::string_view message, const RealtimeEvent& event, std::string_view name) {
  std::string own;
  std::string out;
  for (const std::string_view piece : wire::with_other_string(message, event.model, name, own)) out += piece;
  return out;
}

Result<RealtimeRequest> read_realtime_request(std::string_view message, const wire::JsonLimits& limits,
                                              std::string_view asked, std::string_view upstream_model) {
  if (const auto wrong = wire::check_json(message, limits)) return fail(not_json(*wrong));
  const wire::JsonValue document(message);
  if (!document.is_object()) {
    return fail(Error::client(ErrorKind::InvalidRequest, "a message is a JSON object with a type"));
  }
  RealtimeRequest request;
  wire::JsonPatch patch(message);
  for (wire::JsonMembers members(document); members.next();) {
    if (members.key_is("type")) {
      request.asks_response = request.asks_response || members.value().raw_string() == "response.create";
    } else if (members.key_is("event_id")) {
      request.event_id = members.value().raw_string();
    } else if (members.key_is("session")) {
      QQ_CHECK(rename_model(members.value(), "session", asked, upstream_model, patch));
    } else if (members.key_is("response")) {
      QQ_CHECK(rename_model(members.value(), "response", asked, upstream_model, patch));
    } else {
      for (const std::string_view ours : {"type", "session", "response"}) {
        if (is_other_case(members, ours)) return fail(other_case(ours, std::string(ours)));
      }
    }
  }
  if (!patch.empty()) {
    request.changed = true;
    request.text = patch.apply();
  }
  return request;
}

std::string realtime_event_id(std::string_view message, const wire::JsonLimits& limits) {
  constexpr std::size_t kIdMax = 512;  // OpenAI's own limit
  if (wire::check_json(message, limits)) return {};
  const auto id = wire::JsonValue(message).member("event_id");
  if (!id || !id->is_string() || id->text().size() > kIdMax) return {};
  return std::string(id->raw_string());
}

std::string encode_realtime_error(const Error& error, std::string_view request_id,
                                  std::string_view event_id) {
  const EncodedError encoded = encode_error(error, request_id);
  std::string out = fmt::format(R"({{"type":"error","event_id":"event_{}",)", request_id);
  // Behind the brace of {"error":{…}}, without the two that close it.
  const std::string_view body = encoded.body;
  out.append(body.substr(1, body.size() - 3));
  out += ",\"event_id\":";
  out += event_id.empty() ? std::string("null") : fmt::format("\"{}\"", event_id);
  out += "}}";
  return out;
}

}  // namespace qq::dialects::openai
