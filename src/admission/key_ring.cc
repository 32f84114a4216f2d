#include "admission/key_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_set>
#include <utility>

namespace qq::admission {
namespace {

Error wrong(std::size_t index, std::string_view field, std::string text) {
  Error error = Error::gateway(ErrorKind::Config, std::move(text));
  error.param = fmt::format("keys[{}].{}", index, field);
  return error;
}

}  // namespace

bool may_use(const KeyEntry& entry, std::string_view route) noexcept {
  return entry.allow.empty() || std::ranges::binary_search(entry.allow, route, std::less<std::string_view>{});
}

Result<KeyRing> KeyRing::make(std::span<const KeyConfig> keys, KeyHasher hasher) {
  KeyRing ring;
  ring.hasher_ = std::move(hasher);
  ring.configured_ = keys.size();
  std::unordered_set<std::string_view> names;
  std::map<KeyDigest, std::string_view> names_by_digest;
  std::vector<KeyDigest> digests;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const KeyConfig& key = keys[i];
    if (!names.insert(key.name).second) {
      return fail(wrong(i, "name", fmt::format("two keys are named \"{}\"", key.name)));
    }
    auto digest = parse_key_hash(key.hash);
    if (!digest) return fail(wrong(i, "hash", std::move(digest).error().message));
    const auto [first, is_new] = names_by_digest.emplace(*digest, key.name);
    if (!is_new) {
      return fail(wrong(i, "hash",
                        fmt::format("keys \"{}\" and \"{}\" have the same hash", first->second, key.name)));
    }
    if (!key.enabled) continue;
    KeyEntry entry{.name = key.name, .owner = key.owner.empty() ? key.name : key.owner, .allow = key.allow};
    std::ranges::sort(entry.allow);
    digests.push_back(*digest);
    ring.entries_.push_back(std::move(entry));
  }
  ring.table_ = DigestTable(digests);
  return ring;
}

const KeyEntry* KeyRing::find(std::string_view presented_key) const {
  if (!hasher_ || presented_key.empty() || presented_key.size() > kPresentedMax) return nullptr;
  const auto found = table_.find(hasher_->digest(presented_key));
  return found ? &entries_[*found] : nullptr;
}

}  // namespace qq::admission
