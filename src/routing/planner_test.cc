#include "routing/planner.h"

#include <deque>
#include <set>

namespace qq::routing {
namespace {

using model::Endpoint;

class PlannerTest : public testing::Test {
 protected:
  // A model's targets, one per account, all offering chat completions.
  std::vector<const model::Target*> targets(std::initializer_list<std::string> names) {
    std::vector<const model::Target*> made;
    for (const std::string& name : names) {
      model::Target& target = owned_.emplace_back();
      target.name = name;
      target.endpoints[static_cast<std::size_t>(Endpoint::ChatCompletions)].path_and_query =
          "/v1/chat/completions";
      made.push_back(&target);
    }
    return made;
  }
  std::vector<std::string> plan(Endpoint endpoint = Endpoint::ChatCompletions) {
    std::vector<std::string> names;
    for (const auto* target : make_plan(route_, endpoint, random_).targets) names.push_back(target->name);
    return names;
  }

  std::deque<model::Target> owned_;
  Route route_{.name = "chat"};
  Random random_{1};
};

TEST_F(PlannerTest, OrderedCandidatesComeAsWrittenAndThenTheFallback) {
  route_.candidates = {{.targets = targets({"a"})}, {.targets = targets({"b"})}};
  route_.fallback = {{.targets = targets({"x"})}, {.targets = targets({"y"})}};
  EXPECT_THAT(plan(), testing::ElementsAre("a", "b", "x", "y"));
}

TEST_F(PlannerTest, AccountsStartAtARandomOneAndFollowEachOther) {
  route_.candidates = {{.targets = targets({"a1", "a2", "a3"})}, {.targets = targets({"b"})}};
  std::set<std::vector<std::string>> seen;
  for (int i = 0; i < 200; ++i) seen.insert(plan());
  EXPECT_THAT(seen, testing::UnorderedElementsAre(testing::ElementsAre("a1", "a2", "a3", "b"),
                                                  testing::ElementsAre("a2", "a3", "a1", "b"),
                                                  testing::ElementsAre("a3", "a1", "a2", "b")));
}

TEST_F(PlannerTest, AccountsStartEquallyOften) {
  route_.candidates = {{.targets = targets({"a1", "a2"})}};
  int first = 0;
  for (int i = 0; i < 10'000; ++i) first += plan().front() == "a1" ? 1 : 0;
  EXPECT_NEAR(first, 5'000, 200);
}

TEST_F(PlannerTest, WeightedCandidatesShareTheFirstPlace) {
  route_.picker = PickerKind::Weighted;
  route_.candidates = {{.weight = 3, .targets = targets({"a"})}, {.weight = 1, .targets = targets({"b"})}};
  route_.fallback = {{.targets = targets({"x"})}};
  int first = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto names = plan();
    ASSERT_THAT(names, testing::SizeIs(3));
    ASSERT_EQ(names.back(), "x") << "the fallback takes no part in the draw";
    first += names.front() == "a" ? 1 : 0;
  }
  EXPECT_NEAR(first, 7'500, 175);
}

TEST_F(PlannerTest, ATargetIsPlannedOnceThoughTheFallbackRepeatsIt) {
  const auto a = targets({"a1", "a2"});
  route_.candidates = {{.targets = targets({"b"})}, {.targets = {a[0]}}};
  route_.fallback = {{.targets = a}};
  EXPECT_THAT(plan(), testing::ElementsAre("b", "a1", "a2"));
}

TEST_F(PlannerTest, TargetsWithoutTheEndpointAreLeftOut) {
  route_.candidates = {{.targets = targets({"a"})}, {.targets = targets({"b"})}};
  owned_[1].endpoints[static_cast<std::size_t>(Endpoint::Embeddings)].path_and_query = "/v1/embeddings";
  EXPECT_THAT(plan(Endpoint::Embeddings), testing::ElementsAre("b"));
  EXPECT_THAT(plan(Endpoint::Moderations), testing::IsEmpty());
}

TEST_F(PlannerTest, AConversationMayBeAnsweredInAnotherDialect) {
  route_.candidates = {{.targets = targets({"a"})}, {.targets = targets({"b"})}};
  owned_[1].endpoints[static_cast<std::size_t>(Endpoint::ChatCompletions)].path_and_query.clear();
  EXPECT_THAT(plan(Endpoint::Messages), testing::ElementsAre("a")) << "b has no conversation at all";
  owned_[1].endpoints[static_cast<std::size_t>(Endpoint::Converse)].path_and_query = "/model/b/converse";
  EXPECT_THAT(plan(Endpoint::Responses), testing::ElementsAre("a", "b"));
}

TEST_F(PlannerTest, ARouteOfNothingPlansNothing) {
  EXPECT_THAT(plan(), testing::IsEmpty());
  route_.candidates = {{.targets = {}}};
  EXPECT_THAT(plan(), testing::IsEmpty());
}

TEST_F(PlannerTest, ThePlanCarriesTheRoutesRules) {
  route_.candidates = {{.targets = targets({"a"})}};
  route_.triggers.refused = true;
  route_.retry.max_attempts = 7;
  const auto made = make_plan(route_, Endpoint::ChatCompletions, random_);
  EXPECT_EQ(made.route, "chat");
  EXPECT_TRUE(made.triggers.refused);
  EXPECT_EQ(made.retry.max_attempts, 7);
}

TEST_F(PlannerTest, TheSameDrawGivesTheSamePlan) {
  route_.picker = PickerKind::Weighted;
  route_.candidates = {{.weight = 2, .targets = targets({"a1", "a2"})},
                       {.weight = 1, .targets = targets({"b1", "b2"})}};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    random_ = Random(seed);
    const auto once = plan();
    random_ = Random(seed);
    EXPECT_EQ(plan(), once);
  }
}

}  // namespace
}  // namespace qq::routing
