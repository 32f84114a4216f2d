#include "resilience/next_step.h"

#include <vector>

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

Error upstream(ErrorKind kind, AttemptPhase phase = AttemptPhase::ReplyBegun) {
  return Error::upstream(kind, phase, "");
}
Error rate_limited(std::optional<Milliseconds> retry_after) {
  Error error = upstream(ErrorKind::RateLimited);
  error.upstream_status = 429;
  error.retry_after = retry_after;
  return error;
}

class NextStepTest : public testing::Test {
 protected:
  NextStepTest() {
    plan_.targets = {&first_, &second_};
    situation_ = {.more_targets = true,
                  .retry_allowed = true,
                  .now = MonotonicTime{1000s},
                  .deadline = MonotonicTime{1900s}};
  }
  void failed(Error error, const model::Target* target = nullptr) {
    model::Attempt attempt;
    attempt.target = target != nullptr ? target : &first_;
    attempt.reached_provider = error.phase != AttemptPhase::NotSent;
    attempt.error = std::move(error);
    attempts_.push_back(std::move(attempt));
  }
  void ended(model::Outcome outcome) {
    model::Attempt attempt;
    attempt.target = &first_;
    attempt.outcome = outcome;
    attempts_.push_back(std::move(attempt));
  }
  NextStep step() { return next_step(plan_, attempts_, situation_, random_); }
  bool stops() { return std::holds_alternative<Stop>(step()); }
  bool goes_on() { return std::holds_alternative<NextTarget>(step()); }
  std::optional<Milliseconds> repeats() {
    const auto next = step();
    const auto* same = std::get_if<SameTarget>(&next);
    return same != nullptr ? std::optional(same->delay) : std::nullopt;
  }

  model::Target first_;
  model::Target second_;
  model::Plan plan_;
  std::vector<model::Attempt> attempts_;
  Situation situation_;
  Random random_{3};
};

TEST_F(NextStepTest, AFailureGoesOnToTheNextTargetAtOnce) {
  for (const auto kind :
       {ErrorKind::ConnectFailed, ErrorKind::Reset, ErrorKind::ServerError, ErrorKind::RateLimited,
        ErrorKind::EmptyReply, ErrorKind::FirstByteTimeout, ErrorKind::CredentialDead}) {
    attempts_.clear();
    failed(upstream(kind));
    EXPECT_TRUE(goes_on()) << to_string(kind);
  }
}

TEST_F(NextStepTest, AnotherTargetIsPreferredHoweverSoonThisOneMayBeTriedAgain) {
  failed(rate_limited(1ms));
  EXPECT_TRUE(goes_on());
  attempts_.clear();
  failed(rate_limited(1h));
  EXPECT_TRUE(goes_on());
}

TEST_F(NextStepTest, AfterDeliveryNothingIsTriedAgain) {
  failed(upstream(ErrorKind::StreamCut));
  attempts_.back().delivered = true;
  EXPECT_TRUE(stops());
}

TEST_F(NextStepTest, NothingIsTriedForAClientThatHasGone) {
  failed(upstream(ErrorKind::ServerError));
  situation_.client_gone = true;
  EXPECT_TRUE(stops());
}

TEST_F(NextStepTest, NothingIsTriedFromTheDeadlineOn) {
  failed(upstream(ErrorKind::ServerError));
  situation_.now = situation_.deadline - 1ms;
  EXPECT_TRUE(goes_on());
  situation_.now = situation_.deadline;
  EXPECT_TRUE(stops());
}

TEST_F(NextStepTest, AtMostThreeAttemptsReachAProvider) {
  failed(upstream(ErrorKind::ServerError));
  failed(upstream(ErrorKind::ServerError));
  EXPECT_TRUE(goes_on());
  failed(upstream(ErrorKind::ServerError));
  EXPECT_TRUE(stops());
}

TEST_F(NextStepTest, AttemptsThatNeverReachedAProviderDoNotCount) {
  for (int i = 0; i < 5; ++i) failed(upstream(ErrorKind::ConnectFailed, AttemptPhase::NotSent));
  for (int i = 0; i < 5; ++i) ended(model::Outcome::Refused);
  EXPECT_TRUE(goes_on());
}

