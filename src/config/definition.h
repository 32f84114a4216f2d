// The configuration's definition: every key with its type, range, default and meaning, once. From this one
// table come the loader (load.h), the suggestions for mistyped keys, the JSON Schema and the reference in
// docs/configuration.md (schema.h), and what a reload reports as changed (diff.h).
//
// A section describes one kind of map in the file and fills one struct; fields know that struct's members
// behind `void*`, which `field_builders.h` makes from member pointers, so that the types agree.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/scalar.h"

namespace qq::config {

struct Section;

enum class FieldType : std::uint8_t {
  Text,
  Secret,  // text that is never shown
  Boolean,
  Integer,
  Number,
  Duration,
  Size,
  Tokens,
  Word,   // one of `words`
  Words,  // a list of `words`
  Texts,  // a list of text
  Map,    // one map: `section`
  Maps,   // a list of maps: `section`
};

enum class Presence : std::uint8_t { Optional, Required };
// Whether a running gateway takes a change over when the file is reloaded.
enum class Effect : std::uint8_t { Reload, Restart };

struct Field {
  std::string_view key;
  FieldType type = FieldType::Text;
  Presence presence = Presence::Optional;
  Effect effect = Effect::Reload;
  std::string_view doc;      // one line of Markdown, for the reference and the schema
  std::string default_note;  // what holds when the key is absent, where the struct's value does not tell
  double minimum = 0;        // inclusive, in base units: ms, bytes, tokens
  double maximum = 0;
  std::size_t min_items = 0;       // of lists
  std::size_t max_length = 1024;   // of text, in bytes
  bool lines = false;              // of text: it may have line breaks
  std::string_view pattern;        // of text: an anchored ECMA regular expression for the schema ...
  std::string_view pattern_words;  // ... and in words, for messages
  std::function<bool(std::string_view)> matches;  // the same in code; absent: any text
  std::vector<std::string_view> words;  // of Text: values for editors to offer; `check` has the last word
  std::vector<std::string_view> often_written;  // other products' names of this key, for suggestions
  std::string_view example;                     // for the reference
  std::string_view identity;                    // of Maps: the key that names an element in messages
  const Section* section = nullptr;

  // Scalars and the elements of Words and Texts: stores the value, or says what was expected instead.
  std::function<std::string(void* object, const Scalar& value)> store;
  // Words and Texts: forgets the default before the first element.
  std::function<void(void* object)> clear;
  // Map: the struct that its keys fill. Maps: a new element.
  std::function<void*(void* object)> open;
  // The stored value in the file's spelling (lists joined by ", "), for defaults and comparison. Secrets too:
  // the caller must not show those.
  std::function<std::string(const void* object)> read;
  // Map and Maps: what there is.
  std::function<std::vector<const void*>(const void* object)> elements;
};

struct Section {
  std::string_view name;  // in the reference: "providers[].accounts[]"; the root's is empty
  std::string_view id;    // in the schema: "account"
  std::string_view doc;
  std::vector<Field> fields;
  std::function<const void*()> defaults;  // a default-made struct

  [[nodiscard]] const Field* find(std::string_view key) const;
  // What holds when the key is absent, as the reference prints it; empty for required keys and where nothing
  // does.
  [[nodiscard]] std::string default_of(const Field& field) const;
};

// The whole file: fills a config::Config.
const Section& root_section();
// Every section once, in the order in which the reference tells them.
std::vector<const Section*> all_sections();

}  // namespace qq::config
