#include "dialects/gemini/schema.h"

#include <gtest/gtest.h>

namespace qq::dialects::gemini {
namespace {

// "Schema {…}", and what is lost in brackets.
std::string converted(std::string_view schema) {
  const EncodedSchema made = encode_schema(wire::JsonValue(schema));
  EXPECT_FALSE(wire::check_json(made.json)) << made.json;
  std::string out = made.form == SchemaForm::Schema ? "Schema " : "JsonSchema ";
  out += made.json;
  for (const std::string& word : made.lost) out += " [" + word + "]";
  return out;
}

struct SchemaCase {
  const char* name;
  std::string_view from;
  std::string_view to;
};

void PrintTo(const SchemaCase& one, std::ostream* out) {
  *out << one.name;
}

class GeminiSchema : public ::testing::TestWithParam<SchemaCase> {};

TEST_P(GeminiSchema, IsConverted) {
  EXPECT_EQ(converted(GetParam().from), GetParam().to);
}

INSTANTIATE_TEST_SUITE_P(
    Words, GeminiSchema,
    ::testing::Values(
        SchemaCase{
            "types_in_capitals",
            R"({"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"]})",
            R"(Schema {"type":"OBJECT","properties":{"a":{"type":"INTEGER","minimum":1}},"required":["a"]})"},
        SchemaCase{"silent_words", R"({"$schema":"x","$id":"y","$comment":"z","type":"string"})",
                   R"(Schema {"type":"STRING"})"},
        SchemaCase{"null_among_types", R"({"type":["string","null"]})",
                   R"(Schema {"type":"STRING","nullable":true})"},
        SchemaCase{"null_among_choices",
                   R"({"anyOf":[{"type":"string","minLength":1},{"type":"null"}],"description":"d"})",
                   R"(Schema {"type":"STRING","nullable":true,"description":"d","minLength":1})"},
        SchemaCase{"null_among_enum", R"({"type":["string","null"],"enum":["a",null]})",
                   R"(Schema {"type":"STRING","nullable":true,"enum":["a"]})"},
        SchemaCase{"choices", R"({"oneOf":[{"type":"string"},{"type":"number"},{"type":"null"}]})",
                   R"(Schema {"nullable":true,"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]})"},
        SchemaCase{"const_is_enum_of_one", R"({"const":"a"})", R"(Schema {"type":"STRING","enum":["a"]})"},
        SchemaCase{"type_is_found", R"({"properties":{"a":{"enum":["x"]}}})",
                   R"(Schema {"type":"OBJECT","properties":{"a":{"type":"STRING","enum":["x"]}}})"},
        SchemaCase{
            "reference_is_put_in",
            R"({"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"d"}},"$defs":{"A":{"type":"string"}}})",
            R"(Schema {"type":"OBJECT","properties":{"a":{"type":"STRING","description":"d"}}})"},
        SchemaCase{"pointer_with_escapes", R"({"$ref":"#/x/a~1b~0c","x":{"a/b~c":{"type":"string"}}})",
                   R"(Schema {"type":"STRING"} [x])"},
        SchemaCase{
            "all_of_is_merged",
            R"({"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"number"}},"required":["b"]}]})",
            R"(Schema {"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"NUMBER"}},"required":["a","b"]})"},
        SchemaCase{"format_it_knows", R"({"type":"string","format":"date-time"})",
                   R"(Schema {"type":"STRING","format":"date-time"})"},
        SchemaCase{"format_it_does_not", R"({"type":"string","format":"email"})",
                   R"(JsonSchema {"type":"string","format":"email"})"},
        SchemaCase{"number_enum", R"({"type":"integer","enum":[1,2]})",
                   R"(JsonSchema {"type":"integer","enum":[1,2]})"},
        SchemaCase{"number_const", R"({"type":"integer","const":3})",
                   R"(JsonSchema {"type":"integer","enum":[3]})"},
        SchemaCase{
            "additional_properties",
            R"({"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false})",
            R"(JsonSchema {"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false})"},
        SchemaCase{"map", R"({"type":"object","additionalProperties":{"type":["number","null"]}})",
                   R"(JsonSchema {"type":"object","additionalProperties":{"type":["number","null"]}})"},
        SchemaCase{"array_of_anything", R"({"type":"array"})", R"(JsonSchema {"type":"array"})"},
        SchemaCase{"tuple", R"({"type":"array","prefixItems":[{"type":"string"}]})",
                   R"(JsonSchema {"type":"array","prefixItems":[{"type":"string"}]})"},
        SchemaCase{"anything", R"({"type":"object","properties":{"a":{}}})",
                   R"(JsonSchema {"type":"object","properties":{"a":{}}})"},
        SchemaCase{"several_types", R"({"type":["string","number"]})",
                   R"(JsonSchema {"type":["string","number"]})"},
        SchemaCase{"nullable_is_a_type", R"({"type":"string","nullable":true,"format":"uri","enum":["a"]})",
                   R"(JsonSchema {"type":["string","null"],"format":"uri","enum":["a",null]})"},
        SchemaCase{
            "recursion",
            R"({"type":"object","properties":{"next":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}})",
            R"(JsonSchema {"type":"object","properties":{"next":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}})"},
        SchemaCase{
            "recursion_with_words_beside",
            R"({"type":"object","properties":{"n":{"description":"d","$ref":"#/definitions/N"}},"definitions":{"N":{"type":"array","items":{"$ref":"#/definitions/N"}}}})",
            R"(JsonSchema {"type":"object","properties":{"n":{"description":"d","anyOf":[{"$ref":"#/$defs/N"}]}},"$defs":{"N":{"type":"array","items":{"$ref":"#/$defs/N"}}}})"},
        SchemaCase{
            "recursion_or_null",
            R"({"type":"object","properties":{"n":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}})",
            R"(JsonSchema {"type":"object","properties":{"n":{"type":["object","null"],"properties":{"n":{}}}}} [$ref])"},
        SchemaCase{
            "optional_recursion",
            R"({"$ref":"#/$defs/N","$defs":{"N":{"type":"object","properties":{"n":{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}],"title":"t"}}}}})",
            R"(JsonSchema {"type":"object","properties":{"n":{"title":"t","anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}]}},"$defs":{"N":{"type":"object","properties":{"n":{"title":"t","anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}]}}}}})"},
        SchemaCase{"words_nobody_takes", R"({"type":"integer","exclusiveMinimum":0,"multipleOf":2})",
                   R"(Schema {"type":"INTEGER"} [exclusiveMinimum] [multipleOf])"},
        SchemaCase{
            "required_without_property",
            R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]})",
            R"(Schema {"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]} [required])"},
        SchemaCase{"reference_to_nothing", R"({"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}})",
                   R"(JsonSchema {"type":"object","properties":{"a":{}}} [$ref])"},
        SchemaCase{
            "property_names_are_no_words",
            R"({"type":"object","properties":{"$ref":{"type":"string"},"const":{"type":"string"}}})",
            R"(Schema {"type":"OBJECT","properties":{"$ref":{"type":"STRING"},"const":{"type":"STRING"}}})"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(GeminiSchemas, ThatNameEachOtherManyTimesStayWithinBounds) {
  std::string schema = R"({"$ref":"#/$defs/a0","$defs":{)";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "{\"$ref\":\"#/$defs/a" + std::to_string(i + 1) + "\"}";
    schema += "\"a" + std::to_string(i) + R"(":{"type":"object","properties":{"x":)" + next +
              ",\"y\":" + next + "}},";
  }
  schema += R"("a40":{"type":"string"}}})";
  ASSERT_FALSE(wire::check_json(schema));
  const EncodedSchema made = encode_schema(wire::JsonValue(schema));
  EXPECT_EQ(made.form, SchemaForm::JsonSchema);
  EXPECT_TRUE(made.lost.empty());
  EXPECT_LT(made.json.size(), 8192U);
}

TEST(GeminiSchemas, OfGoogleBecomeJsonSchemaAndComeBack) {
  const std::string_view google =
      R"({"type":"OBJECT","properties":{"any_of":{"type":"STRING","nullable":true,"enum":["a"],"format":"enum"},)"
      R"("b":{"type":"ARRAY","min_items":"1","items":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}],"nullable":true}}},)"
      R"("property_ordering":["b"],"title":"t"})";
  const model::Json json = decode_schema(wire::JsonValue(google));
  EXPECT_EQ(
      json,
      R"({"type":"object","properties":{"any_of":{"type":["string","null"],"enum":["a",null]},)"
      R"("b":{"type":"array","minItems":1,"items":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}}},)"
      R"("propertyOrdering":["b"],"title":"t"})");
  EXPECT_EQ(
      converted(json),
      R"(Schema {"type":"OBJECT","properties":{"any_of":{"type":"STRING","nullable":true,"enum":["a"]},)"
      R"("b":{"type":"ARRAY","minItems":1,"items":{"nullable":true,"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}}},)"
      R"("propertyOrdering":["b"],"title":"t"})");
}

