#include "wire/json_writer.h"

#include <array>
#include <charconv>

#include "base/assert.h"

namespace qq::wire {
namespace {

template <typename Number>
std::string_view text_of_number(std::array<char, 32>& buffer, Number value) {
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  QQ_ASSERT(error == std::errc{});
  return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

}  // namespace

JsonWriter& JsonWriter::integer(std::int64_t value) {
  std::array<char, 32> buffer;
  return raw(text_of_number(buffer, value));
}

JsonWriter& JsonWriter::number(double value) {
  QQ_ASSERT(value - value == 0);  // neither infinite nor NaN, which JSON has no word for
  std::array<char, 32> buffer;
  return raw(text_of_number(buffer, value));
}

}  // namespace qq::wire
