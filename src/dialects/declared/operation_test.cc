#include "dialects/declared/operation.h"

#include <fakes/declared.h>
#include <gtest/gtest.h>

#include "dialects/declared/dialect.h"

namespace qq::dialects::declared {
namespace {

model::DeclaredAdapter polled() {
  model::DeclaredAdapter adapter = testing::declared_adapter(model::DeclaredStream::Format::None);
  model::DeclaredPoll& poll = adapter.poll.emplace();
  poll.id = {"job", "id"};
  poll.done = {"job", "state"};
  return adapter;
}

model::DeclaredAdapter polled_by_words() {
  model::DeclaredAdapter adapter = polled();
  adapter.poll->done_in = {"ready"};
  adapter.poll->failed_in = {"dead"};
  return adapter;
}

// "over", the id of what runs, or the error's kind.
std::string said(const model::DeclaredAdapter& adapter, std::string_view body) {
  const auto operation = read_operation(body, adapter);
  if (!operation) return std::string(to_string(operation.error().kind));
  return operation->over ? "over" : "runs " + operation->id;
}

TEST(DeclaredOperation, IsOverWhenItsMemberIsTrue) {
  for (const std::string_view runs :
       {R"({"job":{"id":"a/1"}})", R"({"job":{"id":"a/1","state":false}})",
        R"({"job":{"id":"a/1","state":null}})", R"({"job":{"id":"a/1","state":0}})"})
    EXPECT_EQ(said(polled(), runs), "runs a/1") << runs;
  EXPECT_EQ(said(polled(), R"({"job":{"id":7,"state":""}})"), "runs 7");
  EXPECT_EQ(said(polled(), R"({"job":{"state":true}})"), "over");
  EXPECT_EQ(said(polled(), R"({"job":{"state":{"at":1}}})"), "over");
}

TEST(DeclaredOperation, IsOverByItsWords) {
  EXPECT_EQ(said(polled_by_words(), R"({"job":{"id":"1","state":"begun"}})"), "runs 1");
  EXPECT_EQ(said(polled_by_words(), R"({"job":{"id":"1"}})"), "runs 1");
  EXPECT_EQ(said(polled_by_words(), R"({"job":{"id":"1","state":"ready"}})"), "over");
  EXPECT_EQ(said(polled_by_words(), R"({"job":{"id":"1","state":"dead"}})"), "over");
  EXPECT_EQ(said(polled_by_words(), R"({"fault":{"code":"SLOW"}})"), "over") << "an error is an end";
}

TEST(DeclaredOperation, WhatIsNoJsonSaysNothingOfIt) {
  EXPECT_EQ(said(polled(), "<html>"), "bad_json");
  EXPECT_EQ(said(polled(), " "), "empty_reply");
}

TEST(DeclaredOperation, ItsFailureIsAnErrorOfTheAnswer) {
  const auto error = [](std::string_view body) {
    const auto answer =
        provider_side().decode_answer(body, testing::declared_target(polled_by_words()), "seed");
    return answer ? "none" : std::string(to_string(answer.error().kind)) + ": " + answer.error().message;
  };
  EXPECT_EQ(error(R"({"job":{"state":"dead"},"out":{"words":"half"}})"),
            "stream_error: the provider ended the operation with \"dead\"");
  EXPECT_EQ(error(R"({"job":{"state":"dead"},"fault":{"text":"no room"}})"), "stream_error: no room");
  EXPECT_EQ(error(R"({"job":{"state":"ready"},"out":{"words":"all"}})"), "none");
}

}  // namespace
}  // namespace qq::dialects::declared
