#include <fakes/declared.h>
#include <fakes/neutral.h>
#include <gtest/gtest.h>

#include "dialects/declared/dialect.h"

namespace qq::dialects::declared {
namespace {

using model::DeclaredAdapter;
using model::DeclaredStream;
using Format = DeclaredStream::Format;
using qq::testing::declared_adapter;
using qq::testing::declared_target;

std::string answer_of(std::string_view body, DeclaredAdapter adapter = declared_adapter()) {
  const auto made = provider_side().decode_answer(body, declared_target(std::move(adapter)), "seed");
  if (!made) return std::string(to_string(made.error().kind)) + " " + made.error().message;
  return qq::testing::describe(*made);
}

qq::testing::DecodedStream stream_of(std::string_view body, DeclaredAdapter adapter) {
  return qq::testing::decode_however_split(provider_side(), model::Dialect::Declared,
                                           declared_target(std::move(adapter)), body);
}

// ---- whole answers

TEST(DeclaredAnswer, IsReadWhereThePointersLead) {
  EXPECT_EQ(
      answer_of(
          R"({"trace":"t1","engine":"large-3","out":{"words":"Hello","thoughts":"hm"},"ended":"complete",)"
          R"("cost":{"in":10,"out":7,"cached":4,"stored":1,"thought":2}})"),
      "answer id=t1 model=large-3 created=0\n"
      "  choice 0 stop (complete)\n    reasoning \"hm\"\n    text \"Hello\"\n"
      "  usage uncached=5 read=4 write=1 text=5 reasoning=2\n");
}

TEST(DeclaredAnswer, CountsAsTheBackEndCounts) {
  DeclaredAdapter apart = declared_adapter();
  apart.answer.usage.input_includes_cache = false;
  apart.answer.usage.output_includes_reasoning = false;
  constexpr std::string_view kBody =
      R"({"out":{"words":"x"},"cost":{"in":10,"out":7,"cached":40,"thought":2}})";
  EXPECT_TRUE(answer_of(kBody, apart).ends_with("usage uncached=10 read=40 text=7 reasoning=2\n"));
  EXPECT_TRUE(answer_of(kBody).ends_with("usage uncached=0 read=40 text=5 reasoning=2\n"))
      << "figures that contradict each other never become negative";
}

TEST(DeclaredAnswer, HasCallsWithArgumentsAsJsonOrAsText) {
  EXPECT_EQ(
      answer_of(R"({"actions":[{"ref":"r1","name":"look","input":{"at":1}},)"
                R"({"name":"go","input":"{\"to\":2}"},{"ref":"r3","name":"stop"}],"ended":"complete"})"),
      "answer id= model= created=0\n"
      "  choice 0 tool_calls (complete)\n"
      "    call r1 look {\"at\":1}\n    call " +
          [] {
            const auto made = provider_side().decode_answer(R"({"actions":{"name":"x"}})",
                                                            declared_target(declared_adapter()), "seed");
            // The id of a call without one depends on the seed and on its place.
            EXPECT_FALSE(made->choices[0].parts[0].as<model::ToolCallPart>()->id.empty());
            const auto again =
                provider_side().decode_answer(R"({"actions":[{"name":"a","ref":"q"},{"name":"x"}]})",
                                              declared_target(declared_adapter()), "seed");
            return again->choices[0].parts[1].as<model::ToolCallPart>()->id;
          }() +
          " go {\"to\":2}\n    call r3 stop {}\n  usage \n");
  EXPECT_EQ(answer_of(R"({"actions":[{"ref":"r1"}]})"),
            "stream_error the provider sent a tool call without a name");
}

TEST(DeclaredAnswer, ThatIsNoneIsAnError) {
  EXPECT_EQ(answer_of(""), "empty_reply the provider's answer is empty");
  EXPECT_EQ(answer_of("<html>"), "bad_json the provider's answer is not JSON");
  EXPECT_EQ(answer_of("{}"), "empty_reply the provider's answer has nothing in it");
  EXPECT_EQ(answer_of(R"({"out":{"words":{"a":1}}})"), "empty_reply the provider's answer has nothing in it");
  EXPECT_EQ(answer_of(R"({"out":{"words":"x"},"ended":"crash"})"),
            "stream_error the provider ended its answer with \"crash\"");
  // Cut by a limit before anything came: that is an answer.
  EXPECT_EQ(answer_of(R"({"out":{"words":""},"ended":"limit"})"),
            "answer id= model= created=0\n  choice 0 length (limit)\n  usage \n");
}

