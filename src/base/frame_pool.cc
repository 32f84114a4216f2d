#include "base/frame_pool.h"

#include <utility>

namespace qq::detail {

void* FramePool::grow(std::size_t size) {
  struct EmptyAtEnd {
    EmptyAtEnd() noexcept { kept_max_ = kKeptMax; }
    EmptyAtEnd(const EmptyAtEnd&) = delete;
    EmptyAtEnd& operator=(const EmptyAtEnd&) = delete;
    ~EmptyAtEnd() {
      kept_max_ = 0;
      for (Shelf& shelf : shelves_) {
        for (Block* block = std::exchange(shelf, {}).first; block != nullptr;) {
          ::operator delete(std::exchange(block, block->next));
        }
      }
    }
  };
  thread_local const EmptyAtEnd empty_at_end;
  return ::operator new((shelf_of(size) + 1) * kStep);
}

}  // namespace qq::detail
