#include "simulator/provider/vectors.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/random.h"
#include "simulator/provider/asked.h"

namespace qq::simulator {

std::vector<float> unit_vector(std::string_view input, std::uint64_t dimensions) {
  Random random(stable_hash(input));
  std::vector<float> vector(dimensions);
  double square = 0;
  for (float& value : vector) {
    value = static_cast<float>(random.unit() * 2 - 1);
    square += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto length = static_cast<float>(std::sqrt(square));
  for (float& value : vector) value /= length;
  return vector;
}

std::string numbers_json(std::span<const float> vector, std::string_view between) {
  std::string out = "[";
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) out.append(",").append(between);
    fmt::format_to(std::back_inserter(out), "{}", vector[i]);
  }
  out += ']';
  return out;
}

}  // namespace qq::simulator
