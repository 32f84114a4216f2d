#include "simulator/provider/respond.h"

#include <fmt/format.h>

#include "simulator/provider/chat.h"
#include "simulator/provider/checks/check.h"
#include "simulator/provider/native_embeddings.h"
#include "simulator/provider/other_endpoints.h"
#include "simulator/provider/responses.h"
#include "simulator/provider/speak.h"
#include "simulator/provider/vendor_errors.h"
#include "simulator/provider/voices/voice.h"

namespace qq::simulator {
namespace {

constexpr std::string_view kRecorded = "rec:";

VendorError scripted(const Script& script, int status, std::string_view code = {},
                     std::string_view message = {}) {
  VendorError error;
  error.status = script.status.value_or(status);
  error.vendor = script.vendor;
  error.code = code;
  error.message = message;
  error.retry_after = script.retry_after;
  if (!script.status) say_as_vendor(error);
  return error;
}

Reply refuse(const RequestText& request, const Error& error, const Script& script) {
  VendorError said;
  said.status = 400;
  said.vendor = script.vendor;
  said.param = error.param;
  said.message = error.message;
  // The dialects' readers name the field apart; those who have no place for it put it before the words.
  if (voice_of(request.path.route) != nullptr && !error.param.empty() &&
      error.message.find(error.param) == std::string::npos) {
    said.message = error.param + ": " + error.message;
  }
  return error_reply(said);
}

Reply built_in(const Asked& asked, const Script& script) {
  switch (asked.route) {
    case Route::ChatCompletions: return chat_reply(asked, script);
    case Route::Responses: return responses_reply(asked, script);
    case Route::Completions: return completions_reply(asked, script);
    case Route::Embeddings: return embeddings_reply(asked, script);
    case Route::Moderations: return moderations_reply(asked);
    case Route::ImagesGenerations: return images_reply(asked);
    case Route::EmbedContents:
    case Route::Predict:
    case Route::CohereEmbed:
    case Route::InvokeEmbed: return native_embeddings_reply(asked, script);
    case Route::Compact: return compact_reply(asked);
    case Route::CountMessages:
    case Route::CountContent: return count_reply(asked);
    case Route::Messages:
    case Route::GenerateContent:
    case Route::Converse:
    case Route::CohereChat:
    case Route::OllamaChat: return spoken_reply(asked, script);
    case Route::Models:
    case Route::Realtime:
    case Route::Unknown: break;
  }
  return error_reply({.status = 404});
}

Reply played(std::string_view name, const Library& library) {
  if (const Recording* recording = library.named(name)) return recorded_reply(*recording);
  return error_reply({.status = 404,
                      .code = "model_not_found",
                      .param = "model",
                      .message = fmt::format("There is no recording \"{}\" here ({} are loaded; start with "
                                             "--recordings DIR).",
                                             name, library.all().size())});
}

// Fields that the vendors send with every answer; recordings bring their own.
void add_usual_fields(Reply& reply, std::string_view vendor, std::uint64_t hash) {
  if (vendor == "anthropic") {
    reply.fields.emplace_back("request-id", stable_id("req_011", hash, 21));
    for (const std::string_view what : {"requests", "input-tokens", "output-tokens"}) {
      const std::string prefix = fmt::format("anthropic-ratelimit-{}-", what);
      reply.fields.emplace_back(prefix + "limit", "10000");
      reply.fields.emplace_back(prefix + "remaining", "9999");
      reply.fields.emplace_back(prefix + "reset", "2026-01-01T00:00:01Z");
    }
  } else if (vendor == "bedrock") {
    const std::string hex = fmt::format("{:016x}{:016x}", hash, stable_hash("id", hash));
    reply.fields.emplace_back("x-amzn-requestid",
                              fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4),
                                          hex.substr(12, 4), hex.substr(16, 4), hex.substr(20)));
  } else if (vendor == "gemini" || vendor == "vertex") {
    reply.fields.emplace_back("server-timing", "gfet4t7; dur=5");
  } else if (vendor != "cohere" && vendor != "ollama_native") {
    reply.fields.emplace_back("x-request-id", stable_id("req_", hash, 32));
    reply.fields.emplace_back("openai-processing-ms", "5");
    reply.fields.emplace_back("x-ratelimit-limit-requests", "10000");
    reply.fields.emplace_back("x-ratelimit-remaining-requests", "9999");
    reply.fields.emplace_back("x-ratelimit-reset-requests", "6ms");
  }
}

// Google answers in the form that was asked for, errors too: as an array, or as JSON that says it is SSE.
Reply in_asked_form(Reply reply, const RoutedPath& path) {
  if (path.route != Route::GenerateContent || !path.stream || reply.stream || reply.status < 400 ||
      reply.content_type != "application/json") {
    return reply;
  }
  if (path.array_stream) {
    std::string& body = reply.pieces.front().bytes;
    body = "[" + body + "\n]";
  } else {
    reply.content_type = "text/event-stream";
  }
  return reply;
}

Reply listed_models(const RequestText& request, std::string_view model) {
  const bool google = request.path.vendor == "gemini" || request.path.vendor == "vertex";
  const ListForm form = google                                        ? ListForm::Google
                        : request.path.vendor == "ollama_native"      ? ListForm::Ollama
                        : !request.field("anthropic-version").empty() ? ListForm::Anthropic
                                                                      : ListForm::OpenAi;
  return request.path.model.empty() ? models_reply(form) : model_reply(model, form);
}

Result<Asked> read_request(const RequestText& request) {
  if (voice_of(request.path.route) != nullptr) return read_spoken(request.path, request.body);
  return read_asked(request.path.route, request.body, request.path.model);
}

