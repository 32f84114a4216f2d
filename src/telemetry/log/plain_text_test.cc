#include "telemetry/log/plain_text.h"

#include <string>

namespace qq::telemetry {
namespace {

TEST(CopyPlain, CopiesTextsOfEverySize) {
  for (std::size_t size = 0; size < 70; ++size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
    std::string out(size + 1, '#');
    EXPECT_TRUE(copy_plain(out.data(), text)) << size;
    EXPECT_EQ(out, text + '#') << size;
  }
}

TEST(CopyPlain, FindsEveryByteThatIsNotPlainAtEveryPlace) {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, '~');
        text[place] = static_cast<char>(byte);
        std::string out(size, '#');
        ASSERT_EQ(copy_plain(out.data(), text), is_plain(static_cast<unsigned char>(byte)))
            << "byte " << byte << " at " << place << " of " << size;
      }
    }
  }
}

TEST(CopyPlain, BytesBesideASpecialOneDoNotHideIt) {
  for (const char neighbour : {' ', '!', '#', '[', ']', '~', '}'}) {
    for (const char special : {'"', '\\', '\x7f', '\x1f', '\x80'}) {
      std::string text(8, neighbour);
      for (std::size_t place = 0; place < text.size(); ++place) {
        std::string here = text;
        here[place] = special;
        std::string out(8, '#');
        EXPECT_FALSE(copy_plain(out.data(), here));
        EXPECT_TRUE(copy_plain(out.data(), text));
      }
    }
  }
}

}  // namespace
}  // namespace qq::telemetry
