#include "net/held_sends.h"

#include <cstring>
#include <utility>

#include "base/assert.h"
#include "net/tcp_stream.h"

namespace qq::net {

bool HeldSends::may_grow(std::uint32_t place, std::size_t size) const noexcept {
  return place == count_ && used_ + size <= kBytesMax;
}

void HeldSends::hold(TcpStream& stream, std::uint32_t& place, std::span<const iovec> pieces,
                     std::size_t size) noexcept {
  QQ_ASSERT(size <= kWriteMax);
  if (place == 0) {
    if (count_ == kSendsMax || used_ + size > kBytesMax) send_all();
    entries_[count_++] = {&stream, static_cast<std::uint32_t>(used_), 0};
    place = static_cast<std::uint32_t>(count_);
  }
  QQ_ASSERT(may_grow(place, size));
  for (const iovec& piece : pieces) {
    if (piece.iov_len > 0) std::memcpy(bytes_.get() + used_, piece.iov_base, piece.iov_len);
    used_ += piece.iov_len;
  }
  entries_[place - 1].size += static_cast<std::uint32_t>(size);
}

std::string_view HeldSends::take(std::uint32_t& place) noexcept {
  Entry& entry = entries_[std::exchange(place, 0) - 1];
  entry.stream = nullptr;
  return {bytes_.get() + entry.begin, entry.size};
}

// No coroutine runs inside: what a failed send means to others is told after the turn.
void HeldSends::send_all() noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (entries_[i].stream != nullptr) entries_[i].stream->send_held();
  }
  count_ = 0;
  used_ = 0;
}

}  // namespace qq::net