// A 101 without a body: what follows is the connection's (realtime_play.h).
Reply opened_realtime(const RequestText& request, const Script& script) {
  if (request.method != "GET" || request.field("upgrade").empty()) {
    return error_reply(
        {.status = 426, .vendor = script.vendor, .message = "Ask for an upgrade to WebSocket."});
  }
  if (request.path.model.empty()) {
    return error_reply({.status = 400,
                        .vendor = script.vendor,
                        .code = "missing_model",
                        .message = "You must provide a model parameter."});
  }
  Reply reply;
  reply.status = 101;
  reply.what = "realtime";
  return reply;
}

// What the built-in model says to a request that may come in.
Reply answer_to(const RequestText& request, std::string_view model, const Script& script) {
  if (request.path.route == Route::Models) return listed_models(request, model);
  if (request.path.route == Route::Unknown) {
    return error_reply({.status = 404, .message = "Unknown request URL. Please check the URL for typos."});
  }
  if (request.path.route == Route::Realtime) return opened_realtime(request, script);
  if (request.method != "POST") {
    return error_reply({.status = 405,
                        .vendor = script.vendor,
                        .message = "Not allowed to make this request with that method; use POST."});
  }
  if (request.json_error) {
    return refuse(
        request,
        Error::client(ErrorKind::InvalidRequest,
                      fmt::format("We could not parse the JSON body of your request: {} at byte {}.",
                                  request.json_error->reason, request.json_error->offset)),
        script);
  }
  if (script.strict) {
    if (const auto refusal = refuse_body(request, model, script)) return error_reply(*refusal);
  }
  const auto asked = read_request(request);
  if (!asked) return refuse(request, asked.error(), script);
  Reply reply = built_in(*asked, script);
  add_usual_fields(reply, script.vendor, asked->hash);
  return reply;
}

}  // namespace

std::optional<Reply> scripted_reply(const Script& script) {
  const FaultSet& faults = script.faults;
  if (faults.has(Fault::InsufficientQuota)) {
    VendorError error =
        scripted(script, 429, "insufficient_quota",
                 "You exceeded your current quota, please check your plan and billing details.");
    error.type = "insufficient_quota";
    return error_reply(error);
  }
  if (faults.has(Fault::ContextLength)) {
    VendorError error = scripted(script, 400, "context_length_exceeded",
                                 "This model's maximum context length is 8192 tokens. However, your messages "
                                 "resulted in 9000 tokens. Please reduce the length of the messages.");
    error.param = "messages";
    return error_reply(error);
  }
  if (faults.has(Fault::ContentFilter) && (script.vendor == "gemini" || script.vendor == "vertex")) {
    // A prompt that was blocked is answered, without candidates.
    Reply reply = Reply::json(200, R"({"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},)"
                                   R"("usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}})");
    reply.what = "blocked prompt";
    return reply;
  }
  if (faults.has(Fault::ContentFilter)) {
    return error_reply(
        scripted(script, 400, "content_filter",
                 "The response was filtered due to the prompt triggering the content policy."));
  }
  if (faults.has(Fault::Error200)) {
    Reply reply = error_reply(scripted(script, 500));
    reply.status = 200;
    return reply;
  }
  if (faults.has(Fault::Html)) {
    Reply reply = Reply::json(script.status.value_or(200),
                              "<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head>"
                              "<body><h1>Checking your browser</h1></body></html>\n");
    reply.content_type = "text/html; charset=UTF-8";
    reply.what = "html";
    return reply;
  }
  if (faults.has(Fault::EmptyBody)) {
    Reply reply = Reply::json(200, "");
    reply.what = "empty body";
    return reply;
  }
  if (faults.has(Fault::NoContent) || script.status == 204) {
    Reply reply;
    reply.status = 204;
    reply.content_type.clear();
    reply.what = "no content";
    return reply;
  }
  if (faults.has(Fault::Redirect) || script.status == 302) {
    Reply reply = Reply::json(302, "");
    reply.content_type = "text/html";
    reply.fields.emplace_back("location", "https://login.example/");
    reply.what = "redirect";
    return reply;
  }
  if (script.status && *script.status >= 300 &&
      !faults.any(Fault::ErrorFirst, Fault::ErrorMiddle, Fault::ErrorLast)) {
    return error_reply(scripted(script, *script.status));
  }
  return std::nullopt;
}

std::string model_of(const RequestText& request) {
  // Where the path names it, the body's may name another thing.
  const Route route = request.path.route;
  const bool by_path = route == Route::GenerateContent || route == Route::CountContent ||
                       route == Route::Converse || route == Route::EmbedContents || route == Route::Predict ||
                       route == Route::InvokeEmbed || request.path.form != model::MessagesForm::Direct;
  if (by_path && !request.path.model.empty()) return request.path.model;
  if (!request.json_error) {
    if (const auto found = wire::JsonValue(request.body).member("model"); found && found->is_string()) {
      return found->string();
    }
  }
  return request.path.model;
}

Reply respond(const RequestText& request, std::string_view model, const Script& script,
              const Library& library) {
  if (auto reply = scripted_reply(script)) {
    add_usual_fields(*reply, script.vendor, stable_hash(request.body));
    return in_asked_form(*std::move(reply), request.path);
  }
  if (!script.play.empty()) return played(script.play, library);
  if (model.starts_with(kRecorded) && request.path.route != Route::Models) {
    return played(model.substr(kRecorded.size()), library);
  }
  if (script.strict) {
    if (const auto refusal = refuse_head(request)) return in_asked_form(error_reply(*refusal), request.path);
  }
  // Before the body is judged: what was recorded may have been refused itself.
  if (!request.json_error) {
    if (const Recording* recording = library.matching(request.path.route, request.body, model))
      return recorded_reply(*recording);
  }
  return in_asked_form(answer_to(request, model, script), request.path);
}

}  // namespace qq::simulator
