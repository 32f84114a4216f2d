// Hand-written requests, each put to a target of every dialect: tests/golden/translation/<case>.<client>.json
// is what the client says, the file .expect beside it what it means, and what each target gets and loses.
// QQ_GOLDEN_UPDATE=1 writes those anew; review the difference.
#include <fakes/neutral.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "translation/declared.h"
#include "translation/pairs.h"
#include "wire/json.h"

namespace qq::translation {
namespace cases {

namespace fs = std::filesystem;
using model::Dialect;

std::string file_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A line for each member or element.
void append_pretty(std::string& out, wire::JsonValue value, std::size_t depth) {
  const std::string_view close = value.is_object() ? "}" : "]";
  const auto line = [&](std::size_t indent) { out.append("\n").append(indent * 2, ' '); };
  bool any = false;
  const auto next = [&] {
    if (std::exchange(any, true)) out += ',';
    line(depth + 1);
  };
  if (value.is_object()) {
    out += '{';
    for (wire::JsonMembers members(value); members.next();) {
      next();
      out.append("\"").append(members.raw_key()).append("\": ");
      append_pretty(out, members.value(), depth + 1);
    }
  } else if (value.is_array()) {
    out += '[';
    for (wire::JsonElements each(value); each.next();) {
      next();
      append_pretty(out, each.value(), depth + 1);
    }
  } else {
    out += value.text();
    return;
  }
  if (any) line(depth);
  out += close;
}

std::string sent_to(Dialect provider, const model::ChatRequest& request) {
  dialects::Losses losses;
  const auto sent =
      dialects::provider_dialect(provider)->encode_request(request, target_of(provider), losses);
  std::string out = "\n==== " + std::string(to_string(provider)) + "\n";
  if (!sent) {
    EXPECT_EQ(sent.error().kind, ErrorKind::InvalidRequest);
    return out + "refused " + sent.error().param + ": " + sent.error().message + "\n";
  }
  EXPECT_FALSE(wire::check_json(sent->body)) << sent->body;
  EXPECT_EQ(undeclared(losses, dialects::support_table(provider), dialects::request_notes(provider)), "");
  for (const dialects::Loss& loss : losses)
    out.append("lost ").append(loss.field).append(": ").append(loss.why).append("\n");
  for (std::istringstream lines(sent->header_lines); lines;) {
    std::string line;
    if (std::getline(lines, line) && line.ends_with('\r')) line.pop_back();
    if (!line.empty()) out += line + "\n";
  }
  append_pretty(out, wire::JsonValue(sent->body), 0);
  return out + "\n";
}

TEST(TranslatedCases, AreAsTheirFilesSay) {
  std::size_t count = 0;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(QQ_SOURCE_DIR "/tests/golden/translation")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const std::string client_name = file.stem().extension().string();
    const auto client = std::ranges::find_if(
        kClients, [&](Dialect each) { return "." + std::string(to_string(each)) == client_name; });
    ASSERT_NE(client, kClients.end()) << file;
    ++count;
    const auto request =
        dialects::client_dialect(*client)->decode_request(file_text(file), {.path_model = "asked"});
    ASSERT_TRUE(request) << file << ": " << request.error().param << ": " << request.error().message;
    std::string text = testing::describe(*request);
    for (const Dialect provider : kProviders) text += sent_to(provider, *request);
    fs::path expected = file;
    expected.replace_extension(".expect");
    if (std::getenv("QQ_GOLDEN_UPDATE") != nullptr) {
      std::ofstream(expected, std::ios::binary) << text;
    } else {
      EXPECT_EQ(text, file_text(expected)) << expected;
    }
  }
  EXPECT_GE(count, 40U);
}

}  // namespace cases
}  // namespace qq::translation
