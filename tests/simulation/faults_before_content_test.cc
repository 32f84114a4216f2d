// Everything that can go wrong before the client was given content: alone it becomes a proper error, with
// another target the client never learns of it.
#include "simulation/fault_case.h"

namespace qq::simulation::faults_before_content {
namespace {

struct Case {
  std::string name;
  std::string directives;
  std::string kind;  // of every attempt
  int status = 502;  // towards the client, when nothing is left
  std::string code;
  int attempts = 1;  // at the only target
  Then then = Then::Counts;
  Modes modes = Modes::Both;
  Milliseconds wait{0};  // what the failing attempt takes
};

// clang-format off
const std::vector<Case> kCases = {
    {"close_before_head", "fault=close_before_head", "early_close", 502, "upstream_early_close", 2},
    {"reset_before_head", "fault=reset_before_head", "reset", 502, "upstream_reset", 2},
    {"stall_before_head", "fault=stall_before_head", "first_byte_timeout", 504, "upstream_first_byte_timeout", 1, Then::Counts, Modes::Streamed, 15s},
    {"stall_before_head_plain", "fault=stall_before_head", "first_byte_timeout", 504, "upstream_first_byte_timeout", 1, Then::Counts, Modes::Plain, 60s},
    {"stall_in_head", "fault=stall_in_head", "first_byte_timeout", 504, "upstream_first_byte_timeout", 1, Then::Counts, Modes::Streamed, 15s},
    {"stall_in_head_plain", "fault=stall_in_head", "first_byte_timeout", 504, "upstream_first_byte_timeout", 1, Then::Counts, Modes::Plain, 60s},
    {"late_head", "delay=15001", "first_byte_timeout", 504, "upstream_first_byte_timeout", 1, Then::Counts, Modes::Streamed, 15s},
    {"late_head_plain", "delay=60001", "first_byte_timeout", 504, "upstream_first_byte_timeout", 1, Then::Counts, Modes::Plain, 60s},
    {"stall_after_head", "fault=stall_after_head", "first_content_timeout", 504, "upstream_first_content_timeout", 1, Then::Counts, Modes::Both, 60s},
    {"late_content", "ttft=60001", "first_content_timeout", 504, "upstream_first_content_timeout", 1, Then::Counts, Modes::Streamed, 60s},
    {"stall_mid_body", "fault=stall_mid_body", "event_gap_timeout", 504, "upstream_event_gap_timeout", 1, Then::Counts, Modes::Plain, 60s},
    {"close_mid_body", "fault=close_mid_body", "body_cut", 502, "upstream_body_cut", 1, Then::Counts, Modes::Plain},
    {"reset_mid_body", "fault=reset_mid_body", "body_cut", 502, "upstream_body_cut", 1, Then::Counts, Modes::Plain},
    {"close_after_head", "fault=close_mid_body; at=0", "body_cut", 502, "upstream_body_cut", 1, Then::Counts, Modes::Plain},
    {"close_first_event", "fault=close_mid_body; at=0", "stream_cut", 502, "upstream_stream_cut", 1, Then::Counts, Modes::Streamed},
    {"reset_first_event", "fault=reset_mid_body; at=1", "stream_cut", 502, "upstream_stream_cut", 1, Then::Counts, Modes::Streamed},
    {"junk", "fault=junk", "bad_frame", 502, "upstream_bad_frame"},
    {"huge_head", "fault=huge_head", "bad_frame", 502, "upstream_bad_frame"},
    {"s500", "fault=500", "server_error", 502, "", 3},
    {"s502", "fault=502", "server_error", 502, "", 3},
    {"s503", "fault=503", "overloaded", 503, "", 3},
    {"s504", "fault=504", "server_error", 504, "", 3},
    {"s520", "fault=520", "server_error", 502, "", 3},
    {"s524", "fault=524", "server_error", 502, "", 3},
    {"s529", "fault=529", "overloaded", 503, "", 3, Then::Cools},
    {"s429_long", "fault=429; retry_after=30", "rate_limited", 429, "rate_limit_exceeded", 1, Then::Cools},
    {"s429_hours", "fault=429; retry_after=1000000000", "rate_limited", 429, "rate_limit_exceeded", 1, Then::Cools},
    {"s429_date", "fault=429; retry_after=date:40", "rate_limited", 429, "rate_limit_exceeded", 1, Then::Cools},
    {"s429_ms", "fault=429; retry_after_ms=2500", "rate_limited", 429, "rate_limit_exceeded", 1, Then::Cools},
    {"s429_short", "fault=429; retry_after=1", "rate_limited", 429, "rate_limit_exceeded", 3, Then::Cools},
    {"s429_bare", "fault=429", "rate_limited", 429, "rate_limit_exceeded", 3, Then::Cools},
    {"s429_junk", "fault=429; retry_after=soon", "rate_limited", 429, "rate_limit_exceeded", 3, Then::Cools},
    {"quota", "fault=insufficient_quota", "quota_exhausted", 503, "upstream_unavailable", 1, Then::Cools},
    {"s402", "fault=402", "quota_exhausted", 503, "upstream_unavailable", 1, Then::Cools},
    {"s401", "fault=401", "credential_dead", 503, "upstream_unavailable", 1, Then::Cools},
    {"s403", "fault=403", "model_missing", 404, "permission_denied", 1, Then::Nothing},
    {"s413_tokens", "fault=413", "refused", 413, "rate_limit_exceeded", 1, Then::Nothing},
    {"empty_null", "fault=empty_null", "empty_reply", 502, "upstream_empty_reply"},
    {"empty_role_only", "fault=empty_role_only", "empty_reply", 502, "upstream_empty_reply"},
    {"empty_blank", "fault=empty_blank", "empty_reply", 502, "upstream_empty_reply", 1, Then::Nothing},
    {"empty_no_choices", "fault=empty_no_choices", "empty_reply", 502, "upstream_empty_reply"},
    {"empty_body", "fault=empty_body", "empty_reply", 502, "upstream_empty_reply", 1, Then::Counts, Modes::Plain},
    {"empty_body", "fault=empty_body", "bad_content_type", 502, "upstream_bad_content_type", 1, Then::Counts, Modes::Streamed},
    {"html", "fault=html", "bad_content_type", 502, "upstream_bad_content_type"},
    {"html_403", "fault=html; status=403", "bad_content_type", 502, "upstream_bad_content_type", 1, Then::Nothing},
    {"html_404", "fault=html; status=404", "bad_content_type", 502, "upstream_bad_content_type", 1, Then::Nothing},
    {"wrong_type", "fault=wrong_type", "bad_content_type", 502, "upstream_bad_content_type", 1, Then::Counts, Modes::Streamed},
    {"no_content", "fault=no_content", "bad_content_type", 502, "upstream_bad_content_type"},
    {"redirect", "fault=redirect", "bad_content_type", 502, "upstream_bad_content_type"},
    {"error_200", "fault=error_200", "stream_error", 502, ""},
    {"error_first", "fault=error_first", "stream_error", 502, "", 1, Then::Counts, Modes::Streamed},
    {"error_first_429", "fault=error_first; status=429; vendor=openrouter", "rate_limited", 429, "rate_limit_exceeded", 3, Then::Cools, Modes::Streamed},
    {"error_first_401", "fault=error_first; status=401; vendor=openrouter", "credential_dead", 503, "upstream_unavailable", 1, Then::Cools, Modes::Streamed},
    {"error_first_402", "fault=error_first; status=402; vendor=openrouter", "quota_exhausted", 503, "upstream_unavailable", 1, Then::Cools, Modes::Streamed},
    {"truncated_json", "fault=truncated_json", "bad_json", 502, "upstream_bad_json", 1, Then::Counts, Modes::Plain},
    {"length_too_long", "fault=length_too_long", "body_cut", 502, "upstream_body_cut", 1, Then::Counts, Modes::Plain},
    {"length_too_short", "fault=length_too_short", "bad_json", 502, "upstream_bad_json", 1, Then::Counts, Modes::Plain},
    {"length_and_chunked", "fault=length_and_chunked", "bad_frame", 502, "upstream_bad_frame"},
    {"bad_chunk", "fault=bad_chunk", "bad_frame", 502, "upstream_bad_frame", 1, Then::Counts, Modes::Plain},
    {"bad_first_chunk", "fault=bad_chunk; at=0", "bad_frame", 502, "upstream_bad_frame", 1, Then::Counts, Modes::Streamed},
    {"no_last_chunk", "fault=no_last_chunk", "body_cut", 502, "upstream_body_cut", 1, Then::Counts, Modes::Plain},
    {"broken_gzip", "fault=broken_gzip", "decode_failed", 502, "upstream_decode_failed"},
    {"bomb", "fault=bomb; size=200000000", "decode_failed", 502, "upstream_decode_failed", 1, Then::Counts, Modes::Plain},
};
// The caller's own doing: passed on with its status, and tried nowhere else.
const std::vector<Case> kCallersOwn = {
    {"s400", "fault=400", "refused", 400, "", 1, Then::Nothing},
    {"s404", "fault=404", "model_missing", 404, "model_not_found", 1, Then::Nothing},
    {"s422", "fault=422", "refused", 422, "", 1, Then::Nothing},
    {"context_length", "fault=context_length", "refused", 400, "context_length_exceeded", 1, Then::Nothing},
    {"content_filter", "fault=content_filter", "refused", 400, "content_filter", 1, Then::Nothing},
};
// clang-format on

struct Param {
  Case fault;
  Mode mode;
};

std::vector<Param> params_of(const std::vector<Case>& cases) {
  std::vector<Param> out;
  for (const Case& fault : cases) {
    for (const Mode mode : modes_of(fault.modes)) out.push_back({fault, mode});
  }
  return out;
}

std::string name_of(const ::testing::TestParamInfo<Param>& info) {
  return info.param.fault.name + "_" + info.param.mode.name();
}

std::string repeated(const std::string& kind, int times) {
  std::string story = kind;
  for (int i = 1; i < times; ++i) story += "," + kind;
  return story;
}

void expect_error(const Exchange& heard, const Case& fault, bool gateways_own_words) {
  EXPECT_EQ(heard.reply.status, fault.status) << heard.raw;
  EXPECT_TRUE(heard.reply.complete);
  EXPECT_EQ(heard.framing_error, "");
  EXPECT_EQ(heard.reply.header("content-type"), "application/json");
  EXPECT_EQ(heard.raw.find("[DONE]"), std::string::npos);
  const std::string code = error_code_in(heard.reply.body);
  if (!fault.code.empty()) EXPECT_EQ(code, fault.code) << heard.reply.body;
  EXPECT_FALSE(code.starts_with("not JSON") || code.starts_with("no code")) << code;
  EXPECT_TRUE(heard.reply.header("x-queqiao-attempts").value_or("").find(fault.kind) != std::string::npos);
  const bool come_back = fault.status == 503 || fault.status == 429;
  EXPECT_EQ(heard.reply.header("retry-after").has_value(), come_back);
  EXPECT_EQ(heard.reply.header("retry-after-ms").has_value(), come_back);
  EXPECT_EQ(heard.reply.header("x-should-retry"),
            come_back ? std::nullopt : std::optional<std::string>("false"));
  ASSERT_TRUE(heard.record);
  EXPECT_EQ(heard.record->status, fault.status);
  ASSERT_TRUE(heard.record->error);
  EXPECT_EQ(to_string(heard.record->error->kind), fault.kind);
  EXPECT_FALSE(heard.record->interrupted);
  EXPECT_FALSE(heard.record->first_content);
  for (const model::Attempt& attempt : heard.attempts()) EXPECT_FALSE(attempt.delivered);
  if (gateways_own_words) EXPECT_EQ(heard.reached(), fault.attempts);
}

class FaultBeforeContent : public ::testing::TestWithParam<Param> {};

TEST_P(FaultBeforeContent, AloneIsAProperError) {
  const auto& [fault, mode] = GetParam();
  WorldSetup setup;
  // Heartbeats have a test of their own; here the status must be free to say what happened.
  setup.timers = "{heartbeat: 2m}";
  World world(std::move(setup));
  world.provider(0).misbehave(fault.directives);
  const Exchange heard = world.ask(mode.ask("alone"));
  expect_error(heard, fault, true);
  EXPECT_EQ(heard.story(), repeated(fault.kind, fault.attempts));
  EXPECT_EQ(world.provider(0).seen().total(), static_cast<std::uint64_t>(fault.attempts));
  if (fault.attempts == 1) {
    EXPECT_EQ(heard.took, fault.wait);
  } else {
    EXPECT_LE(heard.took, 8s) << "back-off";
  }
  world.expect_rest();
}

TEST_P(FaultBeforeContent, AnotherTargetHidesIt) {
  const auto& [fault, mode] = GetParam();
  const std::string whole = whole_answer(mode, "spare", "backed");
  WorldSetup setup;
  setup.timers = "{heartbeat: 2m}";
  World world(std::move(setup));
  world.provider(0).misbehave(fault.directives);
  for (int i = 0; i < 5; ++i) {
    const Exchange heard = world.ask(mode.ask("backed"));
    EXPECT_EQ(heard.reply.status, 200) << heard.raw;
    EXPECT_TRUE(heard.reply.complete);
    EXPECT_EQ(heard.reply.body, whole);
    EXPECT_EQ(heard.reply.header("x-queqiao-model"), "m1");
    ASSERT_TRUE(heard.record);
    EXPECT_FALSE(heard.record->error);
    EXPECT_EQ(heard.record->status, 200);
    const bool cooling = i > 0 && fault.then == Then::Cools;
    if (cooling) {
      if (heard.story() != "refused,success") EXPECT_EQ(heard.story(), fault.kind + ",success");
    } else {
      EXPECT_EQ(heard.story(), fault.kind + ",success");
      EXPECT_EQ(heard.took, fault.wait) << "the fallback is at once";
    }
    if (i == 0 && fault.then == Then::Cools) EXPECT_TRUE(world.health(0).available_at(world.loop().now()));
  }
  EXPECT_EQ(world.health(0).state(),
            fault.then == Then::Counts ? resilience::CircuitState::Open : resilience::CircuitState::Closed);
  if (fault.then == Then::Counts) {
    const Exchange after = world.ask(mode.ask("backed"));
    EXPECT_EQ(after.story(), "refused,success");
    EXPECT_EQ(after.took, 0ms);
    EXPECT_EQ(after.reached(), 1);
  }
  world.expect_rest();
}

INSTANTIATE_TEST_SUITE_P(Table, FaultBeforeContent, ::testing::ValuesIn(params_of(kCases)), name_of);

class CallersOwnFault : public ::testing::TestWithParam<Param> {};

TEST_P(CallersOwnFault, IsPassedOnWithoutAnotherTry) {
  const auto& [fault, mode] = GetParam();
  for (const std::string_view route : {"alone", "backed"}) {
    World world;
    world.provider(0).misbehave(fault.directives);
    for (int i = 0; i < 6; ++i) {
      const Exchange heard = world.ask(mode.ask(route));
      expect_error(heard, fault, true);
      EXPECT_EQ(heard.story(), fault.kind);
    }
    EXPECT_EQ(world.provider(1).seen().total(), 0U);
    EXPECT_EQ(world.health(0).state(), resilience::CircuitState::Closed);
    EXPECT_FALSE(world.health(0).available_at(world.loop().now()));
    world.expect_rest();
  }
}

INSTANTIATE_TEST_SUITE_P(Table, CallersOwnFault, ::testing::ValuesIn(params_of(kCallersOwn)), name_of);

}  // namespace
}  // namespace qq::simulation::faults_before_content
