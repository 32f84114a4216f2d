// Back ends that are polled, through the whole gateway: the made-up vendor of examples/polled-adapter.yaml,
// which takes a question and is asked for the answer every two seconds.
#include <fstream>
#include <sstream>

#include "providers/hmac_signer.h"
#include "simulation/scripted_provider.h"
#include "wire/json.h"

namespace qq::simulation::polled {
namespace {

using Reply = fakes::HttpScript::Reply;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The example as it stands, but for where it is, what its key is, and that the route `asked` has a second
// target, a simulated provider.
WorldSetup setup(std::string_view from, std::string_view to, std::string_view timers) {
  std::ifstream file(QQ_SOURCE_DIR "/examples/polled-adapter.yaml");
  std::ostringstream read;
  read << file.rdbuf();
  std::string text = replaced(read.str(), "\"https://brain.example/api\"",
                              "\"http://127.0.0.1:9101/api\"\n    allow_private_address: true");
  text = replaced(text, "${BRAIN_KEY_ID}:${BRAIN_SECRET}", "id-1:canary-secret");
  text = replaced(text, "\nmodels:\n",
                  "\n  - {name: p0, kind: openai_compatible, base_url: \"http://127.0.0.1:9001/v1\", "
                  "allow_private_address: true, accounts: [{name: main, credential: sk-upstream}]}\n"
                  "\nmodels:\n  - {name: m0, provider: p0, upstream_name: sim-gpt}\n");
  text += "routes:\n  - {name: asked, candidates: [{model: brain-slow}], fallback: [{model: m0}]}\n";
  text.append(timers);
  if (!from.empty()) text = replaced(text, from, to);
  WorldSetup setup;
  setup.providers = 1;
  setup.config = std::move(text);
  return setup;
}

struct PolledWorld {
  explicit PolledWorld(std::vector<Reply> replies, std::string_view from = {}, std::string_view to = {},
                       std::string_view timers = {})
      : world(setup(from, to, timers)) {
    provider.replies = std::move(replies);
  }
  ~PolledWorld() { world.expect_rest(); }
  PolledWorld(const PolledWorld&) = delete;
  PolledWorld& operator=(const PolledWorld&) = delete;

  // "POST /api/v2/engines/large/jobs": what the vendor was asked, without the rest of the line.
  [[nodiscard]] std::vector<std::string> asked() const {
    std::vector<std::string> lines;
    for (const std::string& request : provider.requests)
      lines.push_back(request.substr(0, request.find(" HTTP/1.1\r\n")));
    return lines;
  }
  [[nodiscard]] int polls() const {
    int count = 0;
    for (const std::string& line : asked()) count += line.starts_with("GET ") ? 1 : 0;
    return count;
  }

  World world;
  fakes::HttpScript provider{world.loop(), "127.0.0.1:9101"};
};

const Reply kBegun{.status = 202, .body = R"({"job":{"name":"jobs/17","state":"queued"}})"};
const Reply kRuns{.status = 202, .body = R"({"job":{"name":"jobs/17","state":"running"}})"};
const Reply kDone{
    .body =
        R"({"job":{"name":"jobs/17","state":"done"},"result":{"words":"Over the bridge.","ended":"limit"},)"
        R"("cost":{"read":12,"written":5}})"};

const std::string kSubmit = "POST /api/v2/engines/large/jobs";
const std::string kPoll = "GET /api/v2/jobs/17";
const std::string kStop = "POST /api/v2/jobs/17/stop";
using Lines = std::vector<std::string>;

std::string header_of(const std::string& request, std::string_view name) {
  const std::string line = "\r\n" + std::string(name) + ": ";
  const std::size_t at = request.find(line);
  if (at == std::string::npos) return "none";
  return request.substr(at + line.size(), request.find("\r\n", at + 2) - at - line.size());
}

TEST(Polled, AnAnswerIsAskedForUntilItHasCome) {
  PolledWorld polled({kBegun, kRuns, kRuns, kDone});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(text_in(heard.reply), "Over the bridge.");
  EXPECT_NE(heard.reply.body.find(R"("finish_reason":"length")"), std::string::npos) << heard.reply.body;
  EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll, kPoll, kPoll}));
  EXPECT_GE(heard.took, 6s) << "every two seconds";
  EXPECT_LT(heard.took, 6'500ms);
  ASSERT_EQ(heard.attempts().size(), 1U) << "all of it is one attempt";
  EXPECT_EQ(heard.story(), "success");
  ASSERT_TRUE(heard.record);
  EXPECT_EQ(heard.record->usage.input_uncached, 12);
  EXPECT_EQ(heard.record->usage.output_total(), 5);
}

