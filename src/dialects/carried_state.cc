#include "dialects/carried_state.h"

#include <fmt/format.h>
#include <zlib.h>

#include <utility>

#include "base/base64.h"

namespace qq::dialects {
namespace {

constexpr std::string_view kInId = "_qq1";
constexpr std::string_view kInField = "qq1";
constexpr std::string_view kMakers = "cragbhld";  // in the order of model::Dialect
static_assert(kMakers.size() == model::kDialectCount);
constexpr std::size_t kCrcDigits = 8;

std::string crc_of(std::string_view text) {
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
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

std::string sealed(std::string_view items) {
  std::string text = to_base64url(items);
  text += crc_of(text);
  return text;
}

// The items inside; nothing for what we did not seal.
std::optional<std::string> unsealed(std::string_view text) {
  if (text.size() <= kCrcDigits) return std::nullopt;
  const std::string_view items = text.substr(0, text.size() - kCrcDigits);
  if (text.substr(items.size()) != crc_of(items)) return std::nullopt;
  return from_base64url(items);
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
  // The mark may stand in an id by chance, and in the base64 text behind ours.
  for (std::size_t at = id.find(kInId); at != std::string_view::npos; at = id.find(kInId, at + 1)) {
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
  return std::string(kInField).append(sealed(items));
}

model::OpaqueState state_of_field(std::string_view field, model::Dialect native) {
  if (field.starts_with(kInField)) {
    if (const std::optional<std::string> items = unsealed(field.substr(kInField.size()))) {
      std::string_view rest = *items;
      if (const std::optional<Item> item = take_item(rest)) return {item->maker, std::string(item->bytes)};
    }
  }
  return {native, std::string(field)};
}

}  // namespace qq::dialects
