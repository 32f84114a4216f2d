// Edits of a JSON object's bytes that leave everything else byte for byte as it was. Edits are collected
// against the original text and applied in one pass, or emitted as pieces for a gathered write.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.h"

namespace qq::wire {

class JsonPatch {
 public:
  // `original` must stay alive and hold a checked document.
  explicit JsonPatch(std::string_view original) : original_(original) {}

  // Replaces the bytes of `value` (a view into the original) by `json`.
  void replace(JsonValue value, std::string json);
  // Adds `"key":json` as the first member of `object` (a view into the original).
  void add_member(JsonValue object, std::string_view key, std::string_view json);
  // Removes the member of `object` whose value is `value`, with its key and one comma. At most one edit
  // may touch a member; removing two neighbours works.
  void remove_member(JsonValue object, JsonValue value);

  [[nodiscard]] bool empty() const noexcept { return edits_.empty(); }
  [[nodiscard]] std::string apply() const;

 private:
  struct Edit {
    std::size_t begin;
    std::size_t end;
    std::string text;
  };
  std::string_view original_;
  std::vector<Edit> edits_;
};

}  // namespace qq::wire
