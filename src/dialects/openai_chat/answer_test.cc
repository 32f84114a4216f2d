#include <fakes/neutral.h>

#include "dialects/carried_state.h"
#include "dialects/openai_chat/dialect.h"
#include "wire/json.h"

namespace qq::dialects::openai_chat {
namespace answer_test {

using model::Part;

std::string decoded(std::string_view body) {
  const auto answer = provider_side().decode_answer(body, {}, "seed");
  return answer ? testing::describe(*answer)
                : "error " + std::string(to_string(answer.error().kind)) + ": " + answer.error().message;
}
// Of an answer with this message and finish reason: its first choice.
std::string choice_of(std::string_view message, std::string_view finish = "stop") {
  const std::string text = decoded(std::string(R"({"choices":[{"index":0,"message":)")
                                       .append(message)
                                       .append(R"(,"finish_reason":")")
                                       .append(finish)
                                       .append(R"("}]})"));
  const std::size_t begin = text.find("  choice");
  return begin == std::string::npos ? text : text.substr(begin, text.find("  usage") - begin);
}

TEST(ChatAnswerDecode, ReadsAnAnswerAndWhatStandsBesideIt) {
  EXPECT_EQ(decoded(R"({"id":"chatcmpl-1","object":"chat.completion","created":5,"model":"gpt","choices":[
      {"index":0,"message":{"role":"assistant","content":"Hi","refusal":null},"logprobs":{"content":[{"token":"Hi"}]},
       "finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":7,
       "prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}},
      "service_tier":"default","system_fingerprint":"fp"})"),
            "answer id=chatcmpl-1 model=gpt created=5 tier=default +system_fingerprint=\"fp\"\n"
            "  choice 0 stop (stop) logprobs [{\"token\":\"Hi\"}]\n"
            "    text \"Hi\"\n"
            "  usage uncached=6 read=4 text=5 reasoning=2\n");
}

TEST(ChatAnswerDecode, BlanksAndAMarkBeforeTheBodyAreNothing) {
  EXPECT_NE(decoded("\n   \n\n{\"choices\":[{\"message\":{\"content\":\"Hi\"}}]}").find("text \"Hi\""),
            std::string::npos);
  EXPECT_NE(decoded("\xef\xbb\xbf{\"choices\":[{\"message\":{\"content\":\"Hi\"}}]}").find("text \"Hi\""),
            std::string::npos);
}

TEST(ChatAnswerDecode, CallsHaveArgumentsAndIds) {
  const std::string made = choice_of(R"({"content":"","tool_calls":[
      {"id":"a","type":"function","function":{"name":"f","arguments":""}},
      {"id":"b","function":{"name":"g","arguments":{"x":1}}},
      {"function":{"name":"h","arguments":"null"},"extra_content":{"google":{"thought_signature":"ts"}}},
      {"id":"c","type":"custom","custom":{"name":"k","input":"free"}}]})",
                                     "tool_calls");
  EXPECT_TRUE(made.starts_with(
      "  choice 0 tool_calls (tool_calls)\n    call a f {}\n    call b g {\"x\":1}\n    call call_"))
      << made;
  EXPECT_NE(
      made.find(
          " h {} state openai_chat:{\"google\":{\"thought_signature\":\"ts\"}}\n    custom_call c k free\n"),
      std::string::npos)
      << made;
}

TEST(ChatAnswerDecode, CallsThatEndWithStopWaitForResultsAllTheSame) {
  EXPECT_TRUE(choice_of(R"({"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]})")
                  .starts_with("  choice 0 tool_calls (stop)"));
}

TEST(ChatAnswerDecode, ThoughtsOfAllShapes) {
  const std::string plain = "  choice 0 stop (stop)\n    reasoning \"t\"\n    text \"x\"\n";
  for (
      const char* message :
      {R"({"content":"x","reasoning_content":"t"})", R"({"content":"x","reasoning":"t"})",
       R"({"content":"x","reasoning":"t","reasoning_details":[{"type":"reasoning.text","text":"t","index":0}]})",
       R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"x"}]})"}) {
    EXPECT_EQ(choice_of(message), plain) << message;
  }
  EXPECT_EQ(choice_of(R"({"content":"x","reasoning":"s","reasoning_details":[
      {"type":"reasoning.summary","summary":"s","index":0},{"type":"reasoning.encrypted","data":"e","index":0},
      {"type":"reasoning.encrypted","data":"f","index":1}]})"),
            "  choice 0 stop (stop)\n"
            "    reasoning_summary \"s\" state "
            "openai_chat:{\"type\":\"reasoning.encrypted\",\"data\":\"e\",\"index\":0}\n"
            "    reasoning_redacted \"\" state "
            "openai_chat:{\"type\":\"reasoning.encrypted\",\"data\":\"f\",\"index\":1}\n"
            "    text \"x\"\n");
}

