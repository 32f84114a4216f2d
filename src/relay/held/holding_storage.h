// Where the gateway notes which account holds which of its callers' files and batches: what an operator
// writes under `storage.objects`. The store itself is the port holding_store.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace qq::relay {

enum class HoldingBackend : std::uint8_t {
  None,    // files and batches are not offered
  Memory,  // of this process: after its end nobody finds what was made
  Sqlite,  // in a file, which several processes of one machine may share
};

struct HoldingLimits {
  Milliseconds ttl{};
  std::size_t owner_entries_max = 0;  // beyond it nothing more is made for an owner
};

struct HoldingStorage {
  std::optional<HoldingBackend> backend;  // nothing: by `path`
  std::string path;                       // of the SQLite file; its folder exists
  // A guess: longer than any provider keeps a batch's results (a month), and each look at an object renews
  // it.
  Milliseconds ttl{std::chrono::hours{180 * 24}};
  std::size_t owner_entries_max = 10'000;  // a guess

  [[nodiscard]] HoldingBackend chosen() const noexcept {
    return backend.value_or(path.empty() ? HoldingBackend::Memory : HoldingBackend::Sqlite);
  }
  [[nodiscard]] HoldingLimits limits() const noexcept { return {ttl, owner_entries_max}; }
};

}  // namespace qq::relay
