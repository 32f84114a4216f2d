#include "wire/json.h"

namespace qq::wire {
namespace {

std::string decode(std::string_view literal) {
  EXPECT_EQ(check_json(literal), std::nullopt) << literal;
  return JsonValue(literal).string();
}

std::vector<std::string> keys_of(std::string_view text) {
  std::vector<std::string> keys;
  for (JsonMembers members{JsonValue(text)}; members.next();) keys.emplace_back(members.raw_key());
  return keys;
}

std::vector<std::string> elements_of(std::string_view text) {
  std::vector<std::string> values;
  for (JsonElements elements{JsonValue(text)}; elements.next();) values.emplace_back(elements.value().text());
  return values;
}

TEST(CheckJson, NamesThePlaceAndTheReason) {
  const auto error_of = [](std::string_view text) {
    const auto error = check_json(text);
    return error ? std::to_string(error->offset) + " " + error->reason : "";
  };
  EXPECT_EQ(error_of("[1,]"), "3 expected a value");
  EXPECT_EQ(error_of("{\"a\":1 \"b\":2}"), "7 expected ',' or '}'");
  EXPECT_EQ(error_of("[1 2]"), "3 expected ',' or ']'");
  EXPECT_EQ(error_of("{\"a\" 1}"), "5 expected ':'");
  EXPECT_EQ(error_of("{1:2}"), "1 expected a key");
  EXPECT_EQ(error_of("\"a\nb\""), "2 control character in a string");
  EXPECT_EQ(error_of("\"a"), "2 string without an end");
  EXPECT_EQ(error_of("1 2"), "2 expected nothing more");
  EXPECT_EQ(error_of("[\"\xff\"]"), "2 invalid UTF-8");
  EXPECT_EQ(error_of("\"鹊\xed\xa0\x80\""), "4 invalid UTF-8");
  EXPECT_EQ(error_of("[01]"), "1 number with a leading zero");
}

TEST(CheckJson, LetsOtherBytesPassWhereAsked) {
  EXPECT_EQ(check_json("[\"\xff\"]", {.check_utf8 = false}), std::nullopt);
  EXPECT_NE(check_json("[\"\xff]", {.check_utf8 = false}), std::nullopt);
}

TEST(CheckJson, TakesDepthUpToItsLimit) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(check_json(nested(256)), std::nullopt);
  ASSERT_TRUE(check_json(nested(257)));
  EXPECT_EQ(check_json(nested(257))->offset, 256U);
  EXPECT_STREQ(check_json(nested(257))->reason, "nested too deeply");
  EXPECT_EQ(check_json(nested(kJsonDepthMax), {.depth_max = 100'000}), std::nullopt);
  EXPECT_TRUE(check_json(nested(kJsonDepthMax + 1), {.depth_max = 100'000}));
  EXPECT_TRUE(check_json("[]", {.depth_max = 0}));
  EXPECT_EQ(check_json("1", {.depth_max = 0}), std::nullopt);
}

TEST(CheckJson, RemembersAtEveryDepthWhatItIsInside) {
  for (int depth = 1; depth < 200; depth += 7) {
    std::string open;
    std::string close;
    for (int i = 0; i < depth; ++i) {
      const bool object = i % 3 != 0;
      open += object ? "{\"k\":" : "[";
      close.insert(0, object ? "}" : "]");
    }
    EXPECT_EQ(check_json(open + "1" + close), std::nullopt);
    std::string swapped = close;
    swapped[static_cast<std::size_t>(depth) / 2] ^= 0x26;  // '}' and ']' swap
    EXPECT_TRUE(check_json(open + "1" + swapped));
  }
}

TEST(CheckJson, CountsValuesAndKeys) {
  EXPECT_EQ(check_json("[1,2,3]", {.nodes_max = 4}), std::nullopt);
  EXPECT_TRUE(check_json("[1,2,3]", {.nodes_max = 3}));
  EXPECT_EQ(check_json(R"({"a":1})", {.nodes_max = 3}), std::nullopt);
  EXPECT_TRUE(check_json(R"({"a":1})", {.nodes_max = 2}));
}

TEST(CheckJson, FindsABadByteAtEveryPlaceOfALongString) {
  for (std::size_t size = 1; size < 300; size += size < 70 ? 1 : 23) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const char bad : {'\x1f', '\n', '\0', '\xff'}) {
        std::string text = "\"" + std::string(size, 'x') + "\"";
        ASSERT_EQ(check_json(text), std::nullopt);
        text[at + 1] = bad;
        const auto error = check_json(text);
        ASSERT_TRUE(error) << size << " " << at;
        EXPECT_EQ(error->offset, at + 1);
      }
    }
  }
}

TEST(CheckJson, ChecksUtf8WhereverTheFirstWideCharacterStands) {
  for (std::size_t at = 0; at < 300; ++at) {
    const std::string before(at, 'x');
    EXPECT_EQ(check_json("\"" + before + "鹊桥" + std::string(200, 'x') + "\""), std::nullopt) << at;
    EXPECT_TRUE(check_json("\"" + before + "\xe9\xb9" + std::string(200, 'x') + "\"")) << at;
    EXPECT_TRUE(check_json("\"" + before + "鹊\n" + std::string(200, 'x') + "\"")) << at;
  }
}

TEST(JsonValue, KnowsItsType) {
  EXPECT_EQ(JsonValue("{}").type(), JsonType::Object);
  EXPECT_EQ(JsonValue("[]").type(), JsonType::Array);
  EXPECT_EQ(JsonValue("\"\"").type(), JsonType::String);
  EXPECT_EQ(JsonValue("-1").type(), JsonType::Number);
  EXPECT_EQ(JsonValue("9").type(), JsonType::Number);
  EXPECT_EQ(JsonValue(" true ").type(), JsonType::True);
  EXPECT_EQ(JsonValue("false").type(), JsonType::False);
  EXPECT_EQ(JsonValue("\n\tnull\r\n").type(), JsonType::Null);
  EXPECT_TRUE(JsonValue(" null ").is_null());
  EXPECT_EQ(JsonValue(" [1] \n").text(), "[1]");
}

TEST(JsonValue, DecodesStrings) {
  EXPECT_EQ(decode(R"("")"), "");
  EXPECT_EQ(decode(R"("plain 鹊桥")"), "plain 鹊桥");
  EXPECT_EQ(decode(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decode(R"("a\u0041\u00e9\u9e4A\u0000z")"), std::string("aAé鹊\0z", 9));
  EXPECT_EQ(decode(R"("\ud83d\ude00!")"), "😀!");
  EXPECT_EQ(decode(R"("\uDBFF\uDFFF")"), "\xf4\x8f\xbf\xbf");
  EXPECT_EQ(JsonValue("12").string(), "");
  EXPECT_EQ(JsonValue(R"("a\nb")").raw_string(), "a\\nb");
}

TEST(JsonValue, DecodesLoneSurrogatesToTheReplacementCharacter) {
  EXPECT_EQ(decode(R"("\ud800")"), "\xef\xbf\xbd");
  EXPECT_EQ(decode(R"("\ude00x")"), "\xef\xbf\xbdx");
  EXPECT_EQ(decode(R"("\ud83d\u0041")"),
            "\xef\xbf\xbd"
            "A");
  EXPECT_EQ(decode(R"("\ud83d\ud83d\ude00")"), "\xef\xbf\xbd😀");
  EXPECT_EQ(decode(R"("\ud83d\n")"), "\xef\xbf\xbd\n");
}

TEST(JsonValue, GivesIntegersThatFitOnly) {
  EXPECT_EQ(JsonValue("0").integer(), 0);
  EXPECT_EQ(JsonValue("-0").integer(), 0);
  EXPECT_EQ(JsonValue(" 42 ").integer(), 42);
  EXPECT_EQ(JsonValue("-9223372036854775808").integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(JsonValue("9223372036854775807").integer(), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"9223372036854775808", "1.0", "1e2", "\"1\"", "null", "true", "[1]", "{}"}) {
    EXPECT_EQ(JsonValue(text).integer(), std::nullopt) << text;
  }
}

TEST(JsonValue, TellsBlankStrings) {
  for (const char* text : {R"("")", R"("  ")", R"("\n\t\r ")", R"("\u0020\u000a")"}) {
    EXPECT_TRUE(JsonValue(text).is_blank_string()) << text;
  }
  for (const char* text : {R"("a")", R"(" a ")", R"("\\")", R"("\u00e9")", "null", "1", "[]"}) {
    EXPECT_FALSE(JsonValue(text).is_blank_string()) << text;
  }
}

TEST(JsonValue, FindsMembersByPath) {
  const JsonValue value(R"({"x":"{\"a\":0}","a":{"b":{"c":[1,2]}},"a":7})");
  EXPECT_EQ(value.at("a", "b", "c")->text(), "[1,2]");
  EXPECT_EQ(value.member("a")->text(), R"({"b":{"c":[1,2]}})") << "the first of duplicates";
  EXPECT_EQ(value.at("a", "b", "x"), std::nullopt);
  EXPECT_EQ(value.at("x", "a"), std::nullopt) << "a string is no object";
  EXPECT_EQ(value.member("b"), std::nullopt) << "not from deeper levels";
}

TEST(JsonMembers, WalksInOrderAroundWhiteSpaceAndTrickyStrings) {
  EXPECT_EQ(keys_of("{}"), std::vector<std::string>());
  EXPECT_EQ(keys_of("{ \n }"), std::vector<std::string>());
  EXPECT_EQ(keys_of("[1]"), std::vector<std::string>());
  EXPECT_EQ(keys_of("\"a\""), std::vector<std::string>());
  EXPECT_EQ(keys_of("{ \"a\" : 1 , \"b\":[ \"]}\", {\"x\":\"\\\"}\"} ]\t,\r\n\"\":\"\\\\\" , \"d\":-1.5e3}"),
            (std::vector<std::string>{"a", "b", "", "d"}));
}

TEST(JsonMembers, GivesTheExactBytesOfValues) {
  JsonMembers members{JsonValue("{ \"a\" : \"x\\\"y\" , \"b\": [ 1, 2 ] , \"c\": true}")};
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.value().text(), "\"x\\\"y\"");
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.value().text(), "[ 1, 2 ]");
  ASSERT_TRUE(members.next());
  EXPECT_EQ(members.value().text(), "true");
  EXPECT_FALSE(members.next());
  EXPECT_FALSE(members.next());
}

TEST(JsonMembers, ComparesKeysUnescaped) {
  const auto first_key_is = [](std::string_view text, std::string_view name) {
    JsonMembers members{JsonValue(text)};
    return members.next() && members.key_is(name);
  };
  EXPECT_TRUE(first_key_is(R"({"model":1})", "model"));
  EXPECT_TRUE(first_key_is(R"({"mo\u0064el":1})", "model"));
  EXPECT_TRUE(first_key_is(R"({"\u006d\u006F\u0064\u0065\u006c":1})", "model"));
  EXPECT_TRUE(first_key_is(R"({"a\/b":1})", "a/b"));
  EXPECT_TRUE(first_key_is(R"({"":1})", ""));
  EXPECT_FALSE(first_key_is(R"({"mo\u0064e":1})", "model"));
  EXPECT_FALSE(first_key_is(R"({"mo\u0064els":1})", "model"));
  EXPECT_FALSE(first_key_is(R"({"models":1})", "model"));
  EXPECT_FALSE(first_key_is(R"({"Model":1})", "model"));
  EXPECT_FALSE(first_key_is(R"({"a\\":1})", "a\\\\")) << "the raw spelling is not the key";
}

TEST(JsonElements, WalksInOrder) {
  EXPECT_EQ(elements_of("[]"), std::vector<std::string>());
  EXPECT_EQ(elements_of("[ ]"), std::vector<std::string>());
  EXPECT_EQ(elements_of("{\"a\":1}"), std::vector<std::string>());
  EXPECT_EQ(elements_of(" [ 1 ,\"a,b]\",[[],{}] , null,{\"k\":[1]}\n] "),
            (std::vector<std::string>{"1", "\"a,b]\"", "[[],{}]", "null", "{\"k\":[1]}"}));
}

TEST(JsonElements, FindsTheEndOfValuesOfEveryLength) {
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string text = "[\"" + std::string(size, 'x') + "\",[\"" + std::string(size, ']') + "\\\"]\"]]";
    ASSERT_EQ(check_json(text), std::nullopt);
    const auto values = elements_of(text);
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].size(), size + 2);
    EXPECT_EQ(values[1].size(), size + 7);
  }
}