TEST_F(NextStepTest, ARefusedAttemptGoesOnWhateverTheTriggersSay) {
  plan_.triggers = {.timeout = false, .server_error = false, .rate_limit = false, .empty = false};
  ended(model::Outcome::Refused);
  attempts_.back().error = Error::gateway(ErrorKind::NoTarget, "");
  EXPECT_TRUE(goes_on());
  situation_.more_targets = false;
  EXPECT_TRUE(stops());
}

TEST_F(NextStepTest, SuccessAndCancellationEndTheRequest) {
  ended(model::Outcome::Success);
  EXPECT_TRUE(stops());
  attempts_.clear();
  ended(model::Outcome::Cancelled);
  EXPECT_TRUE(stops());
}

TEST_F(NextStepTest, BeforeTheFirstAttemptThePlanIsFollowed) {
  EXPECT_TRUE(goes_on());
  situation_.more_targets = false;
  EXPECT_TRUE(stops());
}

TEST_F(NextStepTest, TheCallersOwnMistakesAreNotTriedElsewhere) {
  for (const auto kind : {ErrorKind::Refused, ErrorKind::ModelMissing}) {
    attempts_.clear();
    failed(upstream(kind));
    EXPECT_TRUE(stops()) << to_string(kind);
  }
  plan_.triggers.refused = true;
  plan_.triggers.not_found = true;
  for (const auto kind : {ErrorKind::Refused, ErrorKind::ModelMissing}) {
    attempts_.clear();
    failed(upstream(kind));
    EXPECT_TRUE(goes_on()) << to_string(kind);
  }
}

TEST_F(NextStepTest, OurOwnErrorsAreNotRetried) {
  for (const auto kind : {ErrorKind::Saturated, ErrorKind::ShuttingDown, ErrorKind::Internal,
                          ErrorKind::TotalTimeout, ErrorKind::Cancelled}) {
    attempts_.clear();
    failed(Error::gateway(kind, ""));
    EXPECT_TRUE(stops()) << to_string(kind);
  }
}

class SameTargetTest : public NextStepTest {
 protected:
  SameTargetTest() { situation_.more_targets = false; }
};

TEST_F(SameTargetTest, TheLastTargetIsRepeatedWhenTheFailureIsWorthIt) {
  for (const auto& error :
       {upstream(ErrorKind::ConnectFailed, AttemptPhase::NotSent),
        upstream(ErrorKind::DnsFailed, AttemptPhase::NotSent),
        upstream(ErrorKind::ConnectTimeout, AttemptPhase::NotSent), upstream(ErrorKind::ServerError),
        upstream(ErrorKind::Overloaded), upstream(ErrorKind::EarlyClose, AttemptPhase::SentNoReply),
        upstream(ErrorKind::Reset, AttemptPhase::SentNoReply),
        upstream(ErrorKind::Reset, AttemptPhase::NotSent), rate_limited(std::nullopt), rate_limited(1s)}) {
    attempts_.clear();
    failed(error);
    EXPECT_TRUE(repeats()) << to_string(error.kind);
  }
}

TEST_F(SameTargetTest, FailuresThatARepeatWouldNotCureStop) {
  for (const auto kind : {ErrorKind::TlsFailed, ErrorKind::FirstByteTimeout, ErrorKind::FirstContentTimeout,
                          ErrorKind::CredentialDead, ErrorKind::QuotaExhausted, ErrorKind::EmptyReply,
                          ErrorKind::BadContentType, ErrorKind::StreamCut, ErrorKind::BodyCut,
                          ErrorKind::Reset, ErrorKind::EgressDenied}) {
    attempts_.clear();
    failed(upstream(kind));
    EXPECT_TRUE(stops()) << to_string(kind);
  }
}

TEST_F(SameTargetTest, TheBackOffIsFullJitterThatDoubles) {
  std::array<Milliseconds, 2> longest{};
  for (int tries = 1; tries <= 2; ++tries) {
    failed(upstream(ErrorKind::ServerError));
    const Milliseconds ceiling = 200ms * tries;
    for (int i = 0; i < 500; ++i) {
      const auto delay = repeats();
      ASSERT_TRUE(delay);
      ASSERT_LE(*delay, ceiling);
      longest[static_cast<std::size_t>(tries) - 1] =
          std::max(longest[static_cast<std::size_t>(tries) - 1], *delay);
    }
    EXPECT_GT(longest[static_cast<std::size_t>(tries) - 1], ceiling * 9 / 10);
  }
}

