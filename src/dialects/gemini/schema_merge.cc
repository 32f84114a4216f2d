#include "dialects/gemini/schema_merge.h"

#include <algorithm>
#include <array>

namespace qq::dialects::gemini {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

// What a stranger's schema may cost.
constexpr std::size_t kRefsMax = 64;      // within each other
constexpr std::size_t kPointersMax = 64;  // that lead elsewhere than to a definition
constexpr std::size_t kLostMax = 32;      // words that are named

constexpr std::array<NamedWord, kWordCount> kWords{{
    {"type", Word::Type},
    {"nullable", Word::Nullable},
    {"enum", Word::Enum},
    {"const", Word::Const},
    {"properties", Word::Properties},
    {"required", Word::Required},
    {"items", Word::Items},
    {"prefixItems", Word::PrefixItems},
    {"additionalProperties", Word::AdditionalProperties},
    {"anyOf", Word::AnyOf},
    {"oneOf", Word::OneOf},
    {"allOf", Word::AllOf},
    {"$ref", Word::Ref},
    {"format", Word::Format},
    {"title", Word::Plain},
    {"description", Word::Plain},
    {"default", Word::Plain},
    {"minimum", Word::Plain},
    {"maximum", Word::Plain},
    {"minItems", Word::Plain},
    {"maxItems", Word::Plain},
    {"minLength", Word::Plain},
    {"maxLength", Word::Plain},
    {"minProperties", Word::Plain},
    {"maxProperties", Word::Plain},
    {"pattern", Word::Plain},
    {"propertyOrdering", Word::Plain},
    {"$schema", Word::Silent},
    {"$id", Word::Silent},
    {"$anchor", Word::Silent},
    {"$comment", Word::Silent},
    {"$defs", Word::Silent},
    {"definitions", Word::Silent},
}};

std::string_view name_in_defs(std::string_view pointer) noexcept {
  for (const std::string_view place : {"#/$defs/", "#/definitions/"}) {
    if (pointer.starts_with(place) && pointer.find('/', place.size()) == std::string_view::npos) {
      return pointer.substr(place.size());
    }
  }
  return {};
}

}  // namespace

const NamedWord* named_word(std::string_view key) noexcept {
  const auto found = std::ranges::find(kWords, key, &NamedWord::name);
  return found == kWords.end() ? nullptr : &*found;
}

std::size_t index_of(const NamedWord& word) noexcept {
  return static_cast<std::size_t>(&word - kWords.data());
}

bool is_null_schema(JsonValue schema) noexcept {
  const auto type = schema.member("type");
  return type && type->text() == "\"null\"";
}

void SchemaMerger::lose(std::string_view word) {
  if (lost_.size() >= kLostMax) return;
  if (std::ranges::find(lost_, word) == lost_.end()) lost_.emplace_back(word);
}

JsonValue SchemaMerger::resolve(std::string_view pointer) {
  const std::string_view name = name_in_defs(pointer);
  if (name.empty() || name.find_first_of("~%\\") != std::string_view::npos) {
    return ++pointers_ > kPointersMax ? JsonValue() : follow(pointer);
  }
  if (!defs_read_) {
    defs_read_ = true;
    for (const std::string_view place : {"$defs", "definitions"}) {
      const auto defs = root_.member(place);
      for (JsonMembers members(defs ? *defs : JsonValue()); members.next();) {
        defs_.push_back({members.raw_key(), members.value()});
      }
    }
    std::ranges::sort(defs_, {}, &Definition::name);
  }
  const auto found = std::ranges::lower_bound(defs_, name, {}, &Definition::name);
  return found != defs_.end() && found->name == name ? found->schema : JsonValue();
}

JsonValue SchemaMerger::follow(std::string_view pointer) const {
  if (!pointer.starts_with('#')) return {};
  pointer.remove_prefix(1);
  JsonValue at = root_;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    std::string name;
    for (std::size_t i = 0; i < token.size(); ++i) {
      const bool escape = token[i] == '~' && i + 1 < token.size();
      name += escape ? (token[++i] == '1' ? '/' : '~') : token[i];
    }
    const auto member = at.member(name);
    if (!member) return {};
    at = *member;
  }
  return pointer.empty() ? at : JsonValue();
}

void SchemaMerger::gather_ref(std::string_view pointer, Merged& merged) {
  const std::string_view name = name_in_defs(pointer);
  const JsonValue target = resolve(pointer);
  if (target.text().empty()) return lose("$ref");
  if (form_ == SchemaForm::JsonSchema && !merged.follows && !name.empty() && merged.kept_ref.empty()) {
    merged.kept_ref = name;
    refs_kept_ = true;
    return;
  }
  const bool in_itself = std::ranges::find(refs_, pointer) != refs_.end();
  if (in_itself || full_ || refs_.size() >= kRefsMax) return lose("$ref");
  refs_.push_back(pointer);
  gather(target, merged);
}

void SchemaMerger::gather_choices(JsonValue list, Merged& merged) {
  std::size_t count = 0;
  JsonValue only;
  for (JsonElements each(list); each.next();) {
    if (is_null_schema(each.value())) {
      merged.nullable = true;
    } else if (++count == 1) {
      only = each.value();
    }
  }
  if (count == 1) return gather(only, merged);
  if (count == 0) return;
  if (!merged.choices.text().empty()) return lose("anyOf");
  merged.choices = list;
}

void SchemaMerger::gather(JsonValue schema, Merged& merged) {
  if (schema.is_false()) return lose("false");
  if (!schema.is_object()) return;
  if (schema.text().size() > may_read_) return lose(refs_.empty() ? "depth" : "$ref");
  may_read_ -= schema.text().size();
  merged.sources.push_back(schema);
  for (JsonMembers members(schema); members.next();) {
    const NamedWord* const word = named_word(members.raw_key());
    if (word == nullptr) continue;
    switch (word->word) {
      case Word::Nullable: merged.nullable |= members.value().is_true(); break;
      case Word::Ref: gather_ref(members.value().raw_string(), merged); break;
      case Word::AllOf:
        for (auto each = JsonElements::inside(members); each.next();) gather(each.value(), merged);
        break;
      case Word::AnyOf:
      case Word::OneOf: gather_choices(members.value(), merged); break;
      case Word::Type:
        for (auto each = JsonElements::inside(members); each.next();) {
          merged.nullable |= each.value().text() == "\"null\"";
        }
        break;
      default: break;
    }
  }
}

}  // namespace qq::dialects::gemini
