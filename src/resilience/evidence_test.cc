#include "resilience/evidence.h"

#include <vector>

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

Error upstream_answered(ErrorKind kind, std::uint16_t status = 0) {
  Error error = Error::upstream(kind, AttemptPhase::SentNoReply, "");
  error.upstream_status = status;
  return error;
}

TEST(Evidence, TheTargetsOwnFailuresCount) {
  for (const auto kind :
       {ErrorKind::DnsFailed, ErrorKind::ConnectFailed, ErrorKind::ConnectTimeout, ErrorKind::TlsFailed,
        ErrorKind::EarlyClose, ErrorKind::Reset, ErrorKind::SendTimeout, ErrorKind::FirstByteTimeout,
        ErrorKind::FirstContentTimeout, ErrorKind::EventGapTimeout, ErrorKind::ServerError,
        ErrorKind::BadFrame, ErrorKind::BadContentType, ErrorKind::DecodeFailed, ErrorKind::BodyCut,
        ErrorKind::StreamCut, ErrorKind::StreamError, ErrorKind::EmptyReply, ErrorKind::BadJson}) {
    EXPECT_EQ(evidence_of(upstream_answered(kind)), Evidence::Failure) << to_string(kind);
  }
}

TEST(Evidence, OurOwnRefusalsFeedNoBreaker) {
  for (const auto kind : {ErrorKind::NoTarget, ErrorKind::Saturated, ErrorKind::ShuttingDown,
                          ErrorKind::Cancelled, ErrorKind::Config, ErrorKind::Internal,
                          ErrorKind::EgressDenied, ErrorKind::TotalTimeout, ErrorKind::EventTooBig}) {
    EXPECT_EQ(evidence_of(Error::gateway(kind, "")), Evidence::None) << to_string(kind);
  }
}

TEST(Evidence, TheClientsDoingFeedsNoBreaker) {
  for (const auto kind : {ErrorKind::InvalidRequest, ErrorKind::ClientGone, ErrorKind::ClientStalled,
                          ErrorKind::PayloadTooLarge, ErrorKind::Reset, ErrorKind::RequestTimeout}) {
    EXPECT_EQ(evidence_of(Error::client(kind, "")), Evidence::None) << to_string(kind);
  }
}

TEST(Evidence, FourHundredsFeedNoBreaker) {
  for (const auto kind : {ErrorKind::Refused, ErrorKind::ModelMissing, ErrorKind::RateLimited,
                          ErrorKind::QuotaExhausted, ErrorKind::CredentialDead}) {
    EXPECT_EQ(evidence_of(upstream_answered(kind, 400)), Evidence::None) << to_string(kind);
  }
}

TEST(Evidence, WhatACallerCanProvokeFeedsNoBreaker) {
  EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::BadContentType, 403)), Evidence::None)
      << "a firewall's page";
  EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::BadContentType, 404)), Evidence::None)
      << "an endpoint that is not offered";
  EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::EmptyReply, 200), AskedFor::Perhaps), Evidence::None)
      << "a stop string that comes first";
  EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::BodyCut, 200), AskedFor::Perhaps), Evidence::Failure);
  for (const std::uint16_t status : {200, 204, 302})
    EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::BadContentType, status)), Evidence::Failure) << status;
}

TEST(Evidence, OverloadedWithoutA5xxStatusIsAThrottle) {
  for (const std::uint16_t status : {429, 498, 200, 0}) {
    EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::Overloaded, status)), Evidence::None) << status;
    EXPECT_EQ(cool_down_of(upstream_answered(ErrorKind::Overloaded, status)), 500ms) << status;
  }
  EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::Overloaded, 500)), Evidence::Failure);
}

TEST(Evidence, Status503IsAFailureAnd529AThrottle) {
  EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::Overloaded, 503)), Evidence::Failure);
  EXPECT_EQ(evidence_of(upstream_answered(ErrorKind::Overloaded, 529)), Evidence::None);
  EXPECT_FALSE(is_throttle(upstream_answered(ErrorKind::Overloaded, 503)));
  EXPECT_TRUE(is_throttle(upstream_answered(ErrorKind::Overloaded, 529)));
  EXPECT_TRUE(is_throttle(upstream_answered(ErrorKind::RateLimited, 429)));
}

