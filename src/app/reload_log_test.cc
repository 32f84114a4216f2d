#include "app/reload_log.h"

#include <gtest/gtest.h>

#include "telemetry/testing/captured_log.h"

namespace qq::app {
namespace {

using testing::HasSubstr;

std::vector<std::string> logged(const config::ReloadResult& result) {
  const telemetry::CapturedLog log;
  telemetry::Options options;
  options.log_path = log.path();
  telemetry::Telemetry telemetry(options);
  log_reload(telemetry, result);
  telemetry.stop();
  return log.lines();
}

TEST(ReloadLog, ARefusedFileIsOneLineAProblem) {
  config::ReloadResult refused;
  refused.diagnostics = {{"f.yaml", 1, 2, "first"}, {"f.yaml", 3, 4, "second"}};
  const auto lines = logged(refused);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("f.yaml:1:2: first"));
  EXPECT_THAT(lines[1], HasSubstr("f.yaml:3:4: second"));
}

TEST(ReloadLog, EveryChangeIsALineOfItsOwn) {
  config::ReloadResult applied;
  applied.status = config::ReloadStatus::Applied;
  applied.changes = {{"a: 1 → 2", config::Effect::Reload}, {"b: 3 → 4", config::Effect::Restart}};
  const auto lines = logged(applied);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("configuration reloaded, 1 changed, 1 only after a restart"));
  EXPECT_THAT(lines[1], HasSubstr("\"change\":\"a: 1 → 2\""));
  EXPECT_THAT(lines[2], HasSubstr("\"change\":\"b: 3 → 4 (needs a restart)\""));
}

TEST(ReloadLog, AFileWithoutKeysIsWarnedOf) {
  config::ReloadResult applied;
  applied.status = config::ReloadStatus::Applied;
  applied.next.emplace();
  const auto lines = logged(applied);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("every request is refused"));
  applied.next->keys.emplace_back();
  EXPECT_EQ(logged(applied).size(), 1U);
}

}  // namespace
}  // namespace qq::app
