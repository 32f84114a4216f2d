#include "base/sha1.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace qq {
namespace {

TEST(Sha1, GivesThePublishedDigests) {
  EXPECT_EQ(to_base64(bytes_of(sha1(""))), "2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
  EXPECT_EQ(to_base64(bytes_of(sha1("abc"))), "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
}

}  // namespace
}  // namespace qq
