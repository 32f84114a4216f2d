#include "simulator/provider/signature.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "simulator/provider/answer.h"

namespace qq::simulator {
namespace {

std::string with_sum(std::string text) {
  text += fmt::format(":{:016x}", stable_hash(text));
  return text;
}

}  // namespace

std::string make_signature(model::Dialect maker, std::uint64_t seed) {
  return to_base64(with_sum(fmt::format("sim:{}:{}", model::to_string(maker), stable_id("", seed, 24))));
}

bool is_signature(model::Dialect maker, std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes || !bytes->starts_with(fmt::format("sim:{}:", model::to_string(maker)))) return false;
  return with_sum(bytes->substr(0, bytes->rfind(':'))) == *bytes;
}

}  // namespace qq::simulator
