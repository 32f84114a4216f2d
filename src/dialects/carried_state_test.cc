#include "dialects/carried_state.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace qq::dialects {
namespace {

using model::Dialect;

model::Part sealed_thought(std::string text, Dialect maker, std::string state) {
  model::Part part(model::ReasoningPart{.text = std::move(text)});
  part.state = {maker, std::move(state)};
  return part;
}

TEST(CarriedState, ComesBackOutOfTheIdOfACall) {
  Carried carried;
  carried.call = {Dialect::Gemini, "c2ln/+=="};
  carried.reasoning.push_back(
      sealed_thought("First \xe2\x80\x94 think.\n", Dialect::Anthropic, std::string(900, 's')));
  carried.reasoning.push_back(sealed_thought("", Dialect::Anthropic, "z"));
  carried.reasoning.back().as<model::ReasoningPart>()->kind = model::ReasoningPart::Kind::Redacted;

  const std::optional<std::string> id = with_carried("call_1", carried);
  ASSERT_TRUE(id);
  EXPECT_TRUE(id->starts_with("call_1_qq1")) << *id;
  EXPECT_EQ(id->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);

  const CarriedId back = take_carried(*id);
  EXPECT_EQ(back.id, "call_1");
  EXPECT_EQ(back.carried.call, carried.call);
  ASSERT_EQ(back.carried.reasoning.size(), 2U);
  EXPECT_EQ(back.carried.reasoning[0].as<model::ReasoningPart>()->text, "First \xe2\x80\x94 think.\n");
  EXPECT_EQ(back.carried.reasoning[0].state, carried.reasoning[0].state);
  EXPECT_EQ(back.carried.reasoning[1].as<model::ReasoningPart>()->kind, model::ReasoningPart::Kind::Redacted);
  EXPECT_EQ(back.carried.reasoning[1].state.data, "z");
}

TEST(CarriedState, NothingToCarryLeavesTheIdAlone) {
  EXPECT_EQ(with_carried("call_1", {}), "call_1");
  EXPECT_EQ(take_carried("call_1").id, "call_1");
  EXPECT_TRUE(take_carried("call_1").carried.empty());
}

TEST(CarriedState, WhatWeDidNotSealStaysAsItIs) {
  for (const std::string id : {"a_qq1", "a_qq1deadbeef", "a_qq1AAAA00000000", "_qq1_qq1_qq1"}) {
    EXPECT_EQ(take_carried(id).id, id);
  }
  std::string changed = *with_carried("x", {.call = {Dialect::Gemini, "sig"}, .reasoning = {}});
  changed[6] ^= 1;
  EXPECT_EQ(take_carried(changed).id, changed);
}

TEST(CarriedState, TheMarkInsideAnIdIsNoTrouble) {
  const std::string id = *with_carried("my_qq1_call", {.call = {Dialect::Gemini, "sig"}, .reasoning = {}});
  EXPECT_EQ(take_carried(id).id, "my_qq1_call");
  EXPECT_EQ(take_carried(id).carried.call.data, "sig");
}

TEST(CarriedState, TooMuchIsRefused) {
  EXPECT_FALSE(
      with_carried("x", {.call = {Dialect::Gemini, std::string(kCarriedMax, 'x')}, .reasoning = {}}));
}

TEST(CarriedState, FieldsOfTheirOwnDialectGoAsTheyAre) {
  EXPECT_EQ(state_field({Dialect::Anthropic, "sig=="}, Dialect::Anthropic), "sig==");
  EXPECT_EQ(state_of_field("sig==", Dialect::Anthropic), (model::OpaqueState{Dialect::Anthropic, "sig=="}));
  EXPECT_EQ(state_field({}, Dialect::Anthropic), "");
}

TEST(CarriedState, FieldsKnowTheirForeignMaker) {
  const std::string field = state_field({Dialect::Gemini, "abc"}, Dialect::Anthropic);
  EXPECT_TRUE(field.starts_with("qq1"));
  EXPECT_EQ(state_of_field(field, Dialect::Anthropic), (model::OpaqueState{Dialect::Gemini, "abc"}));
}

// Every length around the bounds of an item's own length.
TEST(CarriedState, AnyLengthSurvives) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 126U, 127U, 128U, 129U, 16000U}) {
    const std::string data(size, '\x7f');
    const model::OpaqueState state{Dialect::Bedrock, data};
    if (size == 0) continue;
    EXPECT_EQ(state_of_field(state_field(state, Dialect::Gemini), Dialect::Gemini), state) << size;
  }
}

