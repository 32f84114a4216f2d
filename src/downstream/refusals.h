// What a client is told whose request does not come to the relay.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/endpoint.h"
#include "wire/http_head.h"

namespace qq::downstream {

// Where a limit is exceeded, the message names it and the setting that raises it, if there is one.
Error too_large(std::size_t body_max);
Error malformed_head(const wire::HeadVerdict& verdict, const wire::HeadLimits& limits);
// A limit of ours is reached: come back in a second.
Error saturated(std::string text);
Error short_of_memory();
Error too_slow();
Error too_many_bodies();
Error malformed_body(const char* reason);
Error client_left_inside();

// What a path of the API is asked with: the Allow of a 405 (RFC 9110 15.5.6).
std::string_view allowed_methods(std::string_view path) noexcept;

// What a refusal must know of the path, of which the log has the beginning only.
struct AskedPath {
  static AskedPath at(std::string_view path) noexcept;
  // Where a path is of several dialects, the head says whose.
  static AskedPath of(const wire::RequestHead& head) noexcept;
  model::Dialect dialect = model::Dialect::OpenAiChat;
  std::string_view allowed;  // allowed_methods
};

// Of what a caller sent, in the log and in the words of an error.
inline constexpr std::size_t kShownMax = 200;

}  // namespace qq::downstream