TEST(Polled, EveryExchangeIsSignedAndHasTheHeadersOfAll) {
  PolledWorld polled({kBegun, kRuns, kDone});
  EXPECT_EQ(polled.world.ask(chat("asked")).reply.status, 200);
  ASSERT_EQ(polled.provider.requests.size(), 3U);
  const std::string& submit = polled.provider.requests[0];
  const std::string& poll = polled.provider.requests[1];
  const std::string& again = polled.provider.requests[2];
  EXPECT_EQ(header_of(submit, "x-brain-tenant"), "acme");
  EXPECT_EQ(header_of(poll, "x-brain-tenant"), "acme");
  const model::Target& target = *polled.world.snapshot().targets.back();
  const std::string signed_lines = providers::hmac_header_lines(
      *target.declared->hmac, target.signing_credential,
      {.method = "GET", .host = "127.0.0.1:9101", .path_and_query = "/api/v2/jobs/17", .body_pieces = {}},
      WallTime(std::chrono::seconds(std::stoll(header_of(poll, "x-brain-time")))),
      header_of(poll, "x-brain-nonce"));
  EXPECT_NE(poll.find(signed_lines), std::string::npos) << poll << "\nis not signed as\n" << signed_lines;
  EXPECT_NE(header_of(submit, "authorization"), header_of(poll, "authorization"));
  EXPECT_NE(header_of(again, "x-brain-nonce"), header_of(poll, "x-brain-nonce"));
  EXPECT_EQ(header_of(poll, "content-length"), "none") << "a GET has no body";
  EXPECT_EQ(header_of(poll, "content-type"), "none");
  EXPECT_EQ(header_of(poll, "x-request-id"), header_of(submit, "x-request-id"));
}

TEST(Polled, WhatIsOverAtOnceIsNotPolled) {
  PolledWorld polled({kDone});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(text_in(heard.reply), "Over the bridge.");
  EXPECT_EQ(polled.asked(), Lines{kSubmit});
}

// Each client dialect has its stream of the one whole answer.
TEST(Polled, AClientThatWantsAStreamGetsTheWholeAnswerAsOne) {
  PolledWorld polled({kBegun, kRuns, kDone});
  const Exchange heard = polled.world.ask(chat("asked").streamed());
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_TRUE(heard.reply.header("content-type").value_or("").starts_with("text/event-stream"));
  EXPECT_EQ(text_in(heard.reply), "Over the bridge.");
  EXPECT_TRUE(heard.reply.body.ends_with("data: [DONE]\n\n")) << heard.reply.body;
  EXPECT_TRUE(heard.reply.complete);
  EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll, kPoll}));
}

TEST(Polled, AStreamingClientIsToldThatWeLiveWhileTheOperationRuns) {
  PolledWorld polled({kBegun, kRuns, kRuns, kRuns, kRuns, kRuns, kRuns, kDone});
  const Exchange heard = polled.world.ask(chat("asked").streamed());
  EXPECT_TRUE(heard.reply.body.starts_with(":")) << "a comment comes first: " << heard.reply.body;
  EXPECT_EQ(text_in(heard.reply), "Over the bridge.");
}

TEST(Polled, AnOperationThatFailsLetsTheNextTargetTry) {
  for (const std::string_view state : {"failed", "stopped"}) {
    PolledWorld polled({kBegun, {.body = R"({"job":{"state":")" + std::string(state) + "\"}}"}});
    const Exchange heard = polled.world.ask(chat("asked"));
    EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
    EXPECT_EQ(heard.story(), "stream_error,success");
    EXPECT_EQ(heard.attempts()[0].error->message,
              "the provider ended the operation with \"" + std::string(state) + "\"");
    EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll})) << "what is over is not cancelled";
  }
}

