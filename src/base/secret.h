// A credential that cannot be printed: no stream operator, no implicit conversion, wiped when destroyed.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace qq {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) noexcept : value_(std::move(value)) {}
  Secret(const Secret&) = default;
  Secret(Secret&&) noexcept = default;
  Secret& operator=(const Secret&) = default;
  Secret& operator=(Secret&&) noexcept = default;
  ~Secret();
  // For the one place that must write it to the wire.
  [[nodiscard]] std::string_view reveal() const noexcept { return value_; }
  [[nodiscard]] bool empty() const noexcept { return value_.empty(); }
  // SHA-256 of it, to tell one secret from another where the secret itself has no business. Not for logs:
  // whoever can guess the secret can tell it by this.
  [[nodiscard]] std::array<unsigned char, 32> digest() const;
  bool operator==(const Secret&) const = default;

 private:
  std::string value_;
};

}  // namespace qq
