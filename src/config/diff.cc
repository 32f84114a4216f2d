#include "config/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace qq::config {
namespace {

bool may_be_shown(FieldType type) {
  switch (type) {
    case FieldType::Boolean:
    case FieldType::Integer:
    case FieldType::Number:
    case FieldType::Duration:
    case FieldType::Size:
    case FieldType::Tokens:
    case FieldType::Word:
    case FieldType::Words: return true;
    default: return false;
  }
}

// An element of a list with the name that it has in messages.
struct Named {
  std::string name;
  const void* object;
};

std::vector<Named> named_elements(const Field& field, const void* object) {
  const Field* identity = field.section->find(field.identity);
  std::vector<Named> out;
  std::map<std::string, int> seen;
  for (const void* element : field.elements(object)) {
    std::string name = identity->read(element);
    // Only listeners may have equal names: several with port 0.
    if (const int count = ++seen[name]; count > 1) name += fmt::format("#{}", count);
    out.push_back({std::move(name), element});
  }
  return out;
}

const Named* find(const std::vector<Named>& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Named& named) { return named.name == name; });
  return found == list.end() ? nullptr : &*found;
}

class Differ {
 public:
  void compare(const Section& section, const void* from, const void* to, const std::string& path,
               Effect effect) {
    for (const Field& field : section.fields) {
      const std::string field_path =
          path.empty() ? std::string(field.key) : fmt::format("{}.{}", path, field.key);
      const Effect field_effect = effect == Effect::Restart ? effect : field.effect;
      if (field.type == FieldType::Map) {
        compare_map(field, from, to, field_path, field_effect);
      } else if (field.type == FieldType::Maps) {
        compare_list(field, from, to, field_path, field_effect);
      } else {
        compare_value(field, field.read(from), field.read(to), field_path, field_effect);
      }
    }
  }

  std::vector<Change> take() { return std::move(changes_); }

 private:
  void add(std::string what, Effect effect) { changes_.push_back({std::move(what), effect}); }

  void compare_value(const Field& field, const std::string& from, const std::string& to,
                     const std::string& path, Effect effect) {
    if (from == to) return;
    if (may_be_shown(field.type)) {
      const auto spelled = [](const std::string& value) {
        return value.empty() ? std::string("nothing") : value;
      };
      add(fmt::format("{}: {} → {}", path, spelled(from), spelled(to)), effect);
    } else {
      add(fmt::format("{}: {}", path, from.empty() ? "added" : to.empty() ? "removed" : "changed"), effect);
    }
  }

  void compare_map(const Field& field, const void* from, const void* to, const std::string& path,
                   Effect effect) {
    const auto before = field.elements(from);
    const auto after = field.elements(to);
    if (before.empty() && after.empty()) return;
    if (before.empty()) return add(path + ": added", effect);
    if (after.empty()) return add(path + ": removed", effect);
    compare(*field.section, before.front(), after.front(), path, effect);
  }

  void compare_list(const Field& field, const void* from, const void* to, const std::string& path,
                    Effect effect) {
    const auto before = named_elements(field, from);
    const auto after = named_elements(field, to);
    std::vector<std::string> kept_before;
    std::vector<std::string> kept_after;
    for (const Named& old : before) {
      if (find(after, old.name) == nullptr) {
        add(fmt::format("{}[{}]: removed", path, old.name), effect);
      } else {
        kept_before.push_back(old.name);
      }
    }
    for (const Named& now : after) {
      const std::string element_path = fmt::format("{}[{}]", path, now.name);
      if (const Named* old = find(before, now.name)) {
        kept_after.push_back(now.name);
        compare(*field.section, old->object, now.object, element_path, effect);
      } else {
        add(element_path + ": added", effect);
      }
    }
    if (kept_before != kept_after) add(path + ": order changed", effect);
  }

  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> diff(const Config& from, const Config& to) {
  Differ differ;
  differ.compare(root_section(), &from, &to, "", Effect::Reload);
  return differ.take();
}

}  // namespace qq::config
