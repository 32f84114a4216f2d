#include "dialects/openai/event_edit.h"

namespace qq::dialects::openai {
namespace {

constexpr std::string_view kData =
    R"({"id":"c", "usage" : null ,"model":"m-1","choices":[{"index":0,"delta":{"content":"a"}}]})";

struct Event {
  explicit Event(std::string_view text) : raw("data: " + std::string(text) + "\n\n") {
    event = {.data = std::string_view(raw).substr(6, text.size()), .has_data = true, .end = raw.size()};
    const wire::JsonValue document(event.data);
    facts.model_value = document.member("model").value_or(wire::JsonValue());
    facts.usage_null_value = document.member("usage").value_or(wire::JsonValue());
  }
  std::string raw;
  wire::SseEvent event;
  EventFacts facts;
};

std::string joined(const EventPieces& pieces) {
  std::string out;
  for (const std::string_view piece : pieces) out += piece;
  return out;
}

TEST(EventEdit, PiecesSayWhatTheEditedEventSays) {
  const EventRules rename{.rename_model = "mine", .rename_json = "\"mine\""};
  const EventRules strip{.usage_forced = true};
  const EventRules both{.usage_forced = true, .rename_model = "mine", .rename_json = "\"mine\""};
  for (const std::string_view data :
       {kData, std::string_view(R"({"model":"m-1","choices":[],"usage":null})"),
        std::string_view(R"({"usage":null,"model":"m-1"})"), std::string_view(R"({"usage":null,"x":1})")}) {
    const Event event(data);
    for (const EventRules* rules : {&rename, &strip, &both}) {
      std::string edited;
      if (edit_event(*rules, event.facts, event.event, event.raw, edited) == Edit::Keep) continue;
      EventPieces pieces;
      splice_event(*rules, event.facts, event.raw, pieces);
      EXPECT_EQ(joined(pieces), edited) << data;
    }
  }
}

TEST(EventEdit, UsageThatNobodyAskedForIsTakenOutOfAChunkWithChoices) {
  constexpr std::string_view kChoices = R"("choices":[{"index":0,"delta":{},"finish_reason":"stop"}])";
  const std::string usage = R"("usage":{"prompt_tokens":5,"completion_tokens":7})";
  StreamJudge judge(model::Endpoint::ChatCompletions, model::Target{});
  const std::string raw = "data: {" + std::string(kChoices) + ", " + usage + "}\n\n";
  const wire::SseEvent event{
      .data = std::string_view(raw).substr(6, raw.size() - 8), .has_data = true, .end = raw.size()};
  const EventFacts facts = judge.judge(event, raw);
  EXPECT_EQ(judge.usage().output_total(), 7) << "we read it all the same";
  std::string edited;
  EXPECT_EQ(edit_event({.usage_forced = true}, facts, event, raw, edited), Edit::Rewrite);
  EXPECT_EQ(edited, "data: {" + std::string(kChoices) + "}\n\n");
  EXPECT_EQ(edit_of({}, facts, event), Edit::Keep) << "who asked for it gets it";
}

TEST(EventEdit, ANameThatIsTheWantedOneAlreadyIsNotReplaced) {
  const Event event(kData);
  EXPECT_EQ(edit_of({.rename_model = "m-1", .rename_json = "\"m-1\""}, event.facts, event.event), Edit::Keep);
  EXPECT_EQ(edit_of({.rename_model = "m-2", .rename_json = "\"m-2\""}, event.facts, event.event),
            Edit::Rewrite);
}

TEST(EventEdit, IndentedFieldsAreWrittenSoThatClientsSeeThem) {
  const auto edited = [](std::string_view raw, const EventRules& rules) {
    wire::SseDecoder decoder;
    wire::SseEvent event;
    std::size_t consumed = 0;
    EXPECT_TRUE(decoder.next(raw, consumed, event));
    StreamJudge judge(model::Endpoint::ChatCompletions, model::Target{});
    const EventFacts facts = judge.judge(event, raw);
    std::string out;
    return edit_event(rules, facts, event, raw, out) == Edit::Keep ? std::string(raw) : out;
  };
  const EventRules rename{.rename_model = "mine", .rename_json = "\"mine\""};
  EXPECT_EQ(edited(" data: {\"model\":\"m\"}\r\n\r\n", {}), "data: {\"model\":\"m\"}\n\n");
  EXPECT_EQ(edited("\tdata:{\"model\":\"m\"}\n\n", rename), "data: {\"model\":\"mine\"}\n\n");
  EXPECT_EQ(edited("data: a\n data:  b\n\n", {}), "data: a\ndata:  b\n\n");
  EXPECT_EQ(edited(" event: x\ndata: a\n\n", {}), "event: x\ndata: a\n\n");
  EXPECT_EQ(edited(" data: [DONE]\n\n", {}), "data: [DONE]\n\n");
  for (const std::string_view kept : {"  : x\ndata:a\n\n", " event: x\n\n", " id: 1\ndata: a\n\n"}) {
    EXPECT_EQ(edited(kept, {}), kept);
  }
}

}  // namespace
}  // namespace qq::dialects::openai