TEST(JsonElements, FindsTheEndBehindRunsOfBackslashesAtEveryPlace) {
  for (std::size_t before = 40; before < 140; ++before) {
    for (std::size_t pairs = 1; pairs < 40; ++pairs) {
      std::string escapes;
      for (std::size_t i = 0; i < pairs; ++i) escapes += "\\\\";
      const std::string inner = "[\"" + std::string(before, 'x') + escapes + "\",\"" + escapes + "\\\"]\"]";
      const std::string text = "[" + inner + ",1]";
      ASSERT_EQ(check_json(text), std::nullopt);
      ASSERT_EQ(elements_of(text), (std::vector<std::string>{inner, "1"})) << before << " " << pairs;
    }
  }
}

// Walking must stay inside the bytes and come to an end even on what was never checked.
TEST(JsonElements, EndsOnUncheckedText) {
  for (const char* text : {"[", "[,", "[}", "[\"", "[\"\\", "[[", "[{\"a", "[1", "[1}", "[:]", "[]]"}) {
    const std::vector<char> bytes(text, text + std::strlen(text));
    JsonElements elements{JsonValue(std::string_view(bytes.data(), bytes.size()))};
    int steps = 0;
    while (elements.next()) ASSERT_LT(++steps, 10) << text;
  }
  for (const char* text :
       {"{", "{,", "{\"", "{\"\\", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":}", "{\"a\"}"}) {
    const std::vector<char> bytes(text, text + std::strlen(text));
    JsonMembers members{JsonValue(std::string_view(bytes.data(), bytes.size()))};
    int steps = 0;
    while (members.next()) ASSERT_LT(++steps, 10) << text;
  }
}

