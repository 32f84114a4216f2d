// Requests as an application might make them, made of a seed: of each thing that both dialects of a pair can
// say, some have it and some have not.
#pragma once
#include <functional>
#include <random>
#include <string>

#include "dialects/fields.h"
#include "model/chat_request.h"

namespace qq::translation {

class RequestGenerator {
 public:
  // `may`: whether a field may be used.
  RequestGenerator(std::uint64_t seed, std::function<bool(dialects::Field)> may)
      : random_(seed), may_(std::move(may)) {}

  model::ChatRequest make();

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool sometimes() { return below(3) == 0; }
  bool wants(dialects::Field field) { return sometimes() && may_(field); }
  std::string words();
  model::Part text() { return model::Part(model::TextPart{.text = words(), .citations = {}}); }
  model::Part image();
  void add_tools(model::ChatRequest& request);
  void add_turns(model::ChatRequest& request);
  void add_sampling(model::ChatRequest& request);
  void add_rest(model::ChatRequest& request);

  std::mt19937_64 random_;
  std::function<bool(dialects::Field)> may_;
  int calls_ = 0;
};

}  // namespace qq::translation
