#include "relay/held/named_models.h"

#include <gtest/gtest.h>

#include "relay/held/file_ids.h"

namespace qq::relay {
namespace {

using Names = std::vector<std::string>;

TEST(NamedModels, OfAFileOfLinesEachIsNamedOnce) {
  const std::string lines =
      "{\"custom_id\":\"1\",\"body\":{\"model\":\"gpt\",\"n\":1}}\r\n"
      "\n"
      "{\"custom_id\":\"2\",\"body\":{\"messages\":[],\"model\" : \"mini\"}}\n"
      "{\"custom_id\":\"3\",\"body\":{\"model\":\"gpt\"}}";
  const auto named = NamedModels::in_lines(lines, {});
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->names(), (Names{"gpt", "mini"}));
  EXPECT_EQ(named->renamed(lines, {"gpt", "mini"}), "") << "nothing to replace";
  EXPECT_EQ(named->renamed(lines, {"real \"gpt\"", "mini"}),
            "{\"custom_id\":\"1\",\"body\":{\"model\":\"real \\\"gpt\\\"\",\"n\":1}}\r\n"
            "\n"
            "{\"custom_id\":\"2\",\"body\":{\"messages\":[],\"model\" : \"mini\"}}\n"
            "{\"custom_id\":\"3\",\"body\":{\"model\":\"real \\\"gpt\\\"\"}}");
}

TEST(NamedModels, ALineMayNameNone) {
  const auto named = NamedModels::in_lines("{\"body\":{\"input\":\"x\"}}\n", {});
  ASSERT_TRUE(named);
  EXPECT_TRUE(named->names().empty());
}

TEST(NamedModels, OfRequestsEachIsNamedAndReplaced) {
  const std::string body =
      R"({"requests": [{"custom_id":"a","params":{"model":"claude","max_tokens":5}},{"params":{"model":"claude"}}]})";
  const auto named = NamedModels::in_requests(body, {});
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->names(), Names{"claude"});
  EXPECT_EQ(
      named->renamed(body, {"real"}),
      R"({"requests": [{"custom_id":"a","params":{"model":"real","max_tokens":5}},{"params":{"model":"real"}}]})");
}

TEST(NamedModels, BadLinesAreNamedByTheirNumber) {
  struct Case {
    const char* lines;
    const char* says;
  };
  for (const Case& bad : {Case{"{\"body\":{\"model\":\"m\"}}\n{", "line 2 is no JSON"},
                          Case{"[]", "line 1: `body` must be an object"},
                          Case{"{\"body\":1}", "line 1: `body` must be an object"},
                          Case{"{\"body\":{\"model\":7}}", "line 1: `body.model` must be the name"},
                          Case{"{\"body\":{\"model\":\"a\",\"model\":\"b\"}}", "given once"},
                          Case{"{\"body\":{\"model\":\"a\",\"mod\\u0065l\":\"b\"}}", "given once"},
                          Case{"{\"body\":{\"Model\":\"a\"}}", "given once"},
                          Case{R"({"body":{"model":"a"},"\u0042ody":{"model":"b"}})", "given once"},
                          Case{R"({"body":{"model":"a","\u004dodel":"b"}})", "given once"},
                          Case{"{\"body\":{\"model\":\"a\"},\"body\":{\"model\":\"b\"}}", "given once"}}) {
    const auto named = NamedModels::in_lines(bad.lines, {});
    ASSERT_FALSE(named) << bad.lines;
    EXPECT_EQ(named.error().kind, ErrorKind::InvalidRequest);
    EXPECT_NE(named.error().message.find(bad.says), std::string::npos) << named.error().message;
  }
}

TEST(NamedModels, BadRequestsAreNamedByTheirPlace) {
  struct Case {
    const char* body;
    const char* says;
  };
  for (const Case& bad :
       {Case{"nope", "is no JSON"}, Case{"{}", "`requests` must be an array"},
        Case{R"({"requests":[]})", "is empty"},
        Case{R"({"requests":[{"params":{"model":"a"}}],"requests":[]})", "given once"},
        Case{R"({"requests":[{"params":{"model":"a"}},{"params":{}}]})", "requests[1]: `params.model`"}}) {
    const auto named = NamedModels::in_requests(bad.body, {});
    ASSERT_FALSE(named) << bad.body;
    EXPECT_NE(named.error().message.find(bad.says), std::string::npos) << named.error().message;
  }
}

