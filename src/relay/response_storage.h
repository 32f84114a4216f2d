// Where answers and conversations are kept, and how much of them: what an operator writes under
// `storage.responses`. The store itself is the port response_store.h.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace qq::relay {

enum class ResponseBackend : std::uint8_t {
  None,    // nothing is kept, here or at a provider: a request that names an earlier answer is refused
  Memory,  // of this process, and gone with it
  Sqlite,  // in a file, which several processes of one machine may share
};

// What a store keeps. Its bytes are those that `bytes_of` counts (response_store.h). At least twice
// `entry_bytes_max` is `owner_bytes_max`, so that an answer and the conversation it belongs to fit together,
// and `total_bytes_max` is no less than `owner_bytes_max`.
struct ResponseLimits {
  Milliseconds ttl{};
  std::size_t entry_bytes_max = 0;    // of one answer with its input, or of one whole conversation
  std::size_t owner_bytes_max = 0;    // of all that one owner has
  std::size_t owner_entries_max = 0;  // answers and conversations of one owner; at least two
  std::size_t total_bytes_max = 0;    // of all owners
};

struct ResponseStorage {
  std::optional<ResponseBackend> backend;         // nothing: by `path`
  std::string path;                               // of the SQLite file; its folder exists
  Milliseconds ttl{std::chrono::hours{30 * 24}};  // as long as OpenAI keeps answers
  std::size_t entry_max = 16U << 20U;             // a guess: 400 KB prompts are common, pictures are larger
  std::size_t owner_max = 0;                      // 0: a quarter of the total
  std::size_t owner_entries_max = 100'000;        // a guess
  std::size_t total_max = 0;                      // 0: by the backend

  [[nodiscard]] ResponseBackend chosen() const noexcept {
    return backend.value_or(path.empty() ? ResponseBackend::Memory : ResponseBackend::Sqlite);
  }
  // With what the zeros stand for.
  [[nodiscard]] ResponseLimits limits() const noexcept {
    constexpr std::size_t kInMemory = std::size_t{256} << 20U;
    constexpr std::size_t kInAFile = std::size_t{16} << 30U;
    const std::size_t usual = chosen() == ResponseBackend::Sqlite ? kInAFile : kInMemory;
    ResponseLimits limits{ttl, entry_max, owner_max, owner_entries_max, total_max};
    if (limits.owner_bytes_max == 0) {
      limits.owner_bytes_max = std::max((total_max == 0 ? usual : total_max) / 4, 2 * entry_max);
    }
    if (limits.total_bytes_max == 0) limits.total_bytes_max = std::max(usual, limits.owner_bytes_max);
    return limits;
  }
};

}  // namespace qq::relay
