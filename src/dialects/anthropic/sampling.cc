#include "dialects/anthropic/sampling.h"

#include <algorithm>

#include "dialects/fields.h"

namespace qq::dialects::anthropic {

Sampling sampling_for(const model::ChatRequest& request, const Family& family, bool thinks, Losses& losses) {
  const model::Sampling& wish = request.sampling;
  if (request.dialect == model::Dialect::Anthropic) return {wish.temperature, wish.top_p, wish.top_k};
  const auto lose = [&](Field field, std::string_view why) {
    losses.push_back({std::string(name_of(field, request.dialect)), why});
  };
  const bool refused = !family.takes_sampling;
  const bool gives_way = refused || thinks;
  const std::string_view why = refused ? loss::kNoSuchField : loss::kNotTogether;
  Sampling out;
  if (wish.temperature && !gives_way) {
    out.temperature = std::min(*wish.temperature, 1.0);
    if (out.temperature != wish.temperature) lose(Field::Temperature, loss::kOutOfRange);
  } else if (wish.temperature && *wish.temperature != 1.0) {
    lose(Field::Temperature, why);
  }
  if (wish.top_p) {
    if (out.temperature && !family.takes_both_samplings) {
      lose(Field::TopP, loss::kNotTogether);
    } else if (gives_way && (refused || *wish.top_p < 0.95)) {
      if (*wish.top_p != 1.0) lose(Field::TopP, why);
    } else {
      out.top_p = wish.top_p;
    }
  }
  if (wish.top_k && gives_way) {
    lose(Field::TopK, why);
  } else {
    out.top_k = wish.top_k;
  }
  return out;
}

}  // namespace qq::dialects::anthropic
