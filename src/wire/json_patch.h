// Edits of a JSON object's bytes that leave everything else byte for byte as it was. Edits are collected
// against the original text and applied in one pass, or emitted as pieces for a gathered write.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.h"

namespace qq::wire {

// The smallest edit: `text` in place of what stands in `value`, a string of `original`. Where `text` needs no
// escapes, as names do, nothing is copied and the quotes are the original's own; else `own` holds it as JSON.
// Views into the three.
std::array<std::string_view, 3> with_other_string(std::string_view original, JsonValue value,
                                                  std::string_view text, std::string& own);

class JsonPatch {
 public:
  // `original` must stay alive and hold a checked document.
  explicit JsonPatch(std::string_view original) : original_(original) {}

  // Replaces the bytes of `value` (a view into the original) by `json`.
  void replace(JsonValue value, std::string json);
  // Adds `"key":json` in front of the members of `object` (a view into the original); of several, in the
  // order of the calls.
  void add_member(JsonValue object, std::string_view key, std::string_view json);
  // Removes the member of `object` whose value is `value`, with its key and one comma. At most one edit
  // may touch a member; removing two neighbours works. Edits inside something that is replaced or
  // removed are dropped.
  void remove_member(JsonValue object, JsonValue value);
  // Removes these bytes of the original. That JSON is left is the caller's to see to.
  void cut(std::string_view bytes);

  [[nodiscard]] bool empty() const noexcept { return edits_.empty() && objects_.empty(); }
  [[nodiscard]] std::string apply() const;
  // The same text as views, valid as long as the original and this patch stay as they are.
  [[nodiscard]] std::vector<std::string_view> pieces() const;

 private:
  struct Edit {
    std::size_t begin;
    std::size_t end;
    std::string text;
  };
  // Members added to and removed from one object. Where the commas go is decided when all are known.
  struct Object {
    JsonValue object;
    std::string added;
    std::vector<std::size_t> removed;  // where the values begin
  };
  struct Splice {
    std::size_t begin;
    std::size_t end;
    std::string_view text;
    std::size_t order = 0;
  };
  std::size_t offset(JsonValue value) const;
  Object& touch(JsonValue object);
  void splice(const Object& touched, std::vector<Splice>& splices) const;

  std::string_view original_;
  std::vector<Edit> edits_;
  std::vector<Object> objects_;
};

}  // namespace qq::wire
