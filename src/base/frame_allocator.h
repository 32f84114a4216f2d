// For the containers that a request keeps in its frames: their memory comes from the frames' pool, as the
// general allocator takes the long way as soon as more than a handful of requests are under way.
#pragma once
#include <cstddef>

#include "base/frame_pool.h"

namespace qq {

template <typename T>
struct FrameAllocator {
  using value_type = T;
  static_assert(alignof(T) <= alignof(std::max_align_t));

  FrameAllocator() noexcept = default;
  template <typename Other>
  explicit FrameAllocator(const FrameAllocator<Other>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(detail::FramePool::allocate(count * sizeof(T)));
  }
  void deallocate(T* values, std::size_t count) noexcept {
    detail::FramePool::release(values, count * sizeof(T));
  }
  // What one has allocated any other may release.
  bool operator==(const FrameAllocator&) const noexcept = default;
};

}  // namespace qq
