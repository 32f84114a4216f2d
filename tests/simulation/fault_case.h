// One row of the fault tables, and the ways it is asked: endpoint × (whole answer or stream).
#pragma once
#include <string>
#include <vector>

#include "simulation/world.h"

namespace qq::simulation {

enum class Modes : std::uint8_t { Both, Plain, Streamed };
enum class Then : std::uint8_t {
  Counts,   // five of them open the breaker
  Cools,    // the account (or target) is left alone at once
  Nothing,  // says nothing about the provider
};

struct Mode {
  bool responses = false;
  bool stream = false;

  [[nodiscard]] Ask ask(std::string_view route) const {
    const Ask plain = responses ? simulation::responses(route) : chat(route);
    return stream ? plain.streamed() : plain;
  }
  [[nodiscard]] std::string name() const {
    return std::string(responses ? "responses" : "chat") + (stream ? "_stream" : "_plain");
  }
};

inline std::vector<Mode> modes_of(Modes modes) {
  std::vector<Mode> out;
  for (const bool responses : {false, true}) {
    if (modes != Modes::Streamed) out.push_back({responses, false});
    if (modes != Modes::Plain) out.push_back({responses, true});
  }
  return out;
}

inline std::string replaced_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// The fault-free answer of a route as its client reads it, with the route's name replaced.
inline std::string whole_answer(const Mode& mode, std::string_view route, std::string_view as) {
  World world;
  const Exchange heard = world.ask(mode.ask(route));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_TRUE(heard.reply.complete);
  EXPECT_FALSE(text_in(heard.reply).empty());
  std::string quoted_route = "\"";
  quoted_route.append(route).append("\"");
  std::string quoted_as = "\"";
  quoted_as.append(as).append("\"");
  return replaced_all(heard.reply.body, quoted_route, quoted_as);
}

}  // namespace qq::simulation
