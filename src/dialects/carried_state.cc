#include "dialects/carried_state.h"

#include <zlib.h>

#include <array>
#include <utility>

#include "base/base64.h"

namespace qq::dialects {
namespace {

constexpr std::string_view kInId = "_qq1";
constexpr std::string_view kInField = "qq1";
constexpr std::string_view kMakers = "cragbhld";  // in the order of model::Dialect
static_assert(kMakers.size() == model::kDialectCount);
constexpr std::size_t kCrcDigits = 8;

// How many marks of one text are looked at: one stands in an id by chance, or in the base64 text behind ours.
// A text that is full of them is an attack, and each costs reading the rest.
constexpr int kTriesMax = 16;

using Crc = std::array<char, kCrcDigits>;

Crc crc_of(std::string_view text) noexcept {
  constexpr std::string_view kHex = "0123456789abcdef";
  auto crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
  Crc out;
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit, crc >>= 4U) *digit = kHex[crc & 0xfU];
  return out;
}

void append_item(std::string& out, char what, model::Dialect maker, std::string_view bytes) {
  out += what;
  out += kMakers[std::to_underlying(maker)];
  std::size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7U) out += static_cast<char>(0x80U | (size & 0x7fU));
  out += static_cast<char>(size);
  out += bytes;
}

struct Item {
  char what = 0;
  model::Dialect maker = model::Dialect::OpenAiChat;
  std::string_view bytes;
};

// Takes the first item off `rest`. Nothing if there is no well-formed one.
std::optional<Item> take_item(std::string_view& rest) {
  if (rest.size() < 3) return std::nullopt;
  Item item{.what = rest[0]};
  const std::size_t maker = kMakers.find(rest[1]);
  if (maker == std::string_view::npos) return std::nullopt;
  item.maker = static_cast<model::Dialect>(maker);
  rest.remove_prefix(2);
  std::size_t size = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (rest.empty() || shift > 21) return std::nullopt;
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    size |= static_cast<std::size_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) break;
  }
  if (size > rest.size()) return std::nullopt;
  item.bytes = rest.substr(0, size);
  rest.remove_prefix(size);
  return item;
}

std::string with_crc(std::string text) {
  const Crc crc = crc_of(text);
  return text.append(crc.data(), crc.size());
}

std::string sealed(std::string_view items) {
  return with_crc(to_base64url(items));
}

// As base64 text from its first letter to its last: Google's SDKs decode the field that it stands in. The
// mark has three letters, this one is the fourth; no item begins with bytes whose text begins with it.
constexpr char kWhole = 'A';

std::string sealed_field(std::string items) {
  while (items.size() % 3 != 0) items += '\0';  // nothing reads beyond the first item
  return std::string(kInField) + with_crc(kWhole + to_base64(items));
}

bool is_sealed(std::string_view text) noexcept {
  if (text.size() <= kCrcDigits) return false;
  const std::string_view items = text.substr(0, text.size() - kCrcDigits);
  const Crc crc = crc_of(items);
  return text.substr(items.size()) == std::string_view(crc.data(), crc.size());
}

// The items inside; nothing for what we did not seal.
std::optional<std::string> unsealed(std::string_view text) {
  if (!is_sealed(text)) return std::nullopt;
  return from_base64url(text.substr(0, text.size() - kCrcDigits));
}

// The same of a field, also of one as they were before they were base64 as a whole.
std::optional<std::string> unsealed_field(std::string_view text) {
  if (!is_sealed(text)) return std::nullopt;
  text.remove_suffix(kCrcDigits);
  return text.starts_with(kWhole) ? from_base64(text.substr(1)) : from_base64url(text);
}

// The next `kInField` from `from` on, whatever the text: thirty-two places at a time, which compilers make a
// few vector instructions of.
std::size_t find_mark_anywhere(std::string_view text, std::size_t from) noexcept {
  constexpr std::size_t kBlock = 32;
  constexpr std::size_t kReach = kBlock + kInField.size() - 1;
  for (; from + kReach <= text.size(); from += kBlock) {
    const char* const at = text.data() + from;
    unsigned char found = 0;  // a wider one would make the vectors so
    for (std::size_t i = 0; i < kBlock; ++i) {
      const bool here = (at[i] == 'q') & (at[i + 1] == 'q') & (at[i + 2] == '1');
      found = static_cast<unsigned char>(found | static_cast<unsigned char>(here));
    }
    if (found != 0) return from + text.substr(from, kReach).find(kInField);
  }
  return text.find(kInField, from);
}