TEST(NamedModels, FilesThatRequestsReferToAreFound) {
  const auto named = NamedModels::in_lines(
      R"({"body":{"model":"m","input":[{"content":[{"type":"input_file","file_id":"file-1"}]}]}})", {});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->file_ids(), FileIds{"file-1"});
}

TEST(NamedModels, ABatchMayNameSoManyModels) {
  std::string lines;
  for (std::size_t i = 0; i <= NamedModels::kNamesMax; ++i) {
    lines += R"({"body":{"model":"m)" + std::to_string(i) + "\"}}\n";
  }
  const auto named = NamedModels::in_lines(lines, {});
  ASSERT_FALSE(named);
  EXPECT_NE(named.error().message.find("split it"), std::string::npos);
}

TEST(FileIdsOfARequest, AreFoundWhereverTheyStand) {
  const auto ids_in = [](std::string_view json) {
    FileIds ids;
    if (may_name_files(json)) add_file_ids(wire::JsonValue(json), Inputs::Read, ids);
    return ids;
  };
  EXPECT_EQ(ids_in(R"({"messages":[{"content":[{"file":{"file_id":"a"}},{"file":{"file_id":"a"}}]}]})"),
            FileIds{"a"});
  EXPECT_EQ(ids_in(R"({"messages":[{"content":[{"source":{"type":"file","file_id":"b"}}]}]})"), FileIds{"b"});
  EXPECT_EQ(ids_in(R"([{"container":{"file_ids":["c","d",{"file_id":"e"}]}}])"), (FileIds{"c", "d", "e"}));
  EXPECT_EQ(ids_in(R"({"f\u0069le_id":"x\u0031"})"), FileIds{"x1"}) << "as a provider reads it";
  EXPECT_EQ(ids_in(R"({"text":"\"file_id\":\"no\"","file_id":null})"), FileIds{});
  EXPECT_EQ(ids_in(R"({"File_ID":"y"})"), FileIds{"y"}) << "some readers take capital letters";
  EXPECT_EQ(ids_in(R"({"\u0046ile_ids":["z"]})"), FileIds{"z"});
  EXPECT_EQ(ids_in(R"({"file_id":"no id"})"), FileIds{});
  EXPECT_EQ(ids_in(R"({"file_id":")" + std::string(2'000, 'a') + "\"}"), FileIds{});
  EXPECT_FALSE(may_name_files(R"({"model":"m","messages":[{"role":"user","content":"a file"}]})"));
}

TEST(FileIdsOfARequest, WhatAToolWasCalledWithIsItsOwnAffair) {
  const std::string_view json =
      R"({"content":[{"type":"tool_use","input":{"file_id":"a"}},{"source":{"file_id":"b"}}]})";
  FileIds ids;
  add_file_ids(wire::JsonValue(json), Inputs::OfTools, ids);
  EXPECT_EQ(ids, FileIds{"b"});
  add_file_ids(wire::JsonValue(json), Inputs::Read, ids);
  EXPECT_EQ(ids, (FileIds{"a", "b"}));
}

TEST(NamedModels, ABatchHasSoManyRequestsWithAModelOrWithout) {
  std::string lines;
  for (std::size_t i = 0; i <= NamedModels::kRequestsMax; ++i) lines += "{\"body\":{}}\n";
  const auto named = NamedModels::in_lines(lines, {});
  ASSERT_FALSE(named);
  EXPECT_NE(named.error().message.find("split it"), std::string::npos);
}

TEST(FileIdsOfARequest, MoreThanTheLimitAreSeenToBeMore) {
  std::string json = "[";
  for (std::size_t i = 0; i < kFileIdsMax + 5; ++i) {
    json += (i > 0 ? "," : "") + std::string(R"({"file_id":")") + std::to_string(i) + "\"}";
  }
  json += "]";
  FileIds ids;
  add_file_ids(wire::JsonValue(json), Inputs::Read, ids);
  EXPECT_EQ(ids.size(), kFileIdsMax + 1);
}

}  // namespace
}  // namespace qq::relay