TEST_F(SameTargetTest, TheBackOffCountsTriesAtThisTargetOnly) {
  failed(upstream(ErrorKind::ServerError), &first_);
  failed(upstream(ErrorKind::ServerError), &second_);
  for (int i = 0; i < 200; ++i) EXPECT_LE(repeats().value_or(1h), 200ms);
}

TEST_F(SameTargetTest, NoRepeatWithoutAPlaceInTheBudget) {
  failed(upstream(ErrorKind::ServerError));
  situation_.retry_allowed = false;
  const NextStep decision = step();
  ASSERT_TRUE(std::holds_alternative<Stop>(decision));
  EXPECT_TRUE(std::get<Stop>(decision).for_budget);
}

TEST_F(SameTargetTest, TheBudgetIsToBlameOnlyForRepeatsThatWouldHaveBeenMade) {
  situation_.retry_allowed = false;
  failed(upstream(ErrorKind::TlsFailed));
  NextStep decision = step();
  ASSERT_TRUE(std::holds_alternative<Stop>(decision));
  EXPECT_FALSE(std::get<Stop>(decision).for_budget);
  attempts_.clear();
  failed(rate_limited(1h));
  decision = step();
  ASSERT_TRUE(std::holds_alternative<Stop>(decision));
  EXPECT_FALSE(std::get<Stop>(decision).for_budget);
}

TEST_F(SameTargetTest, ARefusedConnectionIsTriedAtMostMaxAttemptsTimes) {
  failed(upstream(ErrorKind::ConnectFailed, AttemptPhase::NotSent));
  failed(upstream(ErrorKind::ConnectFailed, AttemptPhase::NotSent));
  EXPECT_TRUE(repeats());
  failed(upstream(ErrorKind::ConnectFailed, AttemptPhase::NotSent));
  EXPECT_TRUE(stops());
}

TEST_F(SameTargetTest, ARequestWhoseReplyNeverBeganIsSentOnceMoreOnly) {
  failed(upstream(ErrorKind::Reset, AttemptPhase::SentNoReply));
  EXPECT_TRUE(repeats());
  failed(upstream(ErrorKind::EarlyClose, AttemptPhase::SentNoReply));
  EXPECT_TRUE(stops());
}

TEST_F(SameTargetTest, AShortRetryAfterIsWaitedForWithALittleJitter) {
  failed(rate_limited(1500ms));
  for (int i = 0; i < 200; ++i) {
    const auto delay = repeats();
    ASSERT_TRUE(delay);
    EXPECT_GE(*delay, 1500ms);
    EXPECT_LE(*delay, 1700ms);
  }
}

TEST_F(SameTargetTest, ALongRetryAfterIsToldToTheClientInstead) {
  failed(rate_limited(2000ms));
  EXPECT_TRUE(repeats());
  attempts_.clear();
  failed(rate_limited(2001ms));
  EXPECT_TRUE(stops());
}

TEST_F(SameTargetTest, ARepeatWaitsForTheTargetsCoolDown) {
  failed(rate_limited(std::nullopt));
  situation_.available_at = situation_.now + 700ms + 1ns;
  for (int i = 0; i < 50; ++i) EXPECT_GE(repeats().value_or(0ms), 701ms) << "rounded up, never early";
  situation_.available_at = situation_.now + 15s;
  EXPECT_TRUE(stops()) << "the breaker has opened: too long to hold a client";
  situation_.available_at = situation_.now - 1s;
  EXPECT_TRUE(repeats());
}

TEST_F(SameTargetTest, A429WithoutRetryAfterBacksOffFromHalfASecond) {
  failed(rate_limited(std::nullopt));
  Milliseconds longest{0};
  for (int i = 0; i < 500; ++i) longest = std::max(longest, repeats().value_or(1h));
  EXPECT_LE(longest, 500ms);
  EXPECT_GT(longest, 400ms);
}

TEST_F(SameTargetTest, ADelayThatEndsAfterTheDeadlineIsNotWaitedFor) {
  failed(rate_limited(1s));
  situation_.deadline = situation_.now + 1s;
  EXPECT_TRUE(stops());
  situation_.deadline = situation_.now + 1201ms;
  EXPECT_TRUE(repeats());
}

