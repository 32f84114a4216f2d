#include "dialects/line_breaks.h"

#include <gtest/gtest.h>

namespace qq::dialects {
namespace {

using model::StreamEvent;
using Kind = StreamEvent::Kind;

// What comes of each event, as text: "0:a" a delta of part 0, "0." its end, "!" anything else.
class Joined final : public EventSink {
 public:
  std::string operator()(const StreamEvent& event) {
    said_.clear();
    breaks_.take(event, *this);
    return said_;
  }
  std::string text(std::uint32_t part, std::string_view text) {
    return (*this)({.kind = Kind::TextDelta, .part = part, .text = text});
  }
  void on_event(const StreamEvent& event) override {
    if (event.kind == Kind::TextDelta)
      said_ += std::to_string(event.part) + ":" + std::string(event.text);
    else
      said_ += event.kind == Kind::PartFinished ? std::to_string(event.part) + "." : "!";
  }

 private:
  JoinedLineBreaks breaks_;
  std::string said_;
};

TEST(JoinedLineBreaks, WaitForTheNextDeltaOrTheEndOfTheirPart) {
  Joined joined;
  EXPECT_EQ(joined.text(0, "a\n"), "0:a");
  EXPECT_EQ(joined.text(0, "\n"), "");
  EXPECT_EQ(joined({.kind = Kind::Ping}), "!") << "what is no text waits for nothing";
  EXPECT_EQ(joined.text(0, "b\r"), "0:\n\nb");
  EXPECT_EQ(joined.text(0, "\nc"), "0:\r\nc");
  EXPECT_EQ(joined.text(0, "\n"), "");
  EXPECT_EQ(joined({.kind = Kind::PartFinished}), "0:\n0.");
}

TEST(JoinedLineBreaks, PartsDoNotMix) {
  Joined joined;
  EXPECT_EQ(joined.text(0, "a\n"), "0:a");
  EXPECT_EQ(joined.text(1, "b\n\n"), "1:b");
  EXPECT_EQ(joined({.kind = Kind::PartFinished, .part = 0}), "0:\n0.");
  EXPECT_EQ(joined.text(1, "c"), "1:\n\nc");
  EXPECT_EQ(joined({.kind = Kind::PartFinished, .part = 1}), "1.");
}

}  // namespace
}  // namespace qq::dialects
