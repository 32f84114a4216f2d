// Fills templates in. What is left out where a value is absent: providers/declared_templates.h.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/declared_adapter.h"

namespace qq::dialects::declared {

// The values of a template's placeholders, as JSON. What was not set is absent.
class Values {
 public:
  void set_json(model::Placeholder placeholder, std::string json) { at(placeholder) = std::move(json); }
  void set_text(model::Placeholder placeholder, std::string_view text);
  void set_integer(model::Placeholder placeholder, std::optional<std::int64_t> value);
  void set_number(model::Placeholder placeholder, std::optional<double> value);
  void set_boolean(model::Placeholder placeholder, bool value) { at(placeholder) = value ? "true" : "false"; }
  [[nodiscard]] const std::string& get(model::Placeholder placeholder) const noexcept {
    return json_[static_cast<std::size_t>(placeholder)];
  }

 private:
  std::string& at(model::Placeholder placeholder) noexcept {
    return json_[static_cast<std::size_t>(placeholder)];
  }
  std::array<std::string, model::kPlaceholderCount> json_;
};

// Appends the JSON; false, and nothing appended, if nothing is left of it.
bool render(const model::JsonTemplate& json, const Values& values, std::string& out);
// Nothing if one of its values is absent.
std::optional<std::string> render(const model::TextTemplate& text, const Values& values);

}  // namespace qq::dialects::declared