TEST(ChatAnswerDecode, SoundImagesAndSources) {
  EXPECT_EQ(
      choice_of(
          R"({"content":null,"audio":{"id":"audio_1","expires_at":9,"data":"T2dnUw==","transcript":"beep"}})"),
      "  choice 0 stop (stop)\n    text \"beep\"\n"
      "    audio base64 \"T2dnUw==\" audio/ogg +id=\"audio_1\" +expires_at=9\n");
  EXPECT_EQ(
      choice_of(
          R"({"content":"x","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}],
      "annotations":[{"type":"url_citation","url_citation":{"url":"https://x"}}]})"),
      "  choice 0 stop (stop)\n"
      "    text \"x\" citation {\"type\":\"url_citation\",\"url_citation\":{\"url\":\"https://x\"}}\n"
      "    image base64 \"AA\" image/png\n");
}

TEST(ChatAnswerDecode, FinishWordsOfAllProviders) {
  const auto finish = [](const char* word) {
    const std::string made = choice_of(R"({"content":"x"})", word);
    return made.substr(0, made.find('\n'));
  };
  EXPECT_EQ(finish("eos"), "  choice 0 stop (eos)");
  EXPECT_EQ(finish("sensitive"), "  choice 0 filtered (sensitive)");
  EXPECT_EQ(finish("model_length"), "  choice 0 length (model_length)");
  EXPECT_EQ(finish(""), "  choice 0 stop ()");
  EXPECT_TRUE(finish("network_error").starts_with("error stream_error"));
}

TEST(ChatAnswerDecode, WhatIsNoAnswerIsAnError) {
  EXPECT_TRUE(decoded("<html>").starts_with("error bad_json"));
  EXPECT_TRUE(decoded(R"({"error":{"message":"no"}})").starts_with("error stream_error: no"));
  EXPECT_TRUE(decoded(R"({"choices":[{"message":{"content":""},"finish_reason":"stop"}]})")
                  .starts_with("error empty_reply"));
  EXPECT_EQ(choice_of("null", "content_filter"), "  choice 0 filtered (content_filter)\n");
}

// ---- to the client

model::ChatAnswer answer_with(std::vector<Part> parts, model::Finish finish = model::Finish::Stop) {
  model::ChatAnswer answer;
  answer.dialect = model::Dialect::Anthropic;
  answer.id = "msg_1";
  answer.model = "their-name";
  answer.choices.push_back(
      {.parts = std::move(parts), .finish = finish, .finish_word = {}, .stop_string = {}, .logprobs = {}});
  return answer;
}
Part text(std::string words) {
  return Part(model::TextPart{.text = std::move(words), .citations = {}});
}
std::string encoded(const model::ChatAnswer& answer, const model::ChatRequest& request = {},
                    std::string* lost = nullptr) {
  Losses losses;
  std::string body =
      client_side().encode_answer(answer, request, {.model = "asked", .request_id = "req", .now = 9}, losses);
  EXPECT_FALSE(wire::check_json(body)) << body;
  for (const Loss& loss : losses) {
    if (lost != nullptr) *lost += loss.field + " ";
  }
  return body;
}
std::string message_of(const std::string& body) {
  const std::size_t begin = body.find("\"message\":") + 10;
  return body.substr(begin, body.find(",\"logprobs\"") - begin);
}

TEST(ChatAnswerEncode, HasEveryFieldThatSdksRead) {
  model::ChatAnswer answer = answer_with({text("Hi")});
  answer.usage = {.input_uncached = 5,
                  .cache_read = 3,
                  .cache_write = 2,
                  .output_text = 4,
                  .reasoning = 6,
                  .source = model::UsageSource::Provider};
  EXPECT_EQ(
      encoded(answer),
      R"({"id":"chatcmpl-req","object":"chat.completion","created":9,"model":"asked","choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":"Hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20,"prompt_tokens_details":)"
      R"({"cached_tokens":3,"cache_write_tokens":2},"completion_tokens_details":{"reasoning_tokens":6}}})");
}

