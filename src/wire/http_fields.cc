// Field names and values: comparing, finding, checking.
#include <array>
#include <memory>

#include "wire/byte_class.h"
#include "wire/http_head.h"

namespace qq::wire {
namespace {

constexpr std::array<unsigned char, 256> kLower = [] {
  std::array<unsigned char, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<unsigned char>(i >= 'A' && i <= 'Z' ? i + 32 : i);
  }
  return table;
}();

}  // namespace

bool iequals(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (kLower[static_cast<unsigned char>(a[i])] != kLower[static_cast<unsigned char>(b[i])]) return false;
  }
  return true;
}

std::optional<std::string_view> Fields::find(std::string_view name) const noexcept {
  for (const Field& field : all()) {
    if (iequals(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::size_t Fields::count(std::string_view name) const noexcept {
  std::size_t found = 0;
  for (const Field& field : all()) found += iequals(field.name, name) ? 1 : 0;
  return found;
}

bool Fields::add(Field field) noexcept {
  if (size_ == kFieldsMax) return false;
  std::construct_at(&fields_[size_], field);
  ++size_;
  return true;
}

bool is_safe_field_value(std::string_view value) noexcept {
  const char* end = value.data() + value.size();
  return find_control(value.data(), end) == end;
}

bool is_token(std::string_view text) noexcept {
  for (const char c : text) {
    if (!is_token_byte(c)) return false;
  }
  return !text.empty();
}

}  // namespace qq::wire
