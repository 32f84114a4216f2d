#include "simulator/provider/respond.h"

#include <fmt/format.h>

#include "simulator/provider/chat.h"
#include "simulator/provider/other_endpoints.h"
#include "simulator/provider/responses.h"
#include "simulator/provider/vendor_errors.h"

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
  return error;
}

// A reply that stands for any answer: an error, or a 200 that is none.
std::optional<Reply> replaced(const Script& script) {
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

Reply refuse(const Error& error, const Script& script) {
  VendorError said;
  said.status = 400;
  said.vendor = script.vendor;
  said.param = error.param;
  said.message = error.message;
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
    case Route::Models:
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

// Fields that OpenAI sends with every answer; recordings bring their own.
void add_usual_fields(Reply& reply, std::uint64_t hash) {
  reply.fields.emplace_back("x-request-id", stable_id("req_", hash, 32));
  reply.fields.emplace_back("openai-processing-ms", "5");
  reply.fields.emplace_back("x-ratelimit-limit-requests", "10000");
  reply.fields.emplace_back("x-ratelimit-remaining-requests", "9999");
  reply.fields.emplace_back("x-ratelimit-reset-requests", "6ms");
}

}  // namespace

std::string model_of(const RequestText& request) {
  if (!request.json_error) {
    if (const auto found = wire::JsonValue(request.body).member("model"); found && found->is_string()) {
      return found->string();
    }
  }
  return request.path.model;
}

Reply respond(const RequestText& request, std::string_view model, const Script& script,
              const Library& library) {
  if (auto reply = replaced(script)) {
    add_usual_fields(*reply, stable_hash(request.body));
    return *std::move(reply);
  }
  if (!script.play.empty()) return played(script.play, library);
  if (model.starts_with(kRecorded) && request.path.route != Route::Models) {
    return played(model.substr(kRecorded.size()), library);
  }
  if (request.path.route == Route::Models) {
    return request.path.model.empty() ? models_reply() : model_reply(model);
  }
  if (request.path.route == Route::Unknown) {
    return error_reply({.status = 404, .message = "Unknown request URL. Please check the URL for typos."});
  }
  if (request.method != "POST") {
    return error_reply(
        {.status = 405, .message = "Not allowed to make this request with that method; use POST."});
  }
  if (request.json_error) {
    return refuse(
        Error::client(ErrorKind::InvalidRequest,
                      fmt::format("We could not parse the JSON body of your request: {} at byte {}.",
                                  request.json_error->reason, request.json_error->offset)),
        script);
  }
  const auto asked = read_asked(request.path.route, request.body, request.path.model);
  if (!asked) return refuse(asked.error(), script);
  if (const Recording* recording = library.matching(asked->route, request.body, asked->model)) {
    return recorded_reply(*recording);
  }
  Reply reply = built_in(*asked, script);
  add_usual_fields(reply, asked->hash);
  return reply;
}

}  // namespace qq::simulator
