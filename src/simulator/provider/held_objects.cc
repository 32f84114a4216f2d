#include "simulator/provider/held_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "simulator/provider/answer.h"
#include "simulator/provider/chat.h"
#include "simulator/provider/in_quotes.h"
#include "simulator/provider/respond.h"
#include "simulator/provider/vendor_errors.h"
#include "wire/multipart.h"

namespace qq::simulator {
namespace {

constexpr int kPollsUsual = 2;
constexpr std::string_view kWhen = "2026-01-01T00:00:00Z";

std::string text_member(wire::JsonValue object, std::string_view key) {
  const auto value = object.member(key);
  return value && value->is_string() ? value->string() : std::string();
}

std::int64_t number_member(const std::optional<wire::JsonValue>& object, std::string_view key) {
  const auto value = object ? object->member(key) : std::nullopt;
  return value ? value->integer().value_or(0) : 0;
}

std::string null_or_quoted(std::string_view text) {
  return text.empty() ? "null" : in_quotes(text);
}

Reply no_such(std::string_view id) {
  return error_reply({.status = 404, .message = fmt::format("No such object: {}", id)});
}

Reply bad(std::string_view vendor, std::string_view why) {
  return error_reply({.status = 400, .vendor = std::string(vendor), .message = std::string(why)});
}

// One request of a batch, answered as if it had come alone.
Reply answered(std::string_view path, std::string_view body, const Library& library) {
  Script script;
  script.strict = false;
  const RequestText request = RequestText::make("POST", path, body);
  script.vendor = request.path.vendor;
  return respond(request, split_model(model_of(request)).name, script, library);
}

std::string bytes_of(const Reply& reply) {
  std::string out;
  for (const Piece& piece : reply.pieces) out += piece.bytes;
  return out;
}

}  // namespace

struct HeldObjects::Asked {
  const RequestText& request;
  std::string_view key;
  const Library& library;
  bool is_files = false;
  bool is_anthropics = false;
  std::string_view id{};      // empty: the collection
  std::string_view action{};  // "content", "cancel", "results"