TEST(AppendJsonString, IsReadBackAsItWas) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "é鹊😀";
  std::string out = "x";
  append_json_string(out, all);
  EXPECT_EQ(out.substr(0, 2), "x\"");
  EXPECT_EQ(decode(std::string_view(out).substr(1)), all);
}

TEST(AppendJsonString, EscapesAsShortAsItCan) {
  std::string out;
  append_json_string(out, "\"\\/\b\f\n\r\t\x01\x1f\x7f");
  EXPECT_EQ(out, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
}

TEST(AppendJsonString, ReplacesWhatIsNotUtf8) {
  const auto written = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return decode(out);
  };
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(written("a\xff"
                    "b"),
            "a" + r + "b");
  EXPECT_EQ(written("\xc0\x80"), r + r);
  EXPECT_EQ(written("\xed\xa0\x80"), r + r + r);
  EXPECT_EQ(written("\xe0\x80\xaf"), r + r + r);
  EXPECT_EQ(written("\xf0\x80\x80\xaf"), r + r + r + r);
  EXPECT_EQ(written("\xf0\x9f\x98"), r) << "one for a maximal part";
  EXPECT_EQ(written("\xe9\xb9\x8a\xe6\xa1"), "鹊" + r);
  EXPECT_EQ(written("\xf5\x80\n\xf4\x90\x80\x80"), r + r + "\n" + r + r + r + r);
}

