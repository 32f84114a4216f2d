// Bedrock's Converse: see provider_support.h. Frames carry sums that no mutation gets right, so streams are
// also given as lines, "name-of-the-event payload", of which frames are made.
#include "fuzz/provider_support.h"
#include "tests/fakes/aws_frames.h"

namespace {

constexpr unsigned char kLines = 0xb2;

std::string frames_of(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const std::string_view name = line.substr(0, std::min<std::size_t>(line.find(' '), 255));
    const std::string_view payload = line.substr(std::min(name.size() + 1, line.size()));
    const bool fails = name.ends_with("xception");
    out += qq::testing::aws_frame(
        {{fails ? ":exception-type" : ":event-type", name}, {":message-type", fails ? "exception" : "event"}},
        payload);
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using qq::fuzz::target_named;
  static const std::vector<qq::model::Target> kTargets{target_named("anthropic.claude-sonnet-4-5"),
                                                       target_named("amazon.nova-2-lite"),
                                                       target_named("openai.gpt-oss-20b")};
  const std::string_view input = qq::fuzz::as_text(data, size);
  if (size > 0 && data[0] == kLines) {
    qq::fuzz::check_stream(qq::model::Dialect::Bedrock, kTargets[0], frames_of(input.substr(1)));
  } else {
    qq::fuzz::check_provider(qq::model::Dialect::Bedrock, kTargets, input);
  }
  return 0;
}
