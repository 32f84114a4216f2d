// Recorded exchanges with real providers: one JSON file each, `<folder>/<provider>/<stem>.json`, in the
// shape that docs/sim-provider.md describes (`endpoint`, `request`, `response{status, headers, body}`).
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulator/provider/reply.h"

namespace qq::simulator {

struct Recording {
  std::string name{};  // "openai/chat-chat-completion-0"
  std::string provider{};
  std::string endpoint{};  // path and query
  std::string method{};    // "POST" unless the file says otherwise
  std::string fidelity{};  // "wire": the body is the provider's bytes
  std::string request{};   // the JSON as sent; empty if the file has none
  std::string model{};     // of the request; may be empty
  bool stream = false;
  int status = 200;
  HeaderFields headers{};
  std::string body{};  // a text body byte for byte; a JSON value without the file's indentation
};

// One file's text. `name` is for the result and for errors.
Result<Recording> read_recording(std::string_view text, std::string name);

// Every *.json below `folder`, sorted by name. A file that cannot be read is an error (Config).
Result<std::vector<Recording>> load_recordings(const std::filesystem::path& folder);

// The recording as a reply: a stream is cut into its events, whatever line ends it uses.
Reply recorded_reply(const Recording& recording);

// JSON without the white space between its tokens; strings and numbers stay as they are.
std::string compact_json(std::string_view json);

}  // namespace qq::simulator