TEST(DeclaredAnswer, MayHoldAnErrorInsideA200) {
  const auto error = provider_side()
                         .decode_answer(R"({"fault":{"code":"SLOW","text":"wait"},"out":{"words":"x"}})",
                                        declared_target(declared_adapter()), "seed")
                         .error();
  EXPECT_EQ(error.kind, ErrorKind::RateLimited);
  EXPECT_EQ(error.code, "SLOW");
  EXPECT_EQ(error.message, "wait");
  EXPECT_EQ(answer_of(R"({"fault":{"code":17}})"),
            "stream_error the provider sent an error without a message");
  for (const std::string_view fine : {"0", "\"0\"", "null", "false", "\"\"", "\"OK\""}) {
    EXPECT_TRUE(
        answer_of(R"({"fault":{"code":)" + std::string(fine) + R"(,"text":"fine"},"out":{"words":"x"}})")
            .starts_with("answer"))
        << fine;
  }
  DeclaredAdapter by_message = declared_adapter();
  by_message.errors.code.clear();
  EXPECT_EQ(answer_of(R"({"fault":{"text":"no"},"out":{"words":"x"}})", by_message), "stream_error no");
}

// ---- streams

TEST(DeclaredStream, OfEventsEndsWithItsMark) {
  DeclaredAdapter adapter = declared_adapter();
  adapter.stream.done_data = "[DONE]";
  const auto stream = stream_of(
      "data: {\"trace\":\"t1\",\"engine\":\"e\"}\n\n"
      "data: {\"out\":{\"thoughts\":\"hm\"}}\n\n: a comment\n\n"
      "data: {\"out\":{\"words\":\"Hel\"}}\n\n"
      "data: {\"out\":{\"words\":\"lo\"},\"ended\":null}\n\n"
      "data: {\"ended\":\"complete\"}\n\n"
      "data: {\"cost\":{\"in\":3,\"out\":2}}\n\n"
      "data: [DONE]\n\n",
      adapter);
  EXPECT_EQ(qq::testing::describe(stream.answer),
            "answer id=t1 model=e created=0\n"
            "  choice 0 stop (complete)\n    reasoning \"hm\"\n    text \"Hello\"\n"
            "  usage uncached=3 text=2\n");
  EXPECT_TRUE(stream.ended);
}

TEST(DeclaredStream, ThatBreaksOffIsNotTakenForAWholeOne) {
  DeclaredAdapter marked = declared_adapter();
  marked.stream.done = {"last"};
  const std::string words = "data: {\"out\":{\"words\":\"Hello\"},\"last\":false}\n\n";
  const std::string finish = "data: {\"ended\":\"complete\"}\n\n";
  EXPECT_EQ(stream_of(words + finish, marked).error->kind, ErrorKind::StreamCut)
      << "a finish word is no mark where one is described";
  EXPECT_TRUE(stream_of(words + "data: {\"last\":true}\n\n", marked).ended);

  DeclaredAdapter unmarked = declared_adapter();
  EXPECT_EQ(stream_of(words, unmarked).error->kind, ErrorKind::StreamCut);
  EXPECT_TRUE(stream_of(words + finish, unmarked).ended);
  EXPECT_EQ(stream_of("", unmarked).error->kind, ErrorKind::StreamCut);
}

TEST(DeclaredStream, OfWholeTextsComesOutInPieces) {
  DeclaredAdapter adapter = declared_adapter(Format::Ndjson);
  adapter.stream.text = DeclaredStream::Text::SoFar;
  adapter.stream.done = {"last"};
  const auto stream = stream_of(
      "{\"out\":{\"words\":\"H\xc3\xa9\"}}\n\n{\"out\":{\"words\":\"H\xc3\xa9llo\"}}\r\n"
      "{\"out\":{\"words\":\"H\xc3\xa9llo\"}}\n{\"out\":{\"words\":\"H\xc3\xa9llo, you\"},\"last\":1}",
      adapter);
  EXPECT_TRUE(stream.ended) << stream.events;
  EXPECT_EQ(stream.answer.choices.at(0).parts.at(0).as<model::TextPart>()->text, "H\xc3\xa9llo, you");
  const auto changed =
      stream_of("{\"out\":{\"words\":\"Hello\"}}\n{\"out\":{\"words\":\"Howdy\"}}\n", adapter);
  EXPECT_EQ(changed.error->kind, ErrorKind::StreamError);
}

TEST(DeclaredStream, TellsEventsApartByTheirWord) {
  DeclaredAdapter adapter = declared_adapter();
  adapter.stream.where.text = adapter.stream.where.reasoning = {"piece"};
  adapter.stream.text_in = {"words"};
  adapter.stream.reasoning_in = {"thoughts"};
  adapter.stream.done_in = {"end"};
  adapter.stream.error_in = {"oops"};
  constexpr std::string_view kByName =
      "event: thoughts\ndata: {\"piece\":\"hm\"}\n\nevent: words\ndata: {\"piece\":\"Hi\"}\n\n"
      "event: ping\ndata: {\"piece\":\"no\"}\n\nevent: end\ndata: {}\n\n";
  EXPECT_EQ(qq::testing::describe_parts(stream_of(kByName, adapter).answer.choices.at(0).parts, ""),
            "reasoning \"hm\"\ntext \"Hi\"\n");
  EXPECT_EQ(stream_of("event: oops\ndata: it broke\n\n", adapter).error->kind, ErrorKind::StreamError)
      << "an error need not be JSON";
  adapter.stream.type = {"kind"};
  constexpr std::string_view kByMember =
      "data: {\"kind\":\"words\",\"piece\":\"Hi\"}\n\ndata: {\"kind\":\"end\"}\n\n";
  EXPECT_TRUE(stream_of(kByMember, adapter).ended);
}