// Google's SDKs decode the field that it stands in: Go's by the standard alphabet, Python's to the last bit.
TEST(CarriedState, AFieldIsBase64AsAWhole) {
  for (std::size_t size = 0; size < 70; ++size) {
    const model::OpaqueState state{Dialect::Anthropic, std::string(size, '\xfe')};
    const std::string field = size == 0 ? no_state_field(state.maker) : state_field(state, Dialect::Gemini);
    const auto bytes = from_base64(field);
    ASSERT_TRUE(bytes) << field;
    EXPECT_EQ(to_base64(*bytes), field);
    EXPECT_EQ(state_of_field(field, Dialect::Gemini), state);
    EXPECT_TRUE(holds_carried("\"" + field + "\"")) << field;
  }
}

TEST(CarriedState, AFieldAsTheyWereBeforeIsRead) {
  EXPECT_EQ(state_of_field("qq1c2EAa3ed7c49", Dialect::Gemini), (model::OpaqueState{Dialect::Anthropic, ""}));
}

TEST(HoldsCarried, ASlashMayBeEscaped) {
  std::string field = state_field({Dialect::Anthropic, std::string(9, '\xff')}, Dialect::Gemini);
  ASSERT_TRUE(field.contains('/')) << field;
  for (std::size_t at = field.find('/'); at != field.npos; at = field.find('/', at + 2))
    field.insert(at, 1, '\\');
  EXPECT_TRUE(holds_carried("\"" + field + "\"")) << field;
}

TEST(CarriedState, AnIdFullOfMarksIsReadOnce) {
  // A CRC is no secret: whoever likes may make an id that has to be looked at again and again.
  std::string id;
  for (int i = 0; i < 1'000'000; ++i) id += "_qq1";
  EXPECT_EQ(take_carried(id).id.size(), id.size()) << "within a test's time";
}

TEST(CarriedState, APartWithoutAStateTellsWhoseItIs) {
  const std::string field = no_state_field(Dialect::Cohere);
  const model::OpaqueState state = state_of_field(field, Dialect::Anthropic);
  EXPECT_TRUE(state.empty());
  EXPECT_EQ(state.maker, Dialect::Cohere);
  EXPECT_TRUE(holds_carried("{\"signature\":\"" + field + "\"}"));
}

TEST(HoldsCarried, FindsIdsAndFields) {
  const std::string id = *with_carried("call_1", {.call = {Dialect::Gemini, "sig"}, .reasoning = {}});
  const std::string field = state_field({Dialect::Anthropic, "signature"}, Dialect::OpenAiResponses);
  for (const std::string& text : {id, field}) {
    // At all places of a block of vector instructions.
    for (std::size_t before = 0; before < 70; ++before) {
      const std::string json = "[" + std::string(before, ' ') + "\"" + text + "\"]";
      EXPECT_TRUE(holds_carried(json)) << json;
      EXPECT_TRUE(holds_carried(json + std::string(80, ' ')));
      // Behind many of the mark's first letter the search goes on in another way.
      EXPECT_TRUE(holds_carried("[\"" + std::string(before, 'q') + "\",\"" + text + "\"]")) << before;
    }
  }
}

TEST(HoldsCarried, WhatOnlyLooksLikeOneIsNone) {
  const std::string id = *with_carried("call_1", {.call = {Dialect::Gemini, "sig"}, .reasoning = {}});
  const std::string cut = id.substr(0, id.size() - 1);
  for (const std::string& json : {std::string(R"({"a":"qq1"})"), std::string(R"("_qq1AAAA00000000")"),
                                  std::string("qq1"), std::string(), "\"" + cut + "\"", "\"" + id,
                                  "\"" + id + " \"", "\"x" + id.substr(id.find("qq1")) + "\""}) {
    EXPECT_FALSE(holds_carried(json)) << json;
  }
}

TEST(HoldsCarried, AMarkThatStandsInAnIdByChanceDoesNotHideOurs) {
  const std::string id = *with_carried("my_qq1_call", {.call = {Dialect::Gemini, "sig"}, .reasoning = {}});
  EXPECT_TRUE(holds_carried("{\"id\":\"" + id + "\"}"));
}

TEST(HoldsCarried, ABodyFullOfMarksIsReadOnce) {
  std::string json = "\"";
  for (int i = 0; i < 1'000'000; ++i) json += "_qq1";
  json += "\"";
  EXPECT_FALSE(holds_carried(json)) << "within a test's time";
}

}  // namespace
}  // namespace qq::dialects