  [[nodiscard]] std::string_view host() const { return request.field("host"); }
};

std::optional<Reply> HeldObjects::answer(const RequestText& request, std::string_view path,
                                         std::string_view key, const Library& library) {
  Asked asked{request, key, library};
  std::string_view rest;
  if (const std::size_t at = path.find("/batches"); at != std::string_view::npos) {
    asked.is_anthropics = path.substr(0, at).ends_with("/messages");
    rest = path.substr(at + 8);
  } else if (const std::size_t files = path.find("/files"); files != std::string_view::npos) {
    asked.is_files = true;
    asked.is_anthropics = !request.field("anthropic-version").empty();
    rest = path.substr(files + 6);
  } else {
    return std::nullopt;
  }
  if (!rest.empty() && !rest.starts_with('/')) return std::nullopt;
  if (!rest.empty()) {
    rest.remove_prefix(1);
    asked.id = rest.substr(0, rest.find('/'));
    if (asked.id.size() < rest.size()) asked.action = rest.substr(asked.id.size() + 1);
  }
  Reply reply;
  if (asked.id.empty()) {
    if (request.method == "GET") {
      reply = list(asked);
    } else {
      reply = asked.is_files ? make_file(asked) : make_batch(asked);
    }
  } else {
    const auto found = objects_.find(asked.id);
    const bool is_it = found != objects_.end() && found->second.key == key &&
                       found->second.is_file == asked.is_files &&
                       found->second.is_anthropics == asked.is_anthropics;
    reply = is_it ? of_one(asked, found->first, found->second) : no_such(asked.id);
  }
  reply.what = asked.is_files ? "files" : "batches";
  return reply;
}

std::string HeldObjects::keep(Object object, std::string_view prefix) {
  object.number = next_number_++;
  const std::uint64_t hash = stable_hash(object.key, stable_hash(object.content));
  std::string id = stable_id(prefix, hash, 16) + fmt::format("{:06}", object.number);
  objects_.emplace(id, std::move(object));
  return id;
}

Reply HeldObjects::make_file(const Asked& asked) {
  const std::string_view type = asked.request.field("content-type");
  const auto boundary = wire::form_boundary(type);
  const auto parts = boundary ? wire::read_form(asked.request.body, *boundary)
                              : std::unexpected(wire::FormError{.reason = "it is no form"});
  if (!parts) return bad(asked.is_anthropics ? "anthropic" : "", parts.error().reason);
  Object object;
  object.key = asked.key;
  object.is_anthropics = asked.is_anthropics;
  object.name = "upload";
  bool has_file = false;
  for (const wire::FormPart& part : *parts) {
    if (part.name == "model") return bad("", "Unrecognized request argument supplied: model");
    if (part.name == "purpose") object.purpose = part.value;
    if (part.name != "file") continue;
    object.content = part.value;
    has_file = true;
  }
  if (!has_file) return bad(asked.is_anthropics ? "anthropic" : "", "'file' is a required property");
  if (!asked.is_anthropics && object.purpose.empty()) return bad("", "'purpose' is a required property");
  const std::string id = keep(std::move(object), asked.is_anthropics ? "file_" : "file-");
  return Reply::json(200, shown(objects_.at(id), id, asked.host()));
}

Reply HeldObjects::make_batch(const Asked& asked) {
  const std::string_view vendor = asked.is_anthropics ? "anthropic" : "";
  if (asked.request.json_error) return bad(vendor, "We could not parse the JSON body of your request.");
  const wire::JsonValue body(asked.request.body);
  Object batch;
  batch.key = asked.key;
  batch.is_file = false;
  batch.is_anthropics = asked.is_anthropics;
  batch.polls_left = kPollsUsual;
  if (asked.is_anthropics) {
    const auto requests = body.member("requests");
    if (!requests || !requests->is_array()) return bad(vendor, "requests: Field required");
    batch.content = requests->text();
    for (wire::JsonElements elements(*requests); elements.next();) ++batch.requests;
    batch.status = "in_progress";
  } else {
    batch.input_file = text_member(body, "input_file_id");
    const auto file = objects_.find(batch.input_file);
    if (file == objects_.end() || file->second.key != asked.key) return no_such(batch.input_file);
    batch.endpoint = text_member(body, "endpoint");
    if (const auto metadata = body.member("metadata")) {
      batch.metadata = metadata->text();
      const std::string polls = text_member(*metadata, "sim_polls");
      std::from_chars(polls.data(), polls.data() + polls.size(), batch.polls_left);
    }
    batch.status = "validating";
  }
  const std::string id = keep(std::move(batch), asked.is_anthropics ? "msgbatch_" : "batch_");
  return Reply::json(200, shown(objects_.at(id), id, asked.host()));
}

Reply HeldObjects::list(const Asked& asked) const {
  std::vector<std::pair<std::string, const Object*>> all;
  for (const auto& [id, object] : objects_) {
    const bool is_one = object.key == asked.key && object.is_file == asked.is_files &&
                        object.is_anthropics == asked.is_anthropics;
    if (is_one) all.emplace_back(id, &object);
  }
  std::ranges::sort(all, std::greater<>(), [](const auto& entry) { return entry.second->number; });
  std::string out = asked.is_anthropics ? R"({"data":[)" : R"({"object":"list","data":[)";
  for (const auto& [id, object] : all) {
    if (!out.ends_with('[')) out += ',';
    out += shown(*object, id, asked.host());
  }
  const std::string first = all.empty() ? "" : all.front().first;
  const std::string last = all.empty() ? "" : all.back().first;
  out += fmt::format(R"(],"first_id":{},"last_id":{},"has_more":false}})", null_or_quoted(first),
                     null_or_quoted(last));
  return Reply::json(200, out);
}

Reply HeldObjects::of_one(const Asked& asked, const std::string& id, Object& object) {
  const std::string_view method = asked.request.method;
  if (asked.action == "content" && object.is_file) {
    Reply reply = Reply::json(200, object.content);
    reply.content_type = "application/octet-stream";
    return reply;
  }
  if (asked.action == "results" && object.is_anthropics && !object.is_file) {
    if (object.status != "ended") return no_such(id);
    Reply reply = Reply::json(200, object.output_file);
    reply.content_type = "application/x-jsonl";
    return reply;
  }
  if (asked.action == "cancel" && !object.is_file) {
    const bool is_over = object.status == "ended" || object.status == "completed";
    if (!is_over) object.status = object.is_anthropics ? "canceling" : "cancelling";
    return Reply::json(200, shown(object, id, asked.host()));
  }
  if (!asked.action.empty()) return no_such(id);
  if (method == "DELETE") {
    std::string gone = fmt::format(R"({{"id":"{}","object":"file","deleted":true}})", id);
    if (object.is_anthropics) {
      gone =
          fmt::format(R"({{"id":"{}","type":"{}_deleted"}})", id, object.is_file ? "file" : "message_batch");
    }
    objects_.erase(id);
    return Reply::json(200, gone);
  }
  if (!object.is_file) look(object, id, asked.library);
  return Reply::json(200, shown(object, id, asked.host()));
}

void HeldObjects::look(Object& batch, const std::string& id, const Library& library) {
  if (batch.status == "canceling") {
    batch.status = "ended";
  } else if (batch.status == "cancelling") {
    batch.status = "cancelled";
  } else if (batch.polls_left > 0 && --batch.polls_left == 0) {
    batch.is_anthropics ? run_messages(batch, library) : run(batch, id, library);
  } else if (batch.polls_left > 0) {
    batch.status = "in_progress";
  }
}

void HeldObjects::run(Object& batch, const std::string& id, const Library& library) {
  const auto file = objects_.find(batch.input_file);
  std::string_view lines = file == objects_.end() ? std::string_view() : file->second.content;
  Object output;
  output.key = batch.key;
  output.purpose = "batch_output";
  Object errors = output;
  output.name = id + "_output.jsonl";
  errors.name = id + "_error.jsonl";
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const wire::JsonValue request(line);
    if (request.text().empty() || wire::check_json(line)) continue;
    ++batch.requests;
    const auto body = request.member("body");
    const Reply reply = answered(text_member(request, "url"), body ? body->text() : "{}", library);
    const std::string said = bytes_of(reply);
    const bool is_good = reply.status < 400;
    if (!is_good) ++batch.refused;
    const auto usage = wire::check_json(said) ? std::nullopt : wire::JsonValue(said).member("usage");
    batch.input_tokens += number_member(usage, "prompt_tokens") + number_member(usage, "input_tokens");
    batch.output_tokens += number_member(usage, "completion_tokens") + number_member(usage, "output_tokens");
    (is_good ? output : errors).content +=
        fmt::format(R"({{"id":"batch_req_{}","custom_id":{},"response":{{"status_code":{},"request_id":"r",)"
                    R"("body":{}}},"error":null}})"
                    "\n",
                    batch.requests, in_quotes(text_member(request, "custom_id")), reply.status, said);
  }
  batch.status = "completed";
  if (!output.content.empty()) batch.output_file = keep(std::move(output), "file-");
  if (!errors.content.empty()) batch.error_file = keep(std::move(errors), "file-");
}

