// HEAD: the head that GET would have, and no body (RFC 9110 9.3.2).
#include <fmt/format.h>

#include "simulation/fault_case.h"

namespace qq::simulation {
namespace {

std::string asked(std::string_view method, std::string_view path, std::string_view connection = "close") {
  return fmt::format("{} {} HTTP/1.1\r\nhost: g\r\n{}connection: {}\r\n\r\n", method, path, kKeyLine,
                     connection);
}

// Without what differs from request to request.
std::string plain(std::string_view head) {
  std::string out(head);
  if (const std::size_t at = out.find("x-request-id: "); at != std::string::npos) out.erase(at, 42);
  return out;
}

TEST(HeadMethod, IsAnsweredWithTheHeadOfGet) {
  World world;
  for (const std::string_view path : {"/healthz", "/readyz", "/metrics", "/v1/models", "/v1/models/alone",
                                      "/v1/models/none", "/nowhere", "/v1/chat/completions"}) {
    const std::string got = world.say(asked("GET", path)).raw;
    const std::string head = world.say(asked("HEAD", path), 0).raw;
    const std::size_t end = got.find("\r\n\r\n") + 4;
    ASSERT_LT(end, got.size()) << path;
    EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
    EXPECT_EQ(head.find("\r\n\r\n") + 4, head.size()) << head;
    // The refusals name the method and so differ in length.
    if (path != "/nowhere" && path != "/v1/chat/completions")
      EXPECT_EQ(plain(head), plain(got.substr(0, end)));
  }
  world.expect_rest();
}

TEST(HeadMethod, TheNextRequestsAnswerFollowsTheHead) {
  World world;
  const std::string raw =
      world.say(asked("HEAD", "/healthz", "keep-alive") + asked("GET", "/healthz"), 0).raw;
  const std::size_t second = raw.find("HTTP/1.1 200 OK", 1);
  ASSERT_NE(second, std::string::npos) << raw;
  EXPECT_EQ(raw.find("\r\n\r\n") + 4, second) << raw;
  EXPECT_TRUE(raw.ends_with(R"({"alive":true})"));
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation
