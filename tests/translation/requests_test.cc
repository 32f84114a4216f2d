// For every pair of dialects: a request that both can say, put to a target of the other dialect, read there
// as a client's and put back, means the same, and nothing is reported lost on the way.
#include <fakes/canonical_json.h>
#include <fakes/neutral.h>

#include <map>

#include "dialects/carried_state.h"
#include "dialects/loss_tables.h"
#include "translation/pairs.h"
#include "translation/request_generator.h"

namespace qq::translation {
namespace requests {

using dialects::Field;
using model::Dialect;

bool is_whole(Dialect dialect, Field field) {
  return dialects::support_of(dialects::support_table(dialect), field).verdict ==
         dialects::Support::Verdict::Whole;
}

// What a client of the dialect has no word for, though a target would understand it. The support tables are
// about targets only.
bool says(Dialect client, Field field) {
  switch (field) {
    case Field::TopK: return client != Dialect::OpenAiResponses;
    case Field::ToolSubset: return client != Dialect::Anthropic;
    default: return true;
  }
}

// The same meaning in the same words: neighbouring turns of one role are one, calls are numbered, schemas
// have their members in order. Names of results are the calls'; names of schemas, and what is not asked for,
// are left out.
std::string meaning(model::ChatRequest request) {
  request.dialect = Dialect::OpenAiChat;
  request.usage_in_stream = request.wants_reasoning_state = false;
  request.extra.clear();
  if (request.store == false) request.store.reset();  // said to those that store unasked
  std::map<std::string, std::string> ids;
  const auto number = [&ids](std::string& id) {
    id = ids.emplace(dialects::take_carried(id).id, "call " + std::to_string(ids.size())).first->second;
  };
  std::vector<model::Turn> turns;
  for (model::Turn& turn : request.turns) {
    if (turn.role == model::Role::Developer) turn.role = model::Role::System;
    turn.extra.clear();
    for (model::Part& part : turn.parts) {
      part.extra.clear();
      if (auto* call = part.as<model::ToolCallPart>()) {
        number(call->id);
        call->arguments = testing::canonical_json(wire::JsonValue(call->arguments));
      }
      if (auto* result = part.as<model::ToolResultPart>()) {
        number(result->call_id);
        result->name.clear();
        // Gemini's are objects: what is one comes back as one.
        for (model::Part& inner : result->content) {
          auto* text = inner.as<model::TextPart>();
          if (text != nullptr && !wire::check_json(text->text))
            text->text = testing::canonical_json(wire::JsonValue(text->text));
        }
      }
      if (auto* media = part.as<model::MediaPart>()) media->detail.clear();
    }
    if (!turns.empty() && turns.back().role == turn.role) {
      std::ranges::move(turn.parts, std::back_inserter(turns.back().parts));
    } else {
      turns.push_back(std::move(turn));
    }
  }
  request.turns = std::move(turns);
  for (model::Tool& tool : request.tools) {
    tool.schema = testing::canonical_json(wire::JsonValue(tool.schema));
    if (tool.strict == false) tool.strict.reset();
    tool.extra.clear();
  }
  if (request.tool_choice && request.tool_choice->mode == model::ToolChoice::Mode::Auto)
    request.tool_choice.reset();
  if (request.parallel_tool_calls == true) request.parallel_tool_calls.reset();
  if (request.output) {
    request.output->schema = testing::canonical_json(wire::JsonValue(request.output->schema));
    request.output->name.clear();
    request.output->strict.reset();
    if (request.output->kind == model::OutputFormat::Kind::Text) request.output.reset();
  }
  return testing::describe(request);
}

class Requests : public ::testing::TestWithParam<std::tuple<Dialect, Dialect>> {};

INSTANTIATE_TEST_SUITE_P(Pairs, Requests,
                         ::testing::Combine(::testing::ValuesIn(kClients), ::testing::ValuesIn(kClients)),
                         [](const auto& info) {
                           return std::string(to_string(std::get<0>(info.param))) + "_to_" +
                                  std::string(to_string(std::get<1>(info.param)));
                         });

// As a target of `dialect` gets it, and as a client would have said it.
model::ChatRequest said_in(Dialect dialect, const model::ChatRequest& request, std::string& body) {
  dialects::Losses losses;
  const auto sent = dialects::provider_dialect(dialect)->encode_request(request, target_of(dialect), losses);
  EXPECT_TRUE(sent) << sent.error().param << ": " << sent.error().message;
  if (!sent) return {};
  body += "\n" + sent->body;
  for (const dialects::Loss& loss : losses) ADD_FAILURE() << "lost " << loss.field << ": " << loss.why;
  auto again = dialects::client_dialect(dialect)->decode_request(
      sent->body, {.path_model = "asked", .path_stream = request.stream});
  EXPECT_TRUE(again) << again.error().param << ": " << again.error().message << body;
  if (!again) return {};
  again->model = "asked";
  return *std::move(again);
}

TEST_P(Requests, ThatBothCanSayComeBackAsTheyWere) {
  const Dialect ours = std::get<0>(GetParam());
  const Dialect theirs = std::get<1>(GetParam());
  const auto may = [ours, theirs](Field field) {
    return is_whole(ours, field) && is_whole(theirs, field) && says(ours, field) && says(theirs, field);
  };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    model::ChatRequest made = RequestGenerator(seed, may).make();
    made.dialect = ours;
    std::string bodies;
    const model::ChatRequest before = said_in(ours, made, bodies);
    const model::ChatRequest there = said_in(theirs, before, bodies);
    const model::ChatRequest after = said_in(ours, there, bodies);
    EXPECT_EQ(meaning(before), meaning(made)) << bodies;
    EXPECT_EQ(meaning(after), meaning(before)) << bodies;
    if (HasFailure()) return;
  }
}

}  // namespace requests
}  // namespace qq::translation
