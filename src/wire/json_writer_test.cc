#include "wire/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace qq::wire {
namespace {

TEST(JsonWriter, PutsCommasBetweenMembersAndElements) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("a", "x").member("n", 7).member("t", true).member("d", 0.5);
  json.key("list").begin_array().integer(1).string("two").begin_object().end_object().null().end_array();
  json.key("empty").begin_array().end_array();
  json.raw_member("raw", R"({"k":[1]})");
  json.end_object();
  EXPECT_EQ(out, R"({"a":"x","n":7,"t":true,"d":0.5,"list":[1,"two",{},null],"empty":[],"raw":{"k":[1]}})");
  EXPECT_FALSE(check_json(out));
}

TEST(JsonWriter, EscapesTextAndStrangersKeys) {
  std::string out;
  JsonWriter(out).begin_object().any_key("a\"b").string("line\nend\x01").end_object();
  EXPECT_EQ(out, "{\"a\\\"b\":\"line\\nend\\u0001\"}");
}

TEST(JsonWriter, NumbersReadBackAsTheyWere) {
  std::string out;
  JsonWriter json(out);
  json.begin_array().number(0.1).number(1).number(1e300).integer(std::numeric_limits<std::int64_t>::min());
  json.end_array();
  EXPECT_EQ(out, "[0.1,1,1e+300,-9223372036854775808]");
}

}  // namespace
}  // namespace qq::wire
