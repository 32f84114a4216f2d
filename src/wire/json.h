// A strict JSON reader (RFC 8259) that walks bytes in place: no DOM, no allocation. It is the one reader
// on the request path: it checks the whole document and gives byte ranges, so that a body can be patched
// without being re-serialised.
//
// Strict: JSONTestSuite's must-accept and must-reject cases hold; UTF-8 is checked; depth and node count
// are capped. Numbers stay text (big integers and 1e400 are legal); lone-surrogate escapes are legal and
// kept.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qq::wire {

inline constexpr std::size_t kJsonDepthMax = 1024;  // whatever the limits say

struct JsonLimits {
  std::size_t depth_max = 256;        // at most kJsonDepthMax
  std::size_t nodes_max = 2'000'000;  // values and members
  bool check_utf8 = true;             // off for a provider's answer, whose bytes pass through as they are
};

struct JsonError {
  enum class Limit : std::uint8_t { None, Depth, Nodes };
  std::size_t offset = 0;
  const char* reason = "";    // a literal, e.g. "expected ',' or '}'"
  Limit limit = Limit::None;  // what the text exceeds, though it may be JSON
};

// The first values of a document, noted while it is checked, so that a walk need not read them again. Values
// that lie more than `depth` containers deep are not noted; of a document with more than kMax others nothing
// is, and it is walked by reading.
struct JsonOutline {
  static constexpr std::size_t kMax = 64;
  static constexpr std::size_t kDepthMax = 6;
  struct Node {
    const char* key;  // behind its quote; means something for members only, as the three below
    const char* begin;
    const char* end;
    const Node* next;  // the node behind this one and all that is noted of its inside
    std::uint32_t key_size;
    bool key_escapes;
    bool opened;  // if it is a container, its own values are noted, next to it
  };

  explicit JsonOutline(std::size_t depth_wanted) noexcept : depth(depth_wanted) {}
  JsonOutline(const JsonOutline&) = delete;
  JsonOutline& operator=(const JsonOutline&) = delete;

  std::array<Node, kMax> nodes;  // in the document's order
  std::size_t count = 0;
  std::size_t depth;  // at most kDepthMax
  bool complete = false;
};

// Checks the whole of `text`: one value with only white space around it. Nothing = valid. `outline`, if
// given, is filled for a walk of the same bytes; it means nothing after an error.
std::optional<JsonError> check_json(std::string_view text, const JsonLimits& limits = {},
                                    JsonOutline* outline = nullptr) noexcept;

enum class JsonType : std::uint8_t { Object, Array, String, Number, True, False, Null };

// One value inside a document that `check_json` accepted: a view of its exact bytes (quotes and braces
// included). Cheap to copy. All calls below take time linear in the value's own bytes, and must only be
// used on checked documents.
class JsonValue {
 public:
  JsonValue() = default;
  // White space around the value is skipped.
  explicit JsonValue(std::string_view text) noexcept : text_(text) {
    while (!text_.empty() && static_cast<unsigned char>(text_.front()) <= ' ') text_.remove_prefix(1);
    while (!text_.empty() && static_cast<unsigned char>(text_.back()) <= ' ') text_.remove_suffix(1);
  }

  [[nodiscard]] JsonType type() const noexcept;
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] bool is_string() const noexcept { return !text_.empty() && text_[0] == '"'; }
  [[nodiscard]] bool is_object() const noexcept { return !text_.empty() && text_[0] == '{'; }
  [[nodiscard]] bool is_array() const noexcept { return !text_.empty() && text_[0] == '['; }
  [[nodiscard]] bool is_null() const noexcept { return text_ == "null"; }
  [[nodiscard]] bool is_true() const noexcept { return text_ == "true"; }
  [[nodiscard]] bool is_false() const noexcept { return text_ == "false"; }

  // The string between the quotes, escapes untouched; empty for other types.
  [[nodiscard]] std::string_view raw_string() const noexcept;
  // The string decoded (lone surrogates become U+FFFD).
  [[nodiscard]] std::string string() const;
  // A non-negative or negative integer that fits; nothing for fractions, exponents and overflow.
  [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
  // True for "" and for strings of white space (including escaped \n, \t, \r) only.
  [[nodiscard]] bool is_blank_string() const noexcept;

  // An object's member (keys compared unescaped; of duplicates the first); nothing if absent or no object.
  [[nodiscard]] std::optional<JsonValue> member(std::string_view key) const noexcept;
  // member(a).member(b)...
  template <typename... Keys>
  [[nodiscard]] std::optional<JsonValue> at(std::string_view key, Keys... rest) const noexcept {
    auto found = member(key);
    if constexpr (sizeof...(rest) > 0) {
      return found ? found->at(rest...) : std::nullopt;
    } else {
      return found;
    }
  }

 private:
  friend class JsonWalk;
  struct Exact {};
  JsonValue(Exact, const char* begin, const char* end) noexcept
      : text_(begin, static_cast<std::size_t>(end - begin)) {}

  std::string_view text_;
};