// The same, from one `q` to the next: a tenth of the work in prose, where the letter is rare. A text that has
// more of them is read the other way.
std::size_t find_mark(std::string_view text, std::size_t from) noexcept {
  constexpr std::size_t kBytesEach = 48;
  constexpr std::size_t kFree = 8;
  const std::size_t began = from;
  for (std::size_t seen = 0; seen <= kFree + (from - began) / kBytesEach; ++seen) {
    from = text.find(kInField.front(), from);
    if (from == std::string_view::npos) return from;
    if (text.substr(from, kInField.size()) == kInField) return from;
    ++from;
  }
  return find_mark_anywhere(text, from);
}

constexpr bool is_carrying_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '+' || c == '/';
}

}  // namespace

std::optional<std::string> with_carried(std::string_view id, const Carried& carried) {
  if (carried.empty()) return std::string(id);
  std::string items;
  if (!carried.call.empty()) append_item(items, 'c', carried.call.maker, carried.call.data);
  for (const model::Part& part : carried.reasoning) {
    const auto* reasoning = part.as<model::ReasoningPart>();
    if (reasoning == nullptr || part.state.empty()) continue;
    if (reasoning->kind == model::ReasoningPart::Kind::Redacted) {
      append_item(items, 'r', part.state.maker, part.state.data);
      continue;
    }
    append_item(items, 't', part.state.maker, reasoning->text);
    append_item(items, 's', part.state.maker, part.state.data);
  }
  if (items.size() > kCarriedMax) return std::nullopt;
  return std::string(id).append(kInId).append(sealed(items));
}

CarriedId take_carried(std::string_view id) {
  CarriedId out;
  int tries = 0;
  for (std::size_t at = id.find(kInId); at != std::string_view::npos && tries < kTriesMax;
       at = id.find(kInId, at + 1), ++tries) {
    const std::optional<std::string> items = unsealed(id.substr(at + kInId.size()));
    if (!items) continue;
    std::string_view rest = *items;
    std::string thought;
    while (const std::optional<Item> item = take_item(rest)) {
      const model::OpaqueState state{item->maker, std::string(item->bytes)};
      if (item->what == 'c') out.carried.call = state;
      if (item->what == 't') thought = item->bytes;
      if (item->what != 's' && item->what != 'r') continue;
      model::Part part(model::ReasoningPart{
          .kind = item->what == 'r' ? model::ReasoningPart::Kind::Redacted : model::ReasoningPart::Kind::Full,
          .text = item->what == 'r' ? std::string() : std::exchange(thought, {}),
          .id = {}});
      part.state = state;
      out.carried.reasoning.push_back(std::move(part));
    }
    out.id = id.substr(0, at);
    return out;
  }
  out.id = id;
  return out;
}

std::string state_field(const model::OpaqueState& state, model::Dialect native) {
  if (state.empty() || state.maker == native) return state.data;
  std::string items;
  append_item(items, 's', state.maker, state.data);
  return sealed_field(std::move(items));
}

model::OpaqueState state_of_field(std::string_view field, model::Dialect native) {
  if (field.starts_with(kInField)) {
    if (const std::optional<std::string> items = unsealed_field(field.substr(kInField.size()))) {
      std::string_view rest = *items;
      if (const std::optional<Item> item = take_item(rest)) return {item->maker, std::string(item->bytes)};
    }
  }
  return {native, std::string(field)};
}

std::string no_state_field(model::Dialect maker) {
  std::string items;
  append_item(items, 's', maker, {});
  return sealed_field(std::move(items));
}

bool holds_carried(std::string_view json) {
  // Some writers of JSON escape every slash.
  const auto is_slash = [&](std::size_t at) { return json.substr(at, 2) == "\\/"; };
  const auto is_ours = [](std::string_view text) {
    if (!text.contains('\\')) return is_sealed(text);
    std::string plain(text);
    std::erase(plain, '\\');
    return is_sealed(plain);
  };
  std::size_t end = 0;  // of the letters that the last mark stands in
  int tries = 0;        // among them
  for (std::size_t at = find_mark(json, 0); at != std::string_view::npos; at = find_mark(json, at + 1)) {
    if (at >= end) {
      end = at;
      while (end < json.size() && (is_carrying_letter(json[end]) || is_slash(end))) ++end;
      tries = 0;
    }
    const bool begins = at > 0 && (json[at - 1] == '"' || json[at - 1] == kInId.front());
    const bool ends = end < json.size() && json[end] == '"';
    if (!begins || !ends || ++tries > kTriesMax) continue;
    if (is_ours(json.substr(at + kInField.size(), end - at - kInField.size()))) return true;
  }
  return false;
}

}  // namespace qq::dialects
