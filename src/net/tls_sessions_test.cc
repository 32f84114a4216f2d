#include "net/tls_sessions.h"

#include <gtest/gtest.h>

namespace qq::net {
namespace {

class TlsSessionsTest : public ::testing::Test {
 protected:
  // Keeps a new session; the pointer is its name only.
  const SSL_SESSION* keep(const std::string& origin) {
    SslSessionPointer session(SSL_SESSION_new());
    const SSL_SESSION* const name = session.get();
    sessions_.keep(origin, std::move(session));
    return name;
  }
  TlsSessions sessions_;
};

TEST_F(TlsSessionsTest, TwoConnectionsAtOnceGetATicketEach) {
  const auto* const first = keep("a:443");
  const auto* const second = keep("a:443");
  const SslSessionPointer one = sessions_.take("a:443");
  const SslSessionPointer two = sessions_.take("a:443");
  EXPECT_EQ(one.get(), second) << "the newest first";
  EXPECT_EQ(two.get(), first);
}

TEST_F(TlsSessionsTest, TheLastOneIsHandedOutAgainAndAgain) {
  const auto* const only = keep("a:443");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sessions_.take("a:443").get(), only);
}

TEST_F(TlsSessionsTest, KeepsTheNewestTwo) {
  keep("a:443");
  const auto* const second = keep("a:443");
  const auto* const third = keep("a:443");
  EXPECT_EQ(sessions_.take("a:443").get(), third);
  EXPECT_EQ(sessions_.take("a:443").get(), second);
  EXPECT_EQ(sessions_.take("a:443").get(), second);
}

TEST_F(TlsSessionsTest, EachPortOfAHostHasItsOwn) {
  keep("a:443");
  EXPECT_EQ(sessions_.take("a:8443"), nullptr);
}

TEST_F(TlsSessionsTest, OriginsAreBounded) {
  for (std::size_t i = 0; i <= TlsSessions::kOriginsMost; ++i) keep(std::to_string(i));
  std::size_t held = 0;
  for (std::size_t i = 0; i <= TlsSessions::kOriginsMost; ++i) {
    if (sessions_.take(std::to_string(i))) ++held;
  }
  EXPECT_EQ(held, TlsSessions::kOriginsMost);
}

}  // namespace
}  // namespace qq::net
