#include "config/schema.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <set>
#include <sstream>

#include "config/definition.h"

namespace qq::config {
namespace {

// JSON is YAML: the tree that another parser makes of the schema.
const YAML::Node& schema() {
  static const YAML::Node kSchema = YAML::Load(json_schema());
  return kSchema;
}

TEST(Schema, NamesItsDraft) {
  EXPECT_EQ(schema()["$schema"].as<std::string>(), "https://json-schema.org/draft/2020-12/schema");
}

void expect_section(const YAML::Node& node, const Section& section) {
  SCOPED_TRACE(section.id);
  EXPECT_EQ(node["type"].as<std::string>(), "object");
  EXPECT_EQ(node["additionalProperties"].as<bool>(), false);
  EXPECT_EQ(node["properties"].size(), section.fields.size());
  std::set<std::string> required;
  for (const auto& key : node["required"]) required.insert(key.as<std::string>());
  for (const Field& field : section.fields) {
    SCOPED_TRACE(field.key);
    const YAML::Node property = node["properties"][std::string(field.key)];
    ASSERT_TRUE(property.IsMap());
    EXPECT_EQ(property["description"].as<std::string>(), field.doc);
    EXPECT_TRUE(property["type"] || property["anyOf"] || property["$ref"]);
    EXPECT_EQ(required.contains(std::string(field.key)), field.presence == Presence::Required);
  }
}

TEST(Schema, DescribesEverySectionOfTheDefinition) {
  expect_section(schema(), root_section());
  for (const Section* section : all_sections()) {
    if (section != &root_section()) expect_section(schema()["$defs"][std::string(section->id)], *section);
  }
}

void collect_references(const YAML::Node& node, std::set<std::string>& out) {
  if (node.IsMap()) {
    for (const auto& entry : node) {
      if (entry.first.as<std::string>() == "$ref" && entry.second.IsScalar())
        out.insert(entry.second.as<std::string>());
      collect_references(entry.second, out);
    }
  } else if (node.IsSequence()) {
    for (const auto& item : node) collect_references(item, out);
  }
}

TEST(Schema, EveryReferenceLeadsToADefinition) {
  std::set<std::string> references;
  collect_references(schema(), references);
  EXPECT_GE(references.size(), 10U);
  for (const std::string& reference : references) {
    ASSERT_TRUE(reference.starts_with("#/$defs/")) << reference;
    EXPECT_TRUE(schema()["$defs"][reference.substr(8)].IsMap()) << reference;
  }
}

TEST(Schema, OffersTheProviderKinds) {
  const YAML::Node kinds = schema()["$defs"]["provider"]["properties"]["kind"]["anyOf"][0]["enum"];
  std::set<std::string> names;
  for (const auto& kind : kinds) names.insert(kind.as<std::string>());
  EXPECT_TRUE(names.contains("openai") && names.contains("openai_compatible"));
}

TEST(Schema, StatesRanges) {
  const YAML::Node workers = schema()["properties"]["workers"]["anyOf"][0];
  EXPECT_EQ(workers["type"].as<std::string>(), "integer");
  EXPECT_EQ(workers["minimum"].as<int>(), 0);
  EXPECT_EQ(workers["maximum"].as<int>(), 1024);
}

TEST(Definition, KeysAreUniqueInTheirSectionAndSectionsOnce) {
  std::set<std::string_view> ids;
  for (const Section* section : all_sections()) {
    EXPECT_TRUE(ids.insert(section->id).second) << section->id;
    std::set<std::string_view> keys;
    for (const Field& field : section->fields) EXPECT_TRUE(keys.insert(field.key).second) << field.key;
  }
}

TEST(Definition, EveryFieldIsDocumentedAndWired) {
  for (const Section* section : all_sections()) {
    EXPECT_NE(section->doc, "");
    for (const Field& field : section->fields) {
      SCOPED_TRACE(std::string(section->name) + "." + std::string(field.key));
      EXPECT_NE(field.doc, "");
      const bool nested = field.type == FieldType::Map || field.type == FieldType::Maps;
      EXPECT_EQ(nested, field.section != nullptr);
      EXPECT_EQ(nested, static_cast<bool>(field.open) && static_cast<bool>(field.elements));
      EXPECT_EQ(!nested, static_cast<bool>(field.store) && static_cast<bool>(field.read));
      if (field.type == FieldType::Maps) {
        ASSERT_NE(field.section->find(field.identity), nullptr);
      }
      if (field.matches) {
        EXPECT_NE(field.pattern, "");
        EXPECT_NE(field.pattern_words, "");
      }
    }
  }
}

TEST(Definition, DefaultsAreWithinTheirRanges) {
  for (const Section* section : all_sections()) {
    for (const Field& field : section->fields) {
      if (field.maximum == 0 || field.type == FieldType::Number) continue;
      const std::string value = field.read(section->defaults());
      if (value.empty()) continue;
      const double number = field.type == FieldType::Duration
                                ? static_cast<double>(parse_duration(value)->count())
                            : field.type == FieldType::Size ? static_cast<double>(*parse_size(value))
                                                            : static_cast<double>(*parse_integer(value));
      EXPECT_GE(number, field.minimum) << field.key;
      EXPECT_LE(number, field.maximum) << field.key;
    }
  }
}

TEST(Reference, TheDocumentationHoldsTheTablesOfTheDefinition) {
  std::ifstream in(QQ_SOURCE_DIR "/docs/configuration.md");
  std::stringstream content;
  content << in.rdbuf();
  constexpr std::string_view kBegin = "<!-- reference: begin -->\n\n";
  constexpr std::string_view kEnd = "<!-- reference: end -->";
  const std::string text = content.str();
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos);
  EXPECT_EQ(text.substr(begin + kBegin.size(), end - begin - kBegin.size()), reference_markdown())
      << "put the output of `queqiao schema --markdown` between the two marks";
}

}  // namespace
}  // namespace qq::config
