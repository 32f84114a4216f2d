#include "wire/aws_frames.h"

#include <zlib.h>

#include <algorithm>

namespace qq::wire {
namespace {

constexpr std::size_t kPrelude = 12;
constexpr std::size_t kSum = 4;

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t size = 4) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + size; ++i) value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

bool has_sum(std::string_view bytes, std::size_t size) noexcept {
  const auto sum = crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), size);
  return big_endian(bytes, size) == static_cast<std::uint32_t>(sum);
}

// Bytes of a header's value by its type, apart from the lengths that types 6 and 7 have in front.
std::size_t size_of_value(std::uint32_t type) noexcept {
  constexpr std::size_t kSizes[] = {0, 0, 1, 2, 4, 8, 0, 0, 8, 16};
  return type < std::size(kSizes) ? kSizes[type] : 0;
}

}  // namespace

std::string_view AwsFrame::header(std::string_view name) const noexcept {
  constexpr std::uint32_t kBytes = 6;
  constexpr std::uint32_t kString = 7;
  for (std::string_view rest = headers; rest.size() >= 2;) {
    const std::size_t name_size = static_cast<unsigned char>(rest[0]);
    if (rest.size() < name_size + 2) break;
    const std::string_view found = rest.substr(1, name_size);
    const std::uint32_t type = static_cast<unsigned char>(rest[name_size + 1]);
    rest.remove_prefix(name_size + 2);
    std::size_t size = size_of_value(type);
    if (type == kBytes || type == kString) {
      if (rest.size() < 2) break;
      size = big_endian(rest, 0, 2);
      rest.remove_prefix(2);
    }
    if (rest.size() < size) break;
    if (type == kString && found == name) return rest.substr(0, size);
    rest.remove_prefix(size);
  }
  return {};
}

std::size_t AwsFrames::size_of_frame(std::string_view prelude) {
  const std::size_t total = big_endian(prelude, 0);
  const std::size_t headers = big_endian(prelude, 4);
  broken_ = !has_sum(prelude, 8) || total > frame_max_ || total < kPrelude + kSum ||
            headers > total - kPrelude - kSum;
  return total;
}

bool AwsFrames::report(std::string_view whole, AwsFrame& frame) {
  const std::size_t headers = big_endian(whole, 4);
  if (!has_sum(whole, whole.size() - kSum)) {
    broken_ = true;
    return false;
  }
  ++count_;
  frame.headers = whole.substr(kPrelude, headers);
  frame.payload = whole.substr(kPrelude + headers, whole.size() - kPrelude - kSum - headers);
  return true;
}

bool AwsFrames::next(std::string_view& bytes, AwsFrame& frame) {
  if (reported_) kept_.clear();
  reported_ = false;
  if (broken_) return false;
  const auto keep = [&](std::size_t wanted) {
    const std::size_t more = std::min(wanted - kept_.size(), bytes.size());
    kept_.append(bytes.substr(0, more));
    bytes.remove_prefix(more);
    return kept_.size() == wanted;
  };
  if (kept_.empty() && bytes.size() >= kPrelude) {
    const std::size_t total = size_of_frame(bytes);
    if (broken_) return false;
    if (bytes.size() >= total) {
      const std::string_view whole = bytes.substr(0, total);
      bytes.remove_prefix(total);
      return report(whole, frame);
    }
  }
  if (kept_.size() < kPrelude && !keep(kPrelude)) return false;
  const std::size_t total = size_of_frame(kept_);
  if (broken_ || !keep(total)) return false;
  reported_ = true;
  return report(kept_, frame);
}

}  // namespace qq::wire
