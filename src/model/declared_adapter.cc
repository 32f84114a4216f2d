#include "model/declared_adapter.h"

#include <algorithm>

namespace qq::model {

std::optional<ErrorKind> kind_of(const DeclaredErrors& errors, int status, std::string_view code) noexcept {
  for (const DeclaredErrors::Rule& rule : errors.rules) {
    if ((rule.status == 0 || rule.status == status) && (rule.code.empty() || rule.code == code))
      return rule.kind;
  }
  return std::nullopt;
}

bool uses(const TextTemplate& text, Placeholder placeholder) noexcept {
  return std::ranges::any_of(
      text.pieces, [&](const TextTemplate::Piece& piece) { return piece.placeholder == placeholder; });
}

bool uses(const JsonTemplate& json, Placeholder placeholder) noexcept {
  switch (json.kind) {
    case JsonTemplate::Kind::Literal: return false;
    case JsonTemplate::Kind::Placeholder: return json.placeholder == placeholder;
    case JsonTemplate::Kind::Text: return uses(json.text, placeholder);
    case JsonTemplate::Kind::Object:
    case JsonTemplate::Kind::Array:
      return std::ranges::any_of(json.inside,
                                 [&](const JsonTemplate& inner) { return uses(inner, placeholder); });
  }
  return false;
}

}  // namespace qq::model