TEST(DeclaredStream, PutsCallsTogetherFromTheirPieces) {
  DeclaredAdapter adapter = declared_adapter();
  adapter.stream.done_data = "END";
  const auto stream = stream_of(
      "data: {\"out\":{\"words\":\"Look:\"}}\n\n"
      "data: {\"actions\":[{\"slot\":0,\"ref\":\"r0\",\"name\":\"look\",\"input\":\"{\\\"a\"},"
      "{\"slot\":1,\"ref\":\"r1\",\"name\":\"go\"}]}\n\n"
      "data: {\"actions\":[{\"slot\":0,\"input\":\"\\\":1}\"}]}\n\n"
      "data: {\"ended\":\"complete\"}\n\ndata: END\n\n",
      adapter);
  EXPECT_EQ(qq::testing::describe_parts(stream.answer.choices.at(0).parts, ""),
            "text \"Look:\"\ncall r0 look {\"a\":1}\ncall r1 go {}\n");
  EXPECT_EQ(stream.answer.choices.at(0).finish, model::Finish::ToolCalls);

  // Without an index, pieces without a name go on with the last call.
  const auto bare = stream_of(
      "data: {\"actions\":{\"name\":\"look\",\"input\":\"{\"}}\n\ndata: {\"actions\":{\"input\":\"}\"}}\n\n"
      "data: {\"actions\":{\"name\":\"go\",\"input\":{\"to\":2}}}\n\ndata: END\n\n",
      adapter);
  ASSERT_EQ(bare.answer.choices.at(0).parts.size(), 2U) << bare.events;
  EXPECT_EQ(bare.answer.choices[0].parts[0].as<model::ToolCallPart>()->arguments, "{}");
  EXPECT_EQ(bare.answer.choices[0].parts[1].as<model::ToolCallPart>()->arguments, "{\"to\":2}");

  EXPECT_EQ(stream_of("data: {\"actions\":[{\"slot\":3,\"input\":\"x\"}]}\n\n", adapter).error->message,
            "the provider sent a tool call without a name");
  EXPECT_EQ(
      stream_of("data: {\"actions\":{\"slot\":0,\"name\":\"a\"}}\n\ndata: {\"out\":{\"words\":\"x\"}}\n\n"
                "data: {\"actions\":{\"slot\":0,\"input\":\"x\"}}\n\n",
                adapter)
          .error->message,
      "the provider went on with a tool call that had ended");
}

TEST(DeclaredStream, ThatFailsSaysWhy) {
  DeclaredAdapter adapter = declared_adapter();
  adapter.stream.done_data = "END";
  const std::string words = "data: {\"out\":{\"words\":\"Hello\"}}\n\n";
  const auto slow =
      stream_of(words + "data: {\"fault\":{\"code\":\"SLOW\",\"text\":\"wait\"}}\n\n" + words, adapter);
  EXPECT_EQ(slow.error->kind, ErrorKind::RateLimited);
  EXPECT_EQ(slow.error->message, "wait");
  EXPECT_EQ(stream_of(words + "data: nonsense\n\n", adapter).error->kind, ErrorKind::BadJson);
  EXPECT_EQ(stream_of(words + "data: {\"ended\":\"crash\"}\n\n", adapter).error->kind,
            ErrorKind::StreamError);
  EXPECT_EQ(stream_of("data: END\n\n", adapter).error->kind, ErrorKind::EmptyReply);
  EXPECT_TRUE(stream_of("data: {\"ended\":\"limit\"}\n\ndata: END\n\n", adapter).ended);
}

TEST(DeclaredStream, OfABackEndThatDoesNotStreamIsItsAnswer) {
  const auto stream =
      stream_of(R"({"trace":"t1","out":{"words":"Hello"},"ended":"complete","cost":{"in":3}})",
                declared_adapter(Format::None));
  EXPECT_EQ(
      qq::testing::describe(stream.answer),
      "answer id=t1 model= created=0\n  choice 0 stop (complete)\n    text \"Hello\"\n  usage uncached=3\n");
  EXPECT_TRUE(stream.ended);
  EXPECT_EQ(stream_of("{\"fault\":{\"code\":\"SLOW\"}}", declared_adapter(Format::None)).error->kind,
            ErrorKind::RateLimited);
  EXPECT_EQ(stream_of("{\"out\":", declared_adapter(Format::None)).error->kind, ErrorKind::BadJson);
}

TEST(DeclaredStream, ALineThatNeverEndsIsCutOff) {
  const auto decoder =
      provider_side().stream_decoder(declared_target(declared_adapter(Format::Ndjson)), "seed");
  qq::testing::CollectingSink sink(model::Dialect::Declared);
  const std::string piece(1024UL * 1024, 'x');
  for (int i = 0; i < 20; ++i) decoder->feed(piece, sink);
  EXPECT_EQ(sink.release().error->kind, ErrorKind::EventTooBig);
}

}  // namespace
}  // namespace qq::dialects::declared
