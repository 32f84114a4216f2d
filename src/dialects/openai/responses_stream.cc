// The responses endpoint's events, and those of streamed images, which have the same form.
#include "dialects/openai/content.h"
#include "dialects/openai/error_body.h"
#include "dialects/openai/stream.h"

namespace qq::dialects::openai {
namespace {

// A delta is a text almost everywhere; new kinds may bring objects.
bool delta_has_content(std::string_view type, wire::JsonValue delta) noexcept {
  if (delta.is_string()) {
    return is_prose_delta(type) ? !delta.is_blank_string() : delta.text().size() > 2;
  }
  return delta.is_object() && wire::JsonMembers(delta).next();
}

bool is_call_item(wire::JsonValue item) noexcept {
  const auto type = item.member("type");
  return type && type->raw_string().ends_with("_call");
}

}  // namespace

void StreamJudge::judge_response_object(wire::JsonValue response, EventFacts& facts) {
  for (wire::JsonMembers members(response); members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    if (key == "model") {
      facts.model_value = value;
    } else if (key == "usage") {
      take_usage(value);
    } else if (key == "status" && facts.terminal) {
      take_finish(value.raw_string(), true);
    } else if (key == "error" && is_error_value(value)) {
      facts.error = error_from_value(value);
    } else if (key == "output" && facts.terminal && !content_seen_) {
      // Some engines send no deltas and everything at the end.
      for (wire::JsonElements items(value); items.next() && !facts.content;) {
        facts.content = output_item_has_content(items.value());
        blank_seen_ = blank_seen_ || (!facts.content && says_white_space(items.value()));
      }
    }
  }
}

EventFacts StreamJudge::judge_responses(wire::JsonValue event) {
  EventFacts facts;
  std::string_view type;
  wire::JsonValue response;
  wire::JsonValue delta;
  wire::JsonValue item;
  wire::JsonValue text;
  wire::JsonValue error;
  wire::JsonValue usage;
  bool image = false;
  for (wire::JsonMembers members(event); members.next();) {
    const std::string_view key = members.raw_key();
    const wire::JsonValue value = members.value();
    switch (key.size()) {
      case 4:
        if (key == "type") {
          type = value.raw_string();
        } else if (key == "item") {
          item = value;
        } else if (key == "text") {
          text = value;
        }
        break;
      case 5:
        if (key == "delta") {
          delta = value;
        } else if (key == "error") {
          error = value;
        } else if (key == "usage") {
          usage = value;
        }
        break;
      case 8:
        if (key == "response") {
          response = value;
        } else {
          image = image || key == "b64_json";
        }
        break;
      case 9:
        if (key == "arguments") text = value;
        break;
      case 17: image = image || key == "partial_image_b64"; break;
      default: break;
    }
  }

  if (type == "error" || is_error_value(error)) {
    // Flat by the specification, nested as recorded.
    facts.error = error_from_value(is_error_value(error) ? error : event);
    if (facts.error->type == "error") {  // the event itself, which is no error object to hand on
      facts.error->type.clear();
      facts.error->object.clear();
    }
    return facts;
  }
  if (type.ends_with(".delta")) {
    facts.content = delta_has_content(type, delta);
    if (!facts.content && delta.is_string() && delta.text().size() > 2) blank_seen_ = true;
    return facts;
  }
  if (!response.text().empty()) {
    facts.terminal = type == "response.completed" || type == "response.incomplete" ||
                     type == "response.failed" || type == "response.cancelled";
    if (facts.terminal) terminal_seen_ = true;
    judge_response_object(response, facts);
    if (type == "response.failed" && !facts.error) {
      facts.error = Error::upstream(ErrorKind::StreamError, AttemptPhase::ReplyBegun,
                                    "the provider says that its answer failed");
    }
    return facts;
  }
  if (image) {
    facts.content = true;
  } else if (type == "response.output_item.added") {
    facts.content = is_call_item(item);
  } else if (type.ends_with(".done") && !content_seen_) {
    // For engines that send whole items without deltas; where deltas came before, they were counted.
    facts.content = item.text().empty() ? text.text().size() > 2 && !text.is_blank_string()
                                        : output_item_has_content(item);
  }
  if (endpoint_ == model::Endpoint::ImagesGenerations && type.ends_with(".completed")) {
    facts.terminal = true;
    terminal_seen_ = true;
    take_usage(usage);
  }
  if (type.empty()) {
    facts.error = find_error(event);
    facts.keep_alive = !facts.error;
  } else if (type == "ping" || type == "keepalive") {
    facts.keep_alive = true;
  }
  return facts;
}

}  // namespace qq::dialects::openai
