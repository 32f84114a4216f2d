// The buffers of request bodies that have ended, kept for the next ones: the general allocator takes the long
// way for blocks of more than a KiB, and gives larger ones back to the system again and again.
//
// By size, so that a small body that waits for a slow answer never holds a large buffer. One per loop; what
// it keeps is at most kKeptMax buffers of every size, 2 MiB altogether.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>

namespace qq::relay {

class SpareBodies {
 public:
  static constexpr std::size_t kSizeMax = 64 * 1024;

  // An empty text with room for `bytes`. Beyond kSizeMax there is no more than that at first.
  [[nodiscard]] std::string take(std::size_t bytes) {
    const std::size_t size = std::bit_ceil(std::clamp(bytes, kSizeMin, kSizeMax));
    Shelf& shelf = shelf_of(size);
    if (shelf.count > 0) return std::move(shelf.bodies[--shelf.count]);
    std::string body;
    body.reserve(size);
    return body;
  }
  // Any text; one of another size than `take` makes is freed.
  void give_back(std::string body) noexcept {
    const std::size_t size = body.capacity();
    if (size < kSizeMin || size > kSizeMax || !std::has_single_bit(size)) return;
    Shelf& shelf = shelf_of(size);
    if (shelf.count == kKeptMax) return;
    body.clear();
    shelf.bodies[shelf.count++] = std::move(body);
  }

 private:
  static constexpr std::size_t kSizeMin = 2 * 1024;
  static constexpr std::size_t kKeptMax = 16;  // as many as a busy loop relays at once

  struct Shelf {
    std::array<std::string, kKeptMax> bodies;
    std::size_t count = 0;
  };
  Shelf& shelf_of(std::size_t size) noexcept {
    return shelves_[static_cast<std::size_t>(std::countr_zero(size) - std::countr_zero(kSizeMin))];
  }

  std::array<Shelf, 6> shelves_;  // 2, 4, ... 64 KiB
};

}  // namespace qq::relay