// The part that JsonMembers and JsonElements share. With an outline the walk goes over its nodes. Otherwise
// the value at hand is only read when it is asked for or passed over. A container in it can be walked in the
// same pass:
//   for (JsonMembers members(object); members.next();) {
//     for (auto elements = JsonElements::inside(members); elements.next();) ...
//   }
class JsonWalk {
 public:
  JsonWalk(const JsonWalk&) = delete;
  JsonWalk& operator=(const JsonWalk&) = delete;

  [[nodiscard]] JsonValue value() const noexcept {
    if (after_ == nullptr) after_ = behind_value();
    return {JsonValue::Exact{}, begin_, after_};
  }
  // What the value at hand is, without reading it.
  [[nodiscard]] bool is_string() const noexcept { return begin_ != end_ && *begin_ == '"'; }
  [[nodiscard]] bool is_object() const noexcept { return begin_ != end_ && *begin_ == '{'; }
  [[nodiscard]] bool is_array() const noexcept { return begin_ != end_ && *begin_ == '['; }
  [[nodiscard]] bool is_null() const noexcept { return begin_ != end_ && *begin_ == 'n'; }

 protected:
  JsonWalk(JsonValue container, char open) noexcept;
  JsonWalk(JsonValue container, char open, const JsonOutline& outline) noexcept;
  JsonWalk(JsonWalk& outer, char open) noexcept;  // `outer` outlives this
  ~JsonWalk() = default;
  // Moves to the next node of an outline; false at the container's end.
  bool next_node() noexcept {
    if (next_ == stop_) {
      begin_ = after_ = end_;
      return false;
    }
    node_ = next_;
    next_ = node_->next;
    begin_ = node_->begin;
    after_ = node_->end;
    return true;
  }
  // Moves to the first byte of the next member or element; false at the container's end.
  bool advance() noexcept;
  bool step() noexcept;  // the same, to be made part of its caller
  [[nodiscard]] const char* behind_value() const noexcept;

  const char* begin_ = nullptr;          // of the value at hand; before the first one, where the walk begins
  mutable const char* after_ = nullptr;  // behind that value, if it is known
  const char* end_ = nullptr;            // nothing is read from there on
  JsonWalk* outer_ = nullptr;            // whose value at hand this container is
  const JsonOutline::Node* stop_ = nullptr;  // behind the container's nodes, if there is an outline
  const JsonOutline::Node* next_ = nullptr;
  const JsonOutline::Node* node_ = nullptr;  // of the value at hand
};

// Walks an object's members in order, in one pass.
//   for (JsonMembers members(object); members.next();) members.key() ... members.value()
class JsonMembers : public JsonWalk {
 public:
  explicit JsonMembers(JsonValue object) noexcept : JsonWalk(object, '{') {}
  // `outline`: of the check of this very object; outlives the walk.
  JsonMembers(JsonValue object, const JsonOutline& outline) noexcept : JsonWalk(object, '{', outline) {}
  // Of the object that is the value at hand of `outer`, which then goes on behind it. No object: no members.
  [[nodiscard]] static JsonMembers inside(JsonWalk& outer) noexcept { return JsonMembers(outer, '{'); }
  bool next() noexcept {
    if (stop_ == nullptr) return read_next();
    if (!next_node()) return false;
    key_ = {node_->key, node_->key_size};
    key_escapes_ = node_->key_escapes;
    return true;
  }
  [[nodiscard]] std::string_view raw_key() const noexcept { return key_; }  // without quotes, escaped
  [[nodiscard]] bool key_escapes() const noexcept { return key_escapes_; }  // it has a backslash
  // The key unescaped equals `name`. Fast when there is no backslash.
  [[nodiscard]] bool key_is(std::string_view name) const noexcept {
    return key_escapes_ ? escaped_key_is(name) : key_ == name;
  }

 private:
  JsonMembers(JsonWalk& outer, char open) noexcept : JsonWalk(outer, open) {}
  bool read_next() noexcept;
  [[nodiscard]] bool escaped_key_is(std::string_view name) const noexcept;

  std::string_view key_;
  bool key_escapes_ = false;
};

// Walks an array's elements in order, in one pass.
class JsonElements : public JsonWalk {
 public:
  explicit JsonElements(JsonValue array) noexcept : JsonWalk(array, '[') {}
  // Of the array that is the value at hand of `outer`, which then goes on behind it. No array: no elements.
  [[nodiscard]] static JsonElements inside(JsonWalk& outer) noexcept { return JsonElements(outer, '['); }
  bool next() noexcept { return stop_ != nullptr ? next_node() : advance(); }

 private:
  JsonElements(JsonWalk& outer, char open) noexcept : JsonWalk(outer, open) {}
};

// Whether `text` stands between a JSON string's quotes as it is: ASCII with nothing to escape, as nearly all
// names are. False for what is other than ASCII, though it may need no escape either.
bool is_plain_in_json(std::string_view text) noexcept;

// Appends `text` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace qq::wire