TEST(GeminiSchemas, OfAnObjectWithoutPropertiesTakeNothing) {
  for (const char* nothing :
       {R"({"type":"object"})", R"({"type":"object","properties":{}})",
        R"({"type":"object","properties":{},"required":[],"additionalProperties":false})", "{}"}) {
    EXPECT_TRUE(takes_nothing(wire::JsonValue(nothing))) << nothing;
  }
  for (const char* something : {R"({"type":"object","additionalProperties":true})", R"({"$ref":"#/$defs/A"})",
                                R"({"type":"object","properties":{"a":{}}})"}) {
    EXPECT_FALSE(takes_nothing(wire::JsonValue(something))) << something;
  }
}

// Each of the references has another MB read, some ten times: 50 GB without a limit.
TEST(GeminiSchemaLimits, MuchThatIsReferredToOftenIsReadSomeTimesOnly) {
  std::string schema = R"({"type":"object","$defs":{"D":{"type":"string","x-a":")" +
                       std::string(1'000'000, 'x') + R"("}},"properties":{"a0":{"$ref":"#/$defs/D"})";
  for (int i = 1; i < 5'000; ++i) schema += R"(,"a)" + std::to_string(i) + R"(":{"$ref":"#/$defs/D"})";
  const EncodedSchema made = encode_schema(wire::JsonValue(schema + "}}"));
  EXPECT_FALSE(wire::check_json(made.json));
  EXPECT_NE(made.json.find("\"a4999\""), std::string::npos);
  EXPECT_FALSE(made.lost.empty());
}

TEST(GeminiSchemaLimits, MuchInManyLevelsIsReadSomeTimesOnly) {
  std::string schema;
  for (int i = 0; i < 60; ++i) schema += R"({"type":"object","properties":{"a":)";
  schema += R"({"type":"string","x-a":")" + std::string(5'000'000, 'x') + R"("})";
  for (int i = 0; i < 60; ++i) schema += "}}";
  const EncodedSchema made = encode_schema(wire::JsonValue(schema));
  EXPECT_FALSE(wire::check_json(made.json));
  EXPECT_NE(std::ranges::find(made.lost, "depth"), made.lost.end());
}

}  // namespace
}  // namespace qq::dialects::gemini
