#include "wire/json_patch.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/assert.h"

namespace qq::wire {

std::array<std::string_view, 3> with_other_string(std::string_view original, JsonValue value,
                                                  std::string_view text, std::string& own) {
  QQ_ASSERT(value.is_string());
  auto begin = static_cast<std::size_t>(value.text().data() - original.data());
  std::size_t end = begin + value.text().size();
  if (is_plain_in_json(text)) {
    ++begin;  // the quotes stay
    --end;
  } else {
    own.clear();
    append_json_string(own, text);
    text = own;
  }
  return {original.substr(0, begin), text, original.substr(end)};
}

std::size_t JsonPatch::offset(JsonValue value) const {
  const std::less_equal<const char*> not_after;
  QQ_ASSERT(not_after(original_.data(), value.text().data()));
  QQ_ASSERT(not_after(value.text().data() + value.text().size(), original_.data() + original_.size()));
  return static_cast<std::size_t>(value.text().data() - original_.data());
}

void JsonPatch::replace(JsonValue value, std::string json) {
  const std::size_t begin = offset(value);
  edits_.push_back({begin, begin + value.text().size(), std::move(json)});
}

JsonPatch::Object& JsonPatch::touch(JsonValue object) {
  QQ_ASSERT(object.is_object());
  offset(object);
  for (Object& known : objects_) {
    if (known.object.text().data() == object.text().data()) return known;
  }
  return objects_.emplace_back(Object{object, {}, {}});
}

void JsonPatch::add_member(JsonValue object, std::string_view key, std::string_view json) {
  Object& touched = touch(object);
  if (!touched.added.empty()) touched.added += ',';
  append_json_string(touched.added, key);
  touched.added += ':';
  touched.added += json;
}

void JsonPatch::remove_member(JsonValue object, JsonValue value) {
  touch(object).removed.push_back(offset(value));
}

void JsonPatch::cut(std::string_view bytes) {
  const std::less_equal<const char*> not_after;
  QQ_ASSERT(not_after(original_.data(), bytes.data()));
  QQ_ASSERT(not_after(bytes.data() + bytes.size(), original_.data() + original_.size()));
  const auto begin = static_cast<std::size_t>(bytes.data() - original_.data());
  edits_.push_back({begin, begin + bytes.size(), {}});
}

// Which bytes go depends on all edits of the object: a comma belongs to the member before it as long as
// a member follows that stays, else to the one behind it.
void JsonPatch::splice(const Object& touched, std::vector<Splice>& splices) const {
  const auto place = [this](const char* at) { return static_cast<std::size_t>(at - original_.data()); };
  const std::size_t inside = place(touched.object.text().data()) + 1;
  bool any_stays = false;
  std::size_t kept_end = 0;   // behind the last member that stays
  std::size_t run_begin = 0;  // of the members in a row that go
  std::size_t run_end = 0;
  bool in_run = false;
  std::size_t removed = 0;
  for (JsonMembers members(touched.object); members.next();) {
    const std::size_t begin = place(members.raw_key().data()) - 1;
    const std::string_view value = members.value().text();
    const bool goes = std::ranges::find(touched.removed, place(value.data())) != touched.removed.end();
    if (goes) {
      ++removed;
      if (!in_run) run_begin = begin;
      run_end = place(value.data()) + value.size();
      in_run = true;
      continue;
    }
    if (in_run) splices.push_back({run_begin, begin, {}});
    in_run = false;
    any_stays = true;
    kept_end = place(value.data()) + value.size();
  }
  QQ_ASSERT(removed == touched.removed.size());
  if (in_run) splices.push_back({any_stays ? kept_end : run_begin, run_end, {}});
  if (touched.added.empty()) return;
  splices.push_back({inside, inside, touched.added});
  if (any_stays) splices.push_back({inside, inside, ","});
}

std::vector<std::string_view> JsonPatch::pieces() const {
  std::vector<Splice> splices;
  splices.reserve(edits_.size() + 3 * objects_.size());
  for (const Object& touched : objects_) splice(touched, splices);
  for (const Edit& edit : edits_) splices.push_back({edit.begin, edit.end, edit.text});
  for (std::size_t i = 0; i < splices.size(); ++i) splices[i].order = i;
  // What is added comes before what is removed at the same place.
  std::ranges::sort(splices, {},
                    [](const Splice& splice) { return std::tuple(splice.begin, splice.end, splice.order); });
  std::vector<std::string_view> pieces;
  pieces.reserve(2 * splices.size() + 1);
  std::size_t at = 0;
  for (const Splice& next : splices) {
    if (next.begin < at) continue;  // inside something that is replaced or removed
    if (next.begin > at) pieces.push_back(original_.substr(at, next.begin - at));
    if (!next.text.empty()) pieces.push_back(next.text);
    at = next.end;
  }
  if (at < original_.size()) pieces.push_back(original_.substr(at));
  return pieces;
}

std::string JsonPatch::apply() const {
  const auto parts = pieces();
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string out;
  out.reserve(size);
  for (const std::string_view part : parts) out += part;
  return out;
}

}  // namespace qq::wire
