#include "resilience/last_candidate.h"

#include <vector>

namespace qq::resilience {
namespace {

using namespace std::chrono_literals;

Standing barred(Barrier barrier, std::chrono::seconds ends) {
  return {.barrier = barrier, .ends_at = MonotonicTime{ends}};
}

TEST(LastCandidate, IsTheOneWhoseBreakerReopensFirst) {
  const std::vector<Standing> plan{barred(Barrier::Breaker, 30s), barred(Barrier::Breaker, 10s),
                                   barred(Barrier::Breaker, 20s)};
  EXPECT_EQ(last_candidate(plan), 1U);
}

TEST(LastCandidate, OnATieThePlansOrderDecides) {
  const std::vector<Standing> plan{barred(Barrier::Breaker, 10s), barred(Barrier::Breaker, 10s)};
  EXPECT_EQ(last_candidate(plan), 0U);
}

TEST(LastCandidate, IsNobodyWhileSomeTargetIsFree) {
  const std::vector<Standing> plan{barred(Barrier::Breaker, 10s), {}};
  EXPECT_EQ(last_candidate(plan), std::nullopt);
}

TEST(LastCandidate, IsNeverOneThatCoolsDownOrWhoseCredentialIsDead) {
  const std::vector<Standing> plan{barred(Barrier::CoolDown, 1s), barred(Barrier::DeadCredential, 2s)};
  EXPECT_EQ(last_candidate(plan), std::nullopt);
}

TEST(LastCandidate, ACoolingTargetDoesNotKeepAnotherFromBeingForced) {
  const std::vector<Standing> plan{barred(Barrier::CoolDown, 1s), barred(Barrier::Breaker, 50s),
                                   barred(Barrier::DeadCredential, 2s)};
  EXPECT_EQ(last_candidate(plan), 1U);
}

TEST(LastCandidate, AnEmptyPlanHasNone) {
  EXPECT_EQ(last_candidate({}), std::nullopt);
}

TEST(LastCandidate, OnlyABreakerMayBeOverruled) {
  EXPECT_TRUE(may_force(barred(Barrier::Breaker, 1s)));
  EXPECT_FALSE(may_force(barred(Barrier::CoolDown, 1s)));
  EXPECT_FALSE(may_force(barred(Barrier::DeadCredential, 1s)));
  EXPECT_FALSE(may_force({}));
}

}  // namespace
}  // namespace qq::resilience