TEST_F(SameTargetTest, EveryRequestEndsWhateverFails) {
  // Random failures, obeyed as the attempt loop would: no sequence goes on for ever.
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    attempts_.clear();
    std::size_t next = 0;
    const model::Target* current = plan_.targets[next++];
    for (int steps = 0;; ++steps) {
      ASSERT_LT(steps, 7) << "seed " << seed;
      const auto phase = static_cast<AttemptPhase>(random.below(3));
      failed(
          upstream(static_cast<ErrorKind>(random.below(static_cast<std::uint64_t>(ErrorKind::BadJson) + 1)),
                   phase),
          current);
      situation_.more_targets = next < plan_.targets.size();
      const auto decision = step();
      if (std::holds_alternative<Stop>(decision)) break;
      if (std::holds_alternative<NextTarget>(decision)) current = plan_.targets[next++];
    }
    EXPECT_LE(std::ranges::count_if(attempts_, &model::Attempt::reached_provider), 3) << "seed " << seed;
  }
}

TEST(Triggers, EachSwitchCoversItsOwnFailures) {
  struct Case {
    bool model::Triggers::* field;
    std::vector<ErrorKind> kinds;
  };
  const std::vector<Case> cases{
      {&model::Triggers::timeout,
       {ErrorKind::ConnectTimeout, ErrorKind::SendTimeout, ErrorKind::FirstByteTimeout,
        ErrorKind::FirstContentTimeout, ErrorKind::EventGapTimeout}},
      {&model::Triggers::server_error,
       {ErrorKind::DnsFailed, ErrorKind::ConnectFailed, ErrorKind::TlsFailed, ErrorKind::EgressDenied,
        ErrorKind::EarlyClose, ErrorKind::Reset, ErrorKind::Overloaded, ErrorKind::ServerError,
        ErrorKind::BadFrame, ErrorKind::DecodeFailed, ErrorKind::BodyCut, ErrorKind::StreamCut,
        ErrorKind::StreamError, ErrorKind::EventTooBig}},
      {&model::Triggers::empty, {ErrorKind::EmptyReply, ErrorKind::BadContentType, ErrorKind::BadJson}},
      {&model::Triggers::rate_limit,
       {ErrorKind::RateLimited, ErrorKind::QuotaExhausted, ErrorKind::CredentialDead, ErrorKind::Forbidden}},
      {&model::Triggers::not_found, {ErrorKind::ModelMissing}},
      {&model::Triggers::refused, {ErrorKind::Refused}},
  };
  for (const Case& on : cases) {
    model::Triggers triggers{.timeout = false,
                             .server_error = false,
                             .rate_limit = false,
                             .empty = false,
                             .not_found = false,
                             .refused = false};
    triggers.*on.field = true;
    for (const Case& other : cases) {
      for (const auto kind : other.kinds) {
        EXPECT_EQ(triggers_cover(triggers, upstream(kind)), on.field == other.field) << to_string(kind);
      }
    }
  }
}

TEST(NextStepTriggers, AKeyThatMayNotUseTheModelLetsAnotherTry) {
  Error error = upstream(ErrorKind::ModelMissing);
  for (const std::uint16_t status : {402, 403, 429}) {
    error.upstream_status = status;
    EXPECT_TRUE(triggers_cover({}, error)) << status;
  }
  error.upstream_status = 404;
  EXPECT_FALSE(triggers_cover({}, error));
}

TEST(NextStepTriggers, WhatIsTooMuchForOneAccountAnotherMayTake) {
  Error error = upstream(ErrorKind::Refused);
  for (const std::uint16_t status : {402, 429}) {
    error.upstream_status = status;
    EXPECT_TRUE(triggers_cover({}, error)) << status;
  }
  error.upstream_status = 413;
  EXPECT_FALSE(triggers_cover({}, error)) << "too many bytes";
  error.code = "rate_limit_exceeded";
  EXPECT_TRUE(triggers_cover({}, error)) << "too many tokens a minute";
  error.upstream_status = 403;
  EXPECT_FALSE(triggers_cover({}, error)) << "moderation: the caller's own";
}

TEST(Triggers, WhatACallerMayNotIsNotTriedElsewhere) {
  EXPECT_TRUE(triggers_cover({}, upstream(ErrorKind::Forbidden)));
  EXPECT_FALSE(triggers_cover({}, Error::client(ErrorKind::Forbidden, "")));
}

TEST(Triggers, AResetByTheClientIsNoReasonToTryElsewhere) {
  EXPECT_FALSE(triggers_cover({}, Error::client(ErrorKind::Reset, "")));
}

}  // namespace
}  // namespace qq::resilience
