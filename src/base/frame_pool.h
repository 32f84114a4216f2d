// Memory of coroutine frames. A request runs through a dozen of them, from a hundred bytes to a few thousand;
// a thread keeps some blocks of every size that was used and hands them out again, which takes a tenth of the
// instructions of the general allocator (glibc keeps only blocks of up to 1 KiB at hand).
//
// A block may be released on another thread than it came from. Under sanitizers frames come from the general
// allocator, so that a use after the end is found.
#pragma once
#include <array>
#include <cstddef>
#include <new>

namespace qq::detail {

class FramePool {
 public:
  static void* allocate(std::size_t size) {
#if !defined(QQ_SANITIZED)
    if (size <= kSizeMax) {
      Shelf& shelf = shelves_[shelf_of(size)];
      if (Block* block = shelf.first; block != nullptr) {
        shelf.first = block->next;
        --shelf.count;
        return block;
      }
      return grow(size);
    }
#endif
    return ::operator new(size);
  }

  static void release(void* frame, [[maybe_unused]] std::size_t size) noexcept {
#if !defined(QQ_SANITIZED)
    if (size <= kSizeMax) {
      Shelf& shelf = shelves_[shelf_of(size)];
      if (shelf.count < kept_max_) {
        shelf.first = ::new (frame) Block{shelf.first};
        ++shelf.count;
        return;
      }
    }
#endif
    ::operator delete(frame);
  }

 private:
  static constexpr std::size_t kStep = 64;       // sizes are rounded up to it
  static constexpr std::size_t kSizeMax = 4096;  // larger frames are rare
  // Blocks kept of each size: as many as run at once on a busy loop. What thousands of streams leave behind
  // goes back to the general allocator.
  static constexpr std::size_t kKeptMax = 64;

  struct Block {
    Block* next;
  };
  struct Shelf {
    Block* first;
    std::size_t count;
  };
  static constexpr std::size_t shelf_of(std::size_t size) noexcept { return (size - 1) / kStep; }
  // A new block; from now on this thread keeps some, until it ends.
  static void* grow(std::size_t size);

  // Without constructor and destructor, so that reaching them costs nothing.
  static inline constinit thread_local std::array<Shelf, kSizeMax / kStep> shelves_{};
  static inline constinit thread_local std::size_t kept_max_ = 0;
};

}  // namespace qq::detail
