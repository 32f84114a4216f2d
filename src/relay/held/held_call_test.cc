#include "relay/held/held_call.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace qq::relay {
namespace {

using HeldVerb = HeldCall::Verb;

std::optional<Result<HeldCall>> held_called(std::string_view line, std::string_view fields = "") {
  const std::string text = std::string(line) + " HTTP/1.1\r\nhost: x\r\n" + std::string(fields) + "\r\n";
  wire::RequestHead head;
  const wire::HeadVerdict verdict = wire::read_request_head(text, {}, head);
  EXPECT_EQ(verdict.kind, wire::HeadVerdict::Kind::Complete);
  return held_call(head);
}

TEST(HeldCall, FilesAreOfTheDialectThatTheHeadSpeaks) {
  EXPECT_EQ((*held_called("GET /v1/files/file-1"))->kind, HoldingKind::File);
  EXPECT_EQ((*held_called("GET /v1/files/file_1", "anthropic-version: 2023-06-01\r\n"))->kind,
            HoldingKind::MessageFile);
  EXPECT_EQ((*held_called("GET /v1/files", "anthropic-beta: files-api-2025-04-14\r\n"))->kind,
            HoldingKind::MessageFile);
  EXPECT_EQ((*held_called("GET /v1/batches", "anthropic-version: 2023-06-01\r\n"))->kind, HoldingKind::Batch);
  EXPECT_EQ((*held_called("GET /v1/messages/batches"))->kind, HoldingKind::MessageBatch);
}

TEST(HeldCall, PathsSayWhatIsAsked) {
  struct Case {
    const char* line;
    HeldVerb verb;
    const char* id;
  };
  for (const Case& one : {Case{"POST /v1/files", HeldVerb::Create, ""},
                          Case{"GET /v1/files/f-1/content", HeldVerb::Content, "f-1"},
                          Case{"DELETE /v1/files/f-1", HeldVerb::Delete, "f-1"},
                          Case{"POST /v1/batches/b_1/cancel", HeldVerb::Cancel, "b_1"},
                          Case{"GET /v1/messages/batches/m/results", HeldVerb::Content, "m"},
                          Case{"DELETE /v1/messages/batches/m", HeldVerb::Delete, "m"}}) {
    const auto call = held_called(one.line);
    ASSERT_TRUE(call && *call) << one.line;
    EXPECT_EQ((*call)->verb, one.verb) << one.line;
    EXPECT_EQ((*call)->id, one.id) << one.line;
  }
  for (const char* line : {"PUT /v1/files", "DELETE /v1/batches/b", "GET /v1/files/", "GET /v1/files/a/b",
                           "GET /v1/files/..%2fmodels", "GET /v1/files/a.b", "POST /v1/messages"}) {
    EXPECT_FALSE(held_called(line)) << line;
  }
}

TEST(HeldCall, MethodsOfAPathAreTold) {
  EXPECT_EQ(held_methods("/v1/files"), "GET, POST");
  EXPECT_EQ(held_methods("/v1/files/x"), "GET, DELETE");
  EXPECT_EQ(held_methods("/v1/files/x/content"), "GET");
  EXPECT_EQ(held_methods("/v1/batches/x/cancel"), "POST");
  EXPECT_EQ(held_methods("/v1/models"), "");
}

TEST(HeldCall, PagesAreAskedForInEachDialectsWay) {
  const auto files = **held_called("GET /v1/files?limit=2&order=asc&purpose=batch&after=file-9&unknown=1");
  EXPECT_EQ(files.query.limit, 2U);
  EXPECT_EQ(files.query.order, HoldingQuery::Order::OldestFirst);
  EXPECT_EQ(files.query.purpose, "batch");
  EXPECT_EQ(files.query.after, "file-9");
  EXPECT_EQ((**held_called("GET /v1/files")).query.limit, 1'000U) << "no page is longer";
  EXPECT_EQ((**held_called("GET /v1/files?limit=10000")).query.limit, 1'000U);
  EXPECT_EQ((**held_called("GET /v1/batches")).query.limit, 20U);
  const auto before = **held_called("GET /v1/messages/batches?before_id=m1");
  EXPECT_TRUE(before.backwards);
  EXPECT_EQ(before.query.after, "m1");
  struct Case {
    const char* line;
    const char* param;
  };
  for (const Case& bad : {Case{"GET /v1/files?limit=0", "limit"}, Case{"GET /v1/batches?limit=101", "limit"},
                          Case{"GET /v1/files?order=up", "order"}, Case{"GET /v1/files?after=", "after"},
                          Case{"GET /v1/messages/batches?after_id=a&before_id=b", "before_id"}}) {
    const auto call = held_called(bad.line);
    ASSERT_TRUE(call && !*call) << bad.line;
    EXPECT_EQ(call->error().param, bad.param);
  }
}

TEST(HeldCall, WhatIsMadeSaysForWhichModelAndInWhatForm) {
  const auto call = **held_called(
      "POST /v1/files", "x-queqiao-model: gpt\r\ncontent-type: multipart/form-data; boundary=b\r\n");
  EXPECT_EQ(call.model, "gpt");
  EXPECT_EQ(call.form_type, "multipart/form-data; boundary=b");
  EXPECT_EQ((**held_called("POST /v1/batches", "content-type: application/json\r\n")).form_type, "");
}

}  // namespace
}  // namespace qq::relay
