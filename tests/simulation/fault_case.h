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
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Where the told error of a broken stream begins. Clients of responses hear it twice, as OpenAI's do: as an
// error and as a failed response; behind `error_at` both must be there, once.
inline std::string told_error(const Mode& mode, std::string_view body, std::size_t error_at) {
  std::string_view event = body.substr(error_at);
  if (mode.responses) {
    const std::size_t failed = event.find("event: response.failed\ndata: {");
    EXPECT_NE(failed, std::string_view::npos) << body;
    EXPECT_EQ(event.find("\n\n", failed), event.size() - 2) << "nothing behind it";
    event = event.substr(0, failed);
  }
  return std::string(event);
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
