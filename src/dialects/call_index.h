// The calls of a conversation, by id and by name, and which of them a result answers. Ids may come again in a
// later turn, and some dialects have none: then a result is that of the first open call of its name.
//
// Every step takes logarithmic time, whatever a client sends: a body of the largest size holds some 200,000
// calls. The trees are ordered and not hashed, since a client chooses the keys.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/part.h"

namespace qq::dialects {

class CallIndex {
 public:
  // Which calls are found by their names and their order: those without ids, or all.
  enum class ByName : std::uint8_t { WithoutId, All };
  explicit CallIndex(ByName by_name = ByName::WithoutId) noexcept : by_name_(by_name) {}

  // The call's number: 0, 1, 2, …
  std::size_t add(std::string_view id, std::string_view name);
  // The first call of this id (not empty), or of this name (empty: of any), that is not closed yet.
  std::optional<std::size_t> open_with_id(std::string_view id);
  std::optional<std::size_t> open_named(std::string_view name);
  // The last of them, closed or not.
  [[nodiscard]] std::optional<std::size_t> last_with_id(std::string_view id) const;
  [[nodiscard]] std::optional<std::size_t> last_named(std::string_view name) const;
  // Its result is there.
  void close(std::size_t call) { closed_[call] = true; }

 private:
  struct Line {
    std::vector<std::size_t> calls;
    std::size_t closed = 0;  // that many of the first
  };
  using Lines = std::map<std::string, Line, std::less<>>;
  std::optional<std::size_t> first_open(Line& line) const;

  ByName by_name_;
  std::vector<bool> closed_;
  Lines with_id_;
  Lines named_;
  Line any_;
};

// The states that a turn or a conversation holds already: what ids carry is put back once.
class KnownStates {
 public:
  // False if it was there.
  bool add(const model::OpaqueState& state);
  void add(const std::vector<model::Part>& parts);

 private:
  std::set<std::pair<model::Dialect, std::string>> states_;
};

}  // namespace qq::dialects
