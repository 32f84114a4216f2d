// The recordings that can be played, and how one is picked: by name, or because the same request was sent
// when it was recorded.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/provider/asked.h"
#include "simulator/provider/recording.h"

namespace qq::simulator {

class Library {
 public:
  Library() = default;
  explicit Library(std::vector<Recording> recordings);
  Library(Library&&) = default;
  Library& operator=(Library&&) = default;
  Library(const Library&) = delete;

  // "openai/chat-chat-completion-0"; null if there is none.
  [[nodiscard]] const Recording* named(std::string_view name) const;

  // A recording of the same endpoint whose request says the same, apart from `model` (a gateway maps it),
  // `stream_options` (it may ask for usage) and the order of members; with several, one of the same model.
  [[nodiscard]] const Recording* matching(Route route, std::string_view body, std::string_view model) const;

  [[nodiscard]] const std::vector<Recording>& all() const noexcept { return recordings_; }

 private:
  std::vector<Recording> recordings_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_request_;
};

// What `matching` compares: equal for requests that say the same. `body` must be checked JSON.
std::uint64_t request_fingerprint(Route route, std::string_view body);

}  // namespace qq::simulator