void HeldObjects::run_messages(Object& batch, const Library& library) {
  const wire::JsonValue requests(batch.content);
  for (wire::JsonElements elements(requests); elements.next();) {
    const wire::JsonValue request = elements.value();
    const auto params = request.member("params");
    const Reply reply = answered("/v1/messages", params ? params->text() : "{}", library);
    const std::string said = bytes_of(reply);
    const bool is_good = reply.status < 400;
    if (!is_good) ++batch.refused;
    batch.output_file += fmt::format(R"({{"custom_id":{},"result":{{"type":"{}","{}":{}}}}})"
                                     "\n",
                                     in_quotes(text_member(request, "custom_id")),
                                     is_good ? "succeeded" : "errored", is_good ? "message" : "error", said);
  }
  batch.status = "ended";
}

std::string HeldObjects::shown(const Object& object, const std::string& id, std::string_view host) const {
  if (object.is_file && object.is_anthropics) {
    return fmt::format(R"({{"id":"{}","type":"file","filename":{},"mime_type":"application/octet-stream",)"
                       R"("size_bytes":{},"created_at":"{}","downloadable":true}})",
                       id, in_quotes(object.name), object.content.size(), kWhen);
  }
  if (object.is_file) {
    return fmt::format(R"({{"id":"{}","object":"file","bytes":{},"created_at":{},"filename":{},)"
                       R"("purpose":{},"status":"processed"}})",
                       id, object.content.size(), kCreated, in_quotes(object.name),
                       in_quotes(object.purpose));
  }
  if (object.is_anthropics) {
    const bool ended = object.status == "ended";
    const std::int64_t done = object.output_file.empty() ? 0 : object.requests;
    const std::string url = fmt::format("http://{}/v1/messages/batches/{}/results", host, id);
    return fmt::format(R"({{"id":"{}","type":"message_batch","processing_status":"{}","request_counts":)"
                       R"({{"processing":{},"succeeded":{},"errored":{},"canceled":{},"expired":0}},)"
                       R"("created_at":"{}","expires_at":"{}","ended_at":{},"archived_at":null,)"
                       R"("cancel_initiated_at":null,"results_url":{}}})",
                       id, object.status, ended ? 0 : object.requests, done - object.refused, object.refused,
                       ended ? object.requests - done : 0, kWhen, kWhen, ended ? in_quotes(kWhen) : "null",
                       ended ? in_quotes(url) : "null");
  }
  std::string usage;
  if (object.status == "completed") {
    usage =
        fmt::format(R"(,"usage":{{"input_tokens":{},"input_tokens_details":{{"cached_tokens":0}},)"
                    R"("output_tokens":{},"output_tokens_details":{{"reasoning_tokens":0}},)"
                    R"("total_tokens":{}}})",
                    object.input_tokens, object.output_tokens, object.input_tokens + object.output_tokens);
  }
  return fmt::format(R"({{"id":"{}","object":"batch","endpoint":{},"errors":null,"input_file_id":{},)"
                     R"("completion_window":"24h","status":"{}","output_file_id":{},"error_file_id":{},)"
                     R"("created_at":{},"request_counts":{{"total":{},"completed":{},"failed":{}}},)"
                     R"("metadata":{}{}}})",
                     id, in_quotes(object.endpoint), in_quotes(object.input_file), object.status,
                     null_or_quoted(object.output_file), null_or_quoted(object.error_file), kCreated,
                     object.requests, object.requests - object.refused, object.refused, object.metadata,
                     usage);
}

}  // namespace qq::simulator
