#include "simulator/provider/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/base64.h"
#include "simulator/provider/stream_cut.h"
#include "wire/http_head.h"
#include "wire/json.h"

namespace qq::simulator {
namespace {

using wire::JsonMembers;
using wire::JsonValue;

Error broken(std::string_view name, std::string_view what) {
  return Error::gateway(ErrorKind::Config, fmt::format("recording {}: {}", name, what));
}

std::string text_of(JsonValue object, std::string_view key) {
  const auto found = object.member(key);
  return found && found->is_string() ? found->string() : std::string();
}

Result<std::string> body_of(JsonValue response, std::string_view name) {
  const auto body = response.member("body");
  if (!body || body->is_null()) return std::string();
  if (!body->is_string()) return compact_json(body->text());
  if (text_of(response, "body_encoding") != "base64") return body->string();
  auto bytes = from_base64(body->string());
  if (!bytes) return fail(broken(name, "response.body is not base64"));
  return *std::move(bytes);
}

// How the events of a recorded stream are put into bytes.
StreamForm form_of(std::string_view content_type) noexcept {
  const auto has = [&](std::string_view word) { return content_type.find(word) != std::string_view::npos; };
  if (has("vnd.amazon.eventstream")) return StreamForm::AwsFrames;
  if (has("ndjson")) return StreamForm::Lines;
  return has("json") ? StreamForm::JsonArray : StreamForm::Events;
}

}  // namespace

std::string compact_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char byte = json[i];
    if (in_string && byte == '\\') {
      out += byte;
      if (++i < json.size()) out += json[i];
      continue;
    }
    if (byte == '"') in_string = !in_string;
    const bool space = byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
    if (in_string || !space) out += byte;
  }
  return out;
}

Result<Recording> read_recording(std::string_view text, std::string name) {
  if (const auto error = wire::check_json(text)) {
    return fail(broken(name, fmt::format("{} at byte {}", error->reason, error->offset)));
  }
  const JsonValue file(text);
  const auto response = file.member("response");
  if (!response || !response->is_object()) return fail(broken(name, "has no response object"));
  Recording recording;
  recording.provider = text_of(file, "provider");
  recording.endpoint = text_of(file, "endpoint");
  recording.method = text_of(file, "method");
  if (recording.method.empty()) recording.method = "POST";
  recording.fidelity = text_of(file, "fidelity");
  const auto stream = file.member("stream");
  recording.stream = stream && stream->is_true();
  if (const auto request = file.member("request"); request && !request->is_null()) {
    recording.request = request->is_string() ? request->string() : std::string(request->text());
    recording.model = text_of(*request, "model");
  }
  const auto status = response->member("status");
  recording.status = static_cast<int>(status ? status->integer().value_or(0) : 0);
  if (recording.status < 100 || recording.status > 599)
    return fail(broken(name, "response.status is no HTTP status"));
  if (const auto headers = response->member("headers"); headers && headers->is_object()) {
    for (JsonMembers members(*headers); members.next();) {
      std::string value =
          members.value().is_string() ? members.value().string() : std::string(members.value().text());
      if (!wire::is_token(members.raw_key()) || !wire::is_safe_field_value(value)) {
        return fail(broken(name, fmt::format("header {} cannot be sent", members.raw_key())));
      }
      recording.headers.emplace_back(members.raw_key(), std::move(value));
    }
  }
  QQ_TRY(recording.body, body_of(*response, name));
  recording.name = std::move(name);
  return recording;
}

Result<std::vector<Recording>> load_recordings(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  if (error) {
    return fail(Error::gateway(ErrorKind::Config, fmt::format("cannot read the recordings folder {}: {}",
                                                              folder.string(), error.message())));
  }
  std::ranges::sort(files);
  std::vector<Recording> recordings;
  recordings.reserve(files.size());
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    std::filesystem::path name = file.lexically_relative(folder);
    QQ_TRY(Recording recording, read_recording(text, name.replace_extension().generic_string()));
    recordings.push_back(std::move(recording));
  }
  return recordings;
}

Reply recorded_reply(const Recording& recording) {
  Reply reply;
  reply.status = recording.status;
  reply.content_type.clear();
  for (const auto& [name, value] : recording.headers) {
    if (wire::iequals(name, "content-type")) {
      reply.content_type = value;
    } else {
      reply.fields.emplace_back(name, value);
    }
  }
  // A stream that was refused got a plain answer.
  reply.stream = recording.stream && recording.status < 300;
  reply.form = form_of(reply.content_type);
  // So did those whose provider answers whole what it was asked to stream.
  if (reply.form == StreamForm::JsonArray && !recording.body.starts_with('[')) reply.stream = false;
  if (reply.stream) {
    reply.pieces = cut_stream(recording.body, reply.form);
  } else {
    reply.pieces.push_back({recording.body});
  }
  reply.what = "recording " + recording.name;
  return reply;
}

}  // namespace qq::simulator
