// A request as it came: what the path says, the head's fields, and the body's bytes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "simulator/provider/route.h"
#include "wire/http_head.h"
#include "wire/json.h"

namespace qq::simulator {

struct RequestText {
  std::string_view method{};
  RoutedPath path{};
  std::string_view body{};
  std::optional<wire::JsonError> json_error{};  // of the body
  std::string_view query{};
  const wire::Fields* fields = nullptr;  // null: none were sent

  static RequestText make(std::string_view method, std::string_view path, std::string_view body,
                          std::string_view query = {}, const wire::Fields* fields = nullptr) {
    return {method, route_path(path, query), body, wire::check_json(body), query, fields};
  }

  // Empty if it was not sent.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept {
    if (fields == nullptr) return {};
    return fields->find(name).value_or(std::string_view());
  }
  [[nodiscard]] bool has_bearer() const noexcept { return field("authorization").starts_with("Bearer "); }
};

}  // namespace qq::simulator