// Every leaf, walked in one pass and by values of their own.
void list_inside(JsonWalk& outer, std::string& out) {
  if (outer.is_object()) {
    out += '{';
    for (auto members = JsonMembers::inside(outer); members.next();) {
      out.append(members.raw_key()).append(":");
      list_inside(members, out);
    }
    out += '}';
  } else if (outer.is_array()) {
    out += '[';
    for (auto elements = JsonElements::inside(outer); elements.next();) list_inside(elements, out);
    out += ']';
  } else {
    out.append(outer.value().text()).append(",");
  }
}
void list_apart(JsonValue value, std::string& out) {
  if (value.is_object()) {
    out += '{';
    for (JsonMembers members(value); members.next();) {
      out.append(members.raw_key()).append(":");
      list_apart(members.value(), out);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (JsonElements elements(value); elements.next();) list_apart(elements.value(), out);
    out += ']';
  } else {
    out.append(value.text()).append(",");
  }
}

TEST(JsonWalk, AWalkInsideAnotherSeesWhatAWalkOfTheValueSees) {
  for (const std::string_view text : {R"({"a":{"b":[1,{"c":"}]"},[]],"d":{}},"e":"x","f":[],"g":null})",
                                      R"( { "a" : [ { } , [ ] , 2 ] , "b" : { "c" : [ 3 ] } } )",
                                      R"([[[[]]],{"a":{"a":{"a":1}}},"\"]",true])", R"({"only":"text"})"}) {
    ASSERT_FALSE(check_json(text)) << text;
    const std::string wrapped = "[" + std::string(text) + "]";
    std::string inside;
    JsonElements elements{JsonValue(wrapped)};
    ASSERT_TRUE(elements.next());
    list_inside(elements, inside);
    EXPECT_FALSE(elements.next());
    EXPECT_FALSE(elements.next()) << "a walk that is over stays over";
    std::string apart;
    list_apart(JsonValue(text), apart);
    EXPECT_EQ(inside, apart) << text;
  }
}