TEST(Polled, AnErrorInTheOperationIsWhatTheDescriptionSays) {
  PolledWorld polled(
      {kBegun,
       kRuns,
       {.body = R"({"job":{"state":"failed"},"fault":{"code":"E_CROWDED","text":"no room"}})"}});
  const Exchange heard = polled.world.ask(chat("brain-slow"));
  EXPECT_EQ(heard.story(), "overloaded,overloaded,overloaded") << "as often as a route tries";
  EXPECT_EQ(heard.reply.status, 503);
  EXPECT_NE(heard.reply.body.find("no room"), std::string::npos) << heard.reply.body;
}

TEST(Polled, ARefusalOfTheQuestionIsAnyRefusal) {
  PolledWorld polled({{.status = 400, .body = R"({"fault":{"code":"E_WORDS","text":"not like this"}})"}});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.story(), "refused");
  EXPECT_NE(heard.reply.body.find("not like this"), std::string::npos) << heard.reply.body;
  EXPECT_EQ(polled.asked(), Lines{kSubmit});
}

TEST(Polled, AReplyWithoutAnOperationIsAFailure) {
  for (const std::string_view body : {R"({"job":{"state":"queued"}})", R"({"job":{"name":"../admin"}})"}) {
    PolledWorld polled({{.body = std::string(body)}});
    const Exchange heard = polled.world.ask(chat("asked"));
    EXPECT_EQ(heard.story(), "stream_error,success");
    EXPECT_EQ(heard.attempts()[0].error->message,
              "the provider's reply names no operation (adapter.poll.id)");
  }
}

TEST(Polled, AnOperationThatNeverEndsMeetsTheTimerAndIsCancelled) {
  PolledWorld polled({kBegun, kRuns}, {}, {}, "timers: {first_content: 9s}\n");
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.story(), "first_content_timeout,success");
  EXPECT_GE(heard.took, 9s);
  EXPECT_LT(heard.took, 10s);
  EXPECT_TRUE(heard.attempts()[0].reached_provider);
  polled.world.run_for(1s);
  EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll, kPoll, kPoll, kPoll, kStop}));
  const std::string& stop = polled.provider.requests.back();
  EXPECT_EQ(header_of(stop, "content-length"), "0");
  EXPECT_EQ(header_of(stop, "x-brain-tenant"), "acme");
  EXPECT_TRUE(header_of(stop, "authorization").starts_with("BRAIN-HMAC Key=id-1, Signature="));
}

TEST(Polled, TheRequestsDeadlineEndsItAsWell) {
  PolledWorld polled({kBegun, kRuns}, {}, {}, "timers: {total: 5s}\n");
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.story(), "total_timeout");
  EXPECT_EQ(heard.reply.status, 504) << heard.reply.body;
  polled.world.run_for(1s);
  EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll, kPoll, kStop}));
}

TEST(Polled, AClientThatLeavesTakesItsOperationAlong) {
  for (const bool while_polling : {false, true}) {
    // The vendor has taken the question, or thinks about the second poll.
    Reply slow = kRuns;
    slow.delay = 1'500ms;
    PolledWorld polled({kBegun, kRuns, while_polling ? slow : kRuns});
    Client& client = polled.world.start(chat("asked"));
    polled.world.run_for(while_polling ? 5s : 3s);
    client.leave(Client::Leave::Reset);
    polled.world.run_for(4s);
    EXPECT_EQ(polled.asked().back(), kStop);
    EXPECT_EQ(polled.polls(), while_polling ? 2 : 1) << "nobody asks any more";
    ASSERT_FALSE(polled.world.records().empty());
    EXPECT_EQ(story_of(polled.world.records().back().attempts), "cancelled");
  }
}

TEST(Polled, ACancelMayBeADelete) {
  PolledWorld polled({kBegun, kRuns}, "cancel_path: \"/v2/{{operation}}/stop\"",
                     "cancel_path: \"/v2/{{operation}}\"\n        cancel_method: delete");
  Client& client = polled.world.start(chat("asked"));
  polled.world.run_for(3s);
  client.leave(Client::Leave::Reset);
  polled.world.run_for(1s);
  EXPECT_EQ(polled.asked().back(), "DELETE /api/v2/jobs/17");
}