TEST(CoolDownOf, RetryAfterIsObeyedWithinBounds) {
  struct Case {
    Milliseconds asked;
    Milliseconds limited;
    Milliseconds overloaded;
  };
  for (const auto& [asked, limited, overloaded] :
       {Case{0ms, 0ms, 0ms}, Case{1500ms, 1500ms, 1500ms}, Case{120s, 120s, 120s}, Case{5min, 5min, 120s},
        Case{1h, 10min, 120s}, Case{1'000'000'000s, 10min, 120s}, Case{-5s, 0ms, 0ms}}) {
    Error error = upstream_answered(ErrorKind::RateLimited, 429);
    error.retry_after = asked;
    EXPECT_EQ(cool_down_of(error), limited) << asked.count();
    EXPECT_EQ(bounded_retry_after(error), limited) << "what is told is what is done";
    for (const std::uint16_t status : {503, 529}) {
      error = upstream_answered(ErrorKind::Overloaded, status);
      error.retry_after = asked;
      EXPECT_EQ(cool_down_of(error), overloaded) << asked.count();
      EXPECT_EQ(bounded_retry_after(error), overloaded);
    }
  }
  EXPECT_EQ(bounded_retry_after(upstream_answered(ErrorKind::Overloaded, 503)), std::nullopt);
}

TEST(CoolDownOf, AThrottleWithoutRetryAfterBacksOffAndA503DoesNot) {
  EXPECT_EQ(cool_down_of(upstream_answered(ErrorKind::RateLimited, 429)), 500ms);
  EXPECT_EQ(cool_down_of(upstream_answered(ErrorKind::Overloaded, 529)), 500ms);
  EXPECT_EQ(cool_down_of(upstream_answered(ErrorKind::Overloaded, 503)), std::nullopt);
}

TEST(CoolDownOf, RepeatedThrottlesBackOffFurtherUpToAMinute) {
  struct Case {
    int before;
    Milliseconds ceiling;
  };
  Random random(11);
  for (const auto& [before, ceiling] :
       {Case{0, 500ms}, Case{1, 1s}, Case{4, 8s}, Case{7, 60s}, Case{1000, 60s}}) {
    Milliseconds longest{0};
    for (int i = 0; i < 500; ++i) {
      const auto period = cool_down_of(upstream_answered(ErrorKind::RateLimited, 429), before, random);
      ASSERT_TRUE(period);
      ASSERT_LE(*period, ceiling);
      longest = std::max(longest, *period);
    }
    EXPECT_GT(longest, ceiling * 9 / 10);
  }
}

TEST(CoolDownOf, RetryAfterLeavesNothingToChance) {
  Random random(1);
  Error error = upstream_answered(ErrorKind::RateLimited, 429);
  error.retry_after = 7s;
  EXPECT_EQ(cool_down_of(error, 9, random), 7s);
}

TEST(CoolDownOf, DeadCredentialsAndExhaustedQuotasRestFiveMinutes) {
  EXPECT_EQ(cool_down_of(upstream_answered(ErrorKind::CredentialDead, 401)), 5min);
  EXPECT_EQ(cool_down_of(upstream_answered(ErrorKind::QuotaExhausted, 429)), 5min);
}

TEST(CoolDownOf, OtherFailuresCoolNothingDown) {
  for (const auto kind : {ErrorKind::ServerError, ErrorKind::ConnectFailed, ErrorKind::Refused,
                          ErrorKind::StreamCut, ErrorKind::NoTarget, ErrorKind::ClientGone}) {
    Error error = upstream_answered(kind);
    error.retry_after = 10s;
    EXPECT_EQ(cool_down_of(error), std::nullopt) << to_string(kind);
  }
}

}  // namespace
}  // namespace qq::resilience