TEST(JsonWalk, AWalkInsideThatStopsEarlyIsPassedOver) {
  const JsonValue document(R"({"a":{"x":1,"y":{"z":[2]}},"b":[1,[2,3],4],"c":5})");
  std::string seen;
  for (JsonMembers members(document); members.next();) {
    seen += members.raw_key();
    auto object = JsonMembers::inside(members);
    if (object.next()) seen += object.raw_key();
    auto array = JsonElements::inside(members);
    if (array.next()) seen += array.value().text();
  }
  EXPECT_EQ(seen, "axb1c");
}

TEST(JsonWalk, AValueCanBeReadBeforeAndAfterItWasWalked) {
  const JsonValue document(R"([{"a":[1]},7])");
  JsonElements elements(document);
  ASSERT_TRUE(elements.next());
  EXPECT_EQ(elements.value().text(), R"({"a":[1]})");
  for (auto members = JsonMembers::inside(elements); members.next();) EXPECT_TRUE(members.is_array());
  EXPECT_EQ(elements.value().text(), R"({"a":[1]})");
  ASSERT_TRUE(elements.next());
  EXPECT_EQ(elements.value().text(), "7");
}

// What a walk sees, with everything inside.
void describe(JsonMembers& members, std::string& out);
void describe(JsonElements& elements, std::string& out);

template <typename Walk>
void describe_value(Walk& walk, std::string& out) {
  if (walk.is_object()) {
    auto inside = JsonMembers::inside(walk);
    describe(inside, out);
  } else if (walk.is_array()) {
    auto inside = JsonElements::inside(walk);
    describe(inside, out);
  }
  out.append(walk.value().text()).append("|");
}

void describe(JsonMembers& members, std::string& out) {
  while (members.next()) {
    out.append(members.raw_key()).append(members.key_is("escaped\n") ? "!" : "").append("=");
    describe_value(members, out);
  }
  EXPECT_FALSE(members.next());
}

void describe(JsonElements& elements, std::string& out) {
  while (elements.next()) describe_value(elements, out);
  EXPECT_FALSE(elements.next());
}

TEST(JsonOutline, AWalkWithAnOutlineSeesTheSame) {
  std::string many = "{";
  for (int i = 0; i < 20; ++i) {
    if (i > 0) many += " , ";
    many += "\"k" + std::to_string(i) + "\":" +
            (i % 3 == 0   ? R"([{"a":"]}"},[]])"
             : i % 3 == 1 ? R"({"b":{}})"
                          : "7");
  }
  many += "}";
  for (const std::string_view text :
       {std::string_view(many),
        std::string_view(R"({"a":{},"b":[],"c":{"d":[{"e":1,"f":[2,{"g":{}}]}]},"f":"[{"})"),
        std::string_view(
            R"({"escaped\n":{"escaped\n":1,"plain":"a\n"},"":0, "a name of more than sixteen bytes\t":{}})"),
        std::string_view(" { \"a\" : [ [ ] , [ [ [ [ [ 1 ] ] ] ] ] ] } "), std::string_view("{}")}) {
    std::string seen;
    JsonMembers plain{JsonValue(text)};
    describe(plain, seen);
    for (std::size_t depth = 1; depth <= JsonOutline::kDepthMax; ++depth) {
      JsonOutline outline(depth);
      ASSERT_FALSE(check_json(text, {}, &outline)) << text;
      std::string seen_with_it;
      JsonMembers outlined(JsonValue(text), outline);
      describe(outlined, seen_with_it);
      EXPECT_EQ(seen_with_it, seen) << depth;
    }
  }
}

TEST(JsonOutline, TooManyValuesForItAreWalkedByReading) {
  std::string text = "{";
  for (std::size_t i = 0; i <= JsonOutline::kMax; ++i) {
    if (i == JsonOutline::kMax) {
      JsonOutline outline(1);
      ASSERT_FALSE(check_json(text + "}", {}, &outline));
      EXPECT_TRUE(outline.complete);
    }
    text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":[1,2]";
  }
  text += "}";
  JsonOutline outline(1);
  ASSERT_FALSE(check_json(text, {}, &outline));
  EXPECT_FALSE(outline.complete);
  std::size_t count = 0;
  for (JsonMembers members(JsonValue(text), outline); members.next();) {
    EXPECT_EQ(members.raw_key(), "k" + std::to_string(count++));
    EXPECT_EQ(members.value().text(), "[1,2]");
  }
  EXPECT_EQ(count, JsonOutline::kMax + 1);
}

}  // namespace
}  // namespace qq::wire
