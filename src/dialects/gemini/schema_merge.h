// The reading half of schema.h: which words there are, and what a schema says together with those it refers
// to and those it is made of.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/gemini/schema.h"
#include "wire/json.h"

namespace qq::dialects::gemini {

enum class Word : std::uint8_t {
  Type,
  Nullable,
  Enum,
  Const,
  Properties,
  Required,
  Items,
  PrefixItems,
  AdditionalProperties,
  AnyOf,
  OneOf,
  AllOf,
  Ref,
  Format,
  Plain,   // written as it is: both forms have it
  Silent,  // says nothing about the values
};

struct NamedWord {
  std::string_view name;
  Word word;
};
inline constexpr std::size_t kWordCount = 33;
// Nothing for words that neither form has.
const NamedWord* named_word(std::string_view key) noexcept;
std::size_t index_of(const NamedWord& word) noexcept;  // below kWordCount

bool is_null_schema(wire::JsonValue schema) noexcept;

// What several schemas say together of one value: one with what it refers to and what its allOf adds.
struct Merged {
  std::vector<wire::JsonValue> sources;
  bool nullable = false;
  wire::JsonValue choices;    // of more than one
  std::string_view kept_ref;  // JsonSchema: into $defs
  bool follows = false;       // none is kept: the outermost schema must be an object to be seen

  [[nodiscard]] wire::JsonValue find(std::string_view word) const noexcept {
    for (const wire::JsonValue source : sources) {
      if (const auto value = source.member(word)) return *value;
    }
    return {};
  }
  [[nodiscard]] bool has(std::string_view word) const noexcept { return !find(word).text().empty(); }
};

class SchemaMerger {
 public:
  SchemaMerger(wire::JsonValue root, SchemaForm form) noexcept
      : root_(root), form_(form), may_read_(kReadsFree + kReadsMost * root.text().size()) {}

  // What `schema` says; nothing of it once too much was read. References that are followed are remembered
  // until forget(marked).
  void gather(wire::JsonValue schema, Merged& merged);
  [[nodiscard]] std::size_t mark() const noexcept { return refs_.size(); }
  void forget(std::size_t marked) noexcept { refs_.resize(marked); }
  // From now on references are not followed: there is enough of it.
  void stop_following() noexcept { full_ = true; }
  [[nodiscard]] bool kept_refs() const noexcept { return refs_kept_; }

  void lose(std::string_view word);
  [[nodiscard]] std::vector<std::string>& lost() noexcept { return lost_; }

 private:
  struct Definition {
    std::string_view name;
    wire::JsonValue schema;
  };
  // What "#/$defs/Name" and other pointers into the document name; empty text if there is nothing.
  wire::JsonValue resolve(std::string_view pointer);
  [[nodiscard]] wire::JsonValue follow(std::string_view pointer) const;
  void gather_ref(std::string_view pointer, Merged& merged);
  void gather_choices(wire::JsonValue list, Merged& merged);

  // A schema is read again at each level and for each reference to it. More bytes than these cost a
  // stranger's schema more than any real one needs: (kReadsMost) times its size, and (kReadsFree) for small
  // ones.
  static constexpr std::size_t kReadsMost = 8;
  static constexpr std::size_t kReadsFree = 1024UL * 1024;

  wire::JsonValue root_;
  SchemaForm form_;
  std::size_t may_read_;
  std::vector<std::string> lost_;
  std::vector<Definition> defs_;  // by name
  bool defs_read_ = false;
  std::size_t pointers_ = 0;
  std::vector<std::string_view> refs_;  // that are being written
  bool refs_kept_ = false;
  bool full_ = false;
};

}  // namespace qq::dialects::gemini
