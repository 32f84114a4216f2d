// Configuration files: whatever the bytes, loading ends, places are sane, no value from the environment shows
// in a message, and what is accepted compiles and equals itself. Seeds and words: corpus/config_yaml/,
// config_yaml.dict.
#include <string_view>

#include "config/compile.h"
#include "config/diff.h"
#include "config/load.h"
#include "fuzz/wire_support.h"

namespace {

// A valid credential and pepper, so that accepted files get as far as they can.
constexpr std::string_view kOutside = "q7Zx9w2LmT4vB8nK";

const qq::config::Environment& environment() {
  static const qq::config::Environment kEnvironment{
      .variable = [](const std::string& name) -> std::optional<std::string> {
        if (name.starts_with("NO")) return std::nullopt;
        return std::string(kOutside);
      },
      .file = [](const std::string& path) -> std::expected<std::string, std::string> {
        if (path.starts_with("/no")) return std::unexpected("cannot be read");
        return std::string(kOutside) + "\n";
      }};
  return kEnvironment;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto loaded = qq::config::load_text("f", text, environment());
  if (!loaded) {
    FUZZ_CHECK(!loaded.error().empty());
    const bool shown_by_the_file_itself = text.find(kOutside) != std::string_view::npos;
    for (const qq::config::Diagnostic& diagnostic : loaded.error()) {
      FUZZ_CHECK(diagnostic.line >= 1 && diagnostic.column >= 1 && !diagnostic.message.empty());
      FUZZ_CHECK(diagnostic.message.size() < 4'096);
      FUZZ_CHECK(shown_by_the_file_itself || diagnostic.message.find(kOutside) == std::string::npos);
    }
    return 0;
  }
  FUZZ_CHECK(qq::config::diff(*loaded, *loaded).empty());
  qq::resilience::HealthRegistry healths;
  const auto snapshot = qq::config::compile(*loaded, healths, 1, qq::WallTime{});
  FUZZ_CHECK(snapshot.has_value());
  FUZZ_CHECK((*snapshot)->public_names.size() == (*snapshot)->routes.size());
  FUZZ_CHECK((*snapshot)->healths.size() == (*snapshot)->targets.size());
  return 0;
}
