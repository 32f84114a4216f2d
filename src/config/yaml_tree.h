// YAML text to a tree of nodes with their places, and nothing that YAML would guess: scalars stay text.
//
// Built from yaml-cpp's parser events rather than its node tree, so that duplicate keys are still visible,
// the size of the tree is bounded while it is read, and no alias is ever followed. Refused: anchors, aliases
// and merge keys, tags, several documents, control characters, invalid UTF-8, and more than the caps below.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"

namespace qq::config {

inline constexpr std::size_t kMaxFileBytes = 4U << 20U;  // a configuration of 10,000 keys is about 2 MiB
inline constexpr std::size_t kMaxNodes = 200'000;
inline constexpr int kMaxDepth = 24;  // the definition needs 9

struct Entry;

struct Node {
  enum class Kind : std::uint8_t { Null, Scalar, Sequence, Map };
  Kind kind = Kind::Null;
  Mark mark;
  bool plain = false;          // a scalar without quotes: YAML readers guess its type
  std::string text;            // of a scalar; of a null as it was written ("~", "null" or nothing)
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a map, in order, duplicates included
};

struct Entry {
  Node key;
  Node value;
};

// The document's root; nothing if it cannot be read, and then `out` says why.
std::optional<Node> parse_yaml(std::string_view text, Diagnostics& out);

// "a list", "a map", "text", "nothing": for messages.
std::string_view describe(const Node& node);

}  // namespace qq::config
