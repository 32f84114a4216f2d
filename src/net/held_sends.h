// Small writes of one turn of the loop, held back and sent one after the other at its end. A send costs most
// where it wakes the process on the other side; sent in a row they find it awake, and the kernel's code and
// our own stay in the processor's caches for a batch each. What a turn writes it may not wait for, so nothing
// is late by more than the turn. For the files of net/ only.
#pragma once
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace qq::net {

class TcpStream;

class HeldSends {
 public:
  // Larger writes are not held: copying them would cost more than it saves.
  static constexpr std::size_t kWriteMax = 4096;
  // Then all are sent in the middle of a turn. The bytes always have room for one more write.
  static constexpr std::size_t kSendsMax = 64;
  static constexpr std::size_t kBytesMax = 64UL * 1024;

  // Holds `pieces`, `size` bytes in all and at most kWriteMax. `place` is the stream's: 0, or where its bytes
  // are.
  void hold(TcpStream& stream, std::uint32_t& place, std::span<const iovec> pieces,
            std::size_t size) noexcept;
  // Whether the bytes at `place` are the last, so that more of the same stream can follow them.
  [[nodiscard]] bool may_grow(std::uint32_t place, std::size_t size) const noexcept;
  // Takes a stream's bytes out, to be sent or dropped at once.
  [[nodiscard]] std::string_view take(std::uint32_t& place) noexcept;
  void send_all() noexcept;

 private:
  struct Entry {
    TcpStream* stream = nullptr;  // null once they were taken out
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };

  std::array<Entry, kSendsMax> entries_;
  std::unique_ptr<char[]> bytes_ = std::make_unique_for_overwrite<char[]>(kBytesMax);
  std::size_t count_ = 0;
  std::size_t used_ = 0;
};

}  // namespace qq::net
