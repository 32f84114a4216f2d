// Reading a client's objects strictly: each member that is acted on at most once and written plainly, the
// rest kept. Errors name the place as the client wrote it, "messages[2].content[0].text".
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/part.h"
#include "wire/json.h"

namespace qq::dialects::openai_chat {

// A place in the request, put into words only for errors. Points at what it stands in.
struct Path {
  const Path* parent = nullptr;
  std::string_view name;  // empty: an element
  std::size_t index = 0;  // of an element
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Path operator[](std::size_t element) const { return {this, {}, element}; }
  [[nodiscard]] Path operator/(std::string_view member) const { return {this, member, 0}; }
};

// "'messages[0].role' must be …".
Error invalid_at(const Path& path, std::string_view what, std::string_view code = "invalid_value");

// `values[i]` becomes the value of the member `names[i]`, empty text if it is absent or null. What is not
// named goes to `extra`. Errors: no object, a member that is given twice or is spelled with escapes.
Result<> read_members(wire::JsonValue object, const Path& path, std::span<const std::string_view> names,
                      std::span<wire::JsonValue> values, model::ExtraFields& extra);

inline bool given(wire::JsonValue value) noexcept {
  return !value.text().empty();
}

// Into an optional (or a string that is empty when absent), if the member is given. Errors: another type.
Result<> read_into(wire::JsonValue value, const Path& path, std::optional<double>& out);
Result<> read_into(wire::JsonValue value, const Path& path, std::optional<std::int64_t>& out);
Result<> read_into(wire::JsonValue value, const Path& path, std::optional<bool>& out);
Result<> read_into(wire::JsonValue value, const Path& path, std::string& out);

// What a cache_control object says, by Anthropic's words, which OpenRouter took over.
Result<> read_into(wire::JsonValue value, const Path& path, std::optional<model::CacheMark>& out);

}  // namespace qq::dialects::openai_chat
