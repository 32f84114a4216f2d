// Who is asking? The client keys of one configuration, found by the digest of what was presented.
//
// Immutable after `make`, so every thread may read it; part of the snapshot. A look-up hashes once (0.5 µs
// in all, measured) and allocates nothing.
//
// An unknown key and a disabled one are answered alike and take the same time: a disabled key is not in the
// table at all, and the table takes the same time for whatever it does not hold (digest_table.h).
//
// Keys need not have our own format: an operator's old strings work once their hash is configured. The
// checksum of ours is for whoever hashes them (`queqiao keys hash`): a mistyped key has another digest, and
// to check it first would cost each good request more than it saves.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/digest_table.h"
#include "admission/key_config.h"
#include "admission/key_hash.h"
#include "base/result.h"

namespace qq::admission {

struct KeyEntry {
  std::string name;
  std::string owner;
  std::vector<std::string> allow;  // sorted; empty: every route
};

// Whether this key may use the route or model of this name.
bool may_use(const KeyEntry& entry, std::string_view route) noexcept;

class KeyRing {
 public:
  // Longer ones are nobody's key; a bound on what a stranger makes us hash.
  static constexpr std::size_t kPresentedMax = 512;  // bytes

  // Knows no key and finds none.
  KeyRing() = default;
  // Errors: Config, with `param` such as "keys[2].hash": a malformed hash, a name or a hash used twice.
  static Result<KeyRing> make(std::span<const KeyConfig> keys, KeyHasher hasher);

  // The key's entry, valid as long as the ring; nothing if it is unknown, disabled or malformed.
  [[nodiscard]] const KeyEntry* find(std::string_view presented_key) const;
  // How many keys are configured, disabled ones included.
  [[nodiscard]] std::size_t size() const noexcept { return configured_; }

 private:
  std::optional<KeyHasher> hasher_;
  DigestTable table_;
  std::vector<KeyEntry> entries_;  // in the table's order
  std::size_t configured_ = 0;
};

}  // namespace qq::admission