TEST(Polled, WithoutACancelPathNobodyIsTold) {
  PolledWorld polled({kBegun, kRuns}, "        cancel_path: \"/v2/{{operation}}/stop\"\n", "");
  Client& client = polled.world.start(chat("asked"));
  polled.world.run_for(3s);
  client.leave(Client::Leave::Reset);
  polled.world.run_for(5s);
  EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll}));
}

TEST(Polled, APollThatFailsIsRepeatedAfterLongerWaits) {
  const Reply broken{.status = 502, .body = "<html>bad gateway</html>", .content_type = "text/html"};
  Reply cut = kDone;
  cut.cut = 10;
  PolledWorld polled({kBegun, broken, cut, kRuns, kDone});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(text_in(heard.reply), "Over the bridge.");
  EXPECT_EQ(heard.story(), "success");
  EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll, kPoll, kPoll, kPoll}));
  EXPECT_GE(heard.took, 2s + 4s + 8s + 2s) << "behind a good one the pace is the usual one again";
  EXPECT_LT(heard.took, 17s);
}

TEST(Polled, PollsThatGoOnFailingEndTheAttempt) {
  PolledWorld polled({kBegun, {.status = 503, .body = R"({"fault":{"text":"not now"}})"}});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.story(), "overloaded,success");
  EXPECT_EQ(heard.attempts()[0].status, 503);
  polled.world.run_for(1s);
  EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll, kPoll, kPoll, kPoll, kStop})) << "three repeats";
}

TEST(Polled, APollThatIsRefusedIsNotRepeated) {
  PolledWorld polled({kBegun, {.status = 401, .body = R"({"fault":{"text":"who are you?"}})"}});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.story(), "credential_dead,success");
  EXPECT_EQ(polled.polls(), 1);
}

TEST(Polled, APollIsNotRepeatedBeforeItsRetryAfter) {
  const Reply crowded{.status = 429, .body = "{}", .header_lines = "retry-after: 11\r\n"};
  PolledWorld polled({kBegun, crowded, kDone});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(text_in(heard.reply), "Over the bridge.");
  EXPECT_EQ(heard.story(), "success");
  EXPECT_GE(heard.took, 13s);
  EXPECT_LT(heard.took, 14s);
}

TEST(Polled, AWaitBeyondTheTimerIsNotBegun) {
  const Reply crowded{.status = 429, .body = "{}", .header_lines = "retry-after: 90\r\n"};
  PolledWorld polled({kBegun, crowded, kDone});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_EQ(heard.story(), "rate_limited,success") << "it is told what it is, and not that time was up";
  EXPECT_LT(heard.took, 4s);
  polled.world.run_for(1s);
  EXPECT_EQ(polled.asked(), (Lines{kSubmit, kPoll, kStop}));
}

TEST(Polled, AnAnswerThatIsTooLargeIsNotHeld) {
  Reply large = kDone;
  large.body = R"({"job":{"state":"done"},"result":{"words":")" + std::string(1U << 20U, 'a') + "\"}}";
  PolledWorld polled({kBegun, large}, {}, {}, "limits: {event_max: 64KiB, held_answer_max: 64KiB}\n");
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.reply.status, 200);
  EXPECT_TRUE(heard.story().starts_with("event_too_big")) << heard.story();
}

TEST(Polled, AWaitInTheHeadIsKeptWhereTheCodeAloneSaysThatItPasses) {
  PolledWorld polled({{.status = 400,
                       .body = R"({"fault":{"code":"E_CROWDED","text":"later"}})",
                       .header_lines = "retry-after: 30\r\n"}});
  const Exchange heard = polled.world.ask(chat("asked"));
  EXPECT_EQ(heard.story(), "overloaded,success");
  ASSERT_EQ(heard.attempts().size(), 2U);
  EXPECT_EQ(heard.attempts()[0].error->retry_after, Milliseconds(30s));
  PolledWorld refused({{.status = 503,
                        .body = R"({"fault":{"code":"E_ASKED_WRONG","text":"no"}})",
                        .header_lines = "retry-after: 30\r\n"}},
                      "{code: E_CROWDED, kind: overloaded}", "{code: E_ASKED_WRONG, kind: refused}");
  EXPECT_EQ(refused.world.ask(chat("brain-slow")).record->error->retry_after, std::nullopt)
      << "no wait helps what was asked wrongly";
}

}  // namespace
}  // namespace qq::simulation::polled
