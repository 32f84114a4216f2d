#include "relay/admit.h"

#include <array>

#include "admission/bearer.h"

namespace qq::relay {
namespace {

// What a provider may need to see of the client's head. Never credentials, cookies, organisation headers
// (they belong to our account there), forwarding chains or hop-by-hop fields.
constexpr std::array<std::string_view, 2> kForwarded = {"openai-beta", "accept-language"};

// Takes `value`; false if the header came before.
bool take_once(std::optional<std::string_view>& into, std::string_view value) noexcept {
  if (into) return false;
  into = value;
  return true;
}

// One of the headers that carry a key; false if it is repeated: which of two keys is meant must not depend on
// the reader.
bool take_key_header(const wire::Field& field, admission::KeyHeaders& headers) noexcept {
  switch (field.name.size()) {
    case 7: return !wire::iequals(field.name, "api-key") || take_once(headers.api_key, field.value);
    case 9: return !wire::iequals(field.name, "x-api-key") || take_once(headers.x_api_key, field.value);
    case 13:
      return !wire::iequals(field.name, "authorization") || take_once(headers.authorization, field.value);
    default: return true;
  }
}

}  // namespace

std::optional<model::Endpoint> endpoint_of(std::string_view path) noexcept {
  if (!path.starts_with("/v1/")) return std::nullopt;
  path.remove_prefix(4);
  if (path == "chat/completions") return model::Endpoint::ChatCompletions;
  if (path == "responses") return model::Endpoint::Responses;
  if (path == "completions") return model::Endpoint::Completions;
  if (path == "embeddings") return model::Endpoint::Embeddings;
  if (path == "moderations") return model::Endpoint::Moderations;
  if (path == "images/generations") return model::Endpoint::ImagesGenerations;
  return std::nullopt;
}

Result<std::reference_wrapper<const admission::KeyEntry>> authenticate(const Snapshot& snapshot,
                                                                       const wire::Fields& fields) {
  admission::KeyHeaders headers;
  for (const wire::Field& field : fields.all()) {
    if (!take_key_header(field, headers)) {
      return fail(Error::client(ErrorKind::InvalidRequest,
                                "the request repeats a header that carries its key; send it once"));
    }
  }
  QQ_TRY(const std::string_view presented, admission::presented_key(headers));
  const admission::KeyEntry* entry = snapshot.keys.find(presented);
  if (entry == nullptr) {
    return fail(Error::client(ErrorKind::Unauthorized,
                              "this API key is not known here; use a key that this gateway issued"));
  }
  return *entry;
}

std::string forwarded_header_lines(const wire::Fields& fields) {
  std::string lines;
  for (const wire::Field& field : fields.all()) {
    for (const std::string_view name : kForwarded) {
      if (field.name.size() == name.size() && wire::iequals(field.name, name) &&
          wire::is_safe_field_value(field.value)) {
        lines.append(name).append(": ").append(field.value).append("\r\n");
      }
    }
  }
  return lines;
}

}  // namespace qq::relay