TEST(ChatAnswerEncode, ThoughtsStandInBothPlacesWithTheirState) {
  Part thought(model::ReasoningPart{.text = "why", .id = {}});
  thought.state = {model::Dialect::Anthropic, "sig"};
  const std::string sealed = state_field(thought.state, model::Dialect::OpenAiChat);
  const std::string body = encoded(answer_with({thought, text("x")}));
  EXPECT_EQ(message_of(body), R"({"role":"assistant","content":"x","refusal":null,"reasoning_content":"why",)"
                              R"("reasoning_details":[{"text":"why","type":"reasoning.text","signature":")" +
                                  sealed + R"(","index":0}]})");
  model::ChatRequest hides;
  hides.reasoning = model::ReasoningWish{.effort = {}, .budget_tokens = {}, .show = false, .summary = {}};
  EXPECT_EQ(message_of(encoded(answer_with({thought, text("x")}), hides)),
            R"({"role":"assistant","content":"x","refusal":null})");
}

TEST(ChatAnswerEncode, StateTravelsInTheIdOfTheFirstCallBehindIt) {
  Part thought(model::ReasoningPart{.text = "why", .id = {}});
  thought.state = {model::Dialect::Anthropic, "sig"};
  const auto call = [](std::string id) {
    return Part(model::ToolCallPart{.id = std::move(id), .name = "f", .arguments = ""});
  };
  const std::string body = encoded(answer_with({thought, call("a"), call("b")}, model::Finish::ToolCalls));
  const auto calls = wire::JsonValue(body).member("choices")->text();
  const auto request = client_side().decode_request(
      R"({"model":"m","messages":[{"role":"assistant","content":null,)" +
          std::string(calls.substr(calls.find("\"tool_calls\"")))
              .substr(0, calls.substr(calls.find("\"tool_calls\"")).find("},\"logprobs\"")) +
          "}]}",
      {});
  ASSERT_TRUE(request) << request.error().message << body;
  EXPECT_EQ(testing::describe_parts(request->turns.at(0).parts, ""),
            "reasoning \"why\" state anthropic:sig\ncall a f {}\ncall b f {}\n");
}

TEST(ChatAnswerEncode, SourcesOfOtherDialectsBecomeAnnotations) {
  Part cited = text(
      "\xc3\xa4"
      "b");
  cited.as<model::TextPart>()->citations = {
      R"({"type":"web_search_result_location","url":"https://x","title":"X","cited_text":"…"})",
      R"({"web":{"uri":"https://y","title":"Y"}})", R"({"type":"char_location","document_index":0})"};
  std::string lost;
  EXPECT_EQ(
      message_of(encoded(answer_with({text("1234"), cited}), {}, &lost)),
      "{\"role\":\"assistant\",\"content\":\"1234\xc3\xa4"
      "b\",\"refusal\":null,\"annotations\":["
      R"({"type":"url_citation","url_citation":{"url":"https://x","title":"X","start_index":4,"end_index":6}},)"
      R"({"type":"url_citation","url_citation":{"url":"https://y","title":"Y","start_index":4,"end_index":6}}]})");
  EXPECT_EQ(lost, "citations ");
}

TEST(ChatAnswerEncode, SoundImagesAndRefusals) {
  using model::MediaPart;
  const Part sound(MediaPart{
      .kind = MediaPart::Kind::Audio, .data = "AA", .media_type = "audio/wav", .name = {}, .detail = {}});
  const Part image(MediaPart{.data = "BB", .media_type = "image/png", .name = {}, .detail = {}});
  const std::string heard = message_of(encoded(answer_with({text("said"), sound})));
  EXPECT_TRUE(heard.starts_with(R"({"role":"assistant","content":null,"refusal":null,"audio":{"id":"audio_)"))
      << heard;
  EXPECT_TRUE(heard.ends_with(R"("data":"AA","transcript":"said"}})")) << heard;
  EXPECT_EQ(
      message_of(encoded(answer_with({text("x"), image}))),
      R"({"role":"assistant","content":"x","refusal":null,"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,BB"}}]})");
  EXPECT_EQ(message_of(encoded(answer_with({Part(model::RefusalPart{"No."})}))),
            R"({"role":"assistant","content":null,"refusal":"No."})");
}

TEST(ChatAnswerEncode, WhatHasNoPlaceIsALoss) {
  std::string lost;
  const Part opaque(
      model::OpaquePart{.dialect = model::Dialect::Anthropic, .type = "server_tool_use", .value = "{}"});
  encoded(answer_with({opaque, text("x")}), {}, &lost);
  EXPECT_EQ(lost, "content ");
}

TEST(ChatAnswerDecode, ACallWithoutANameIsAFailureAsInAStream) {
  const std::string text =
      decoded(R"({"choices":[{"index":0,"message":{"tool_calls":[{"id":"c","type":"function",)"
              R"("function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]})");
  EXPECT_NE(text.find("without a name"), std::string::npos) << text;
}

}  // namespace answer_test
}  // namespace qq::dialects::openai_chat
