// What of the caller's sampling a Claude takes: the temperature up to 1, and less and less beside thinking
// and for newer families (families.h). What gives way is a loss; an Anthropic client's words go on as they
// are.
#pragma once
#include <optional>

#include "dialects/anthropic/families.h"
#include "dialects/dialect.h"

namespace qq::dialects::anthropic {

struct Sampling {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::int64_t> top_k;
};
Sampling sampling_for(const model::ChatRequest& request, const Family& family, bool thinks, Losses& losses);

}  // namespace qq::dialects::anthropic
