// AWS's event stream (vnd.amazon.eventstream), fed bytes: what Bedrock streams in. A frame is
//
//   total length (4) · headers length (4) · CRC-32 of these 8 (4) · headers · payload · CRC-32 of all before
//   (4)
//
// all big-endian. Source: docs.aws.amazon.com, "Amazon Transcribe streaming", "Event stream encoding", and
// smithy.io "Amazon Event Stream". Both sums are checked. A frame that lies whole in the given bytes is
// reported as views into them; otherwise its bytes are kept here, at most `frame_max`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qq::wire {

struct AwsFrame {
  std::string_view headers;  // as they are on the wire
  std::string_view payload;
  // The value of a header whose type is a string (":event-type", ":message-type"); empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
};

class AwsFrames {
 public:
  explicit AwsFrames(std::size_t frame_max = std::size_t{16} * 1024 * 1024) : frame_max_(frame_max) {}

  // Takes the next frame off the front of `bytes`. Call until it returns false: then `bytes` is empty or the
  // stream is broken. Views are valid until the next call.
  bool next(std::string_view& bytes, AwsFrame& frame);
  // A wrong sum or length, or a frame that is too big: nothing more comes out.
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  // How many have come so far.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // Between frames.
  [[nodiscard]] bool at_border() const noexcept { return reported_ || kept_.empty(); }

 private:
  [[nodiscard]] std::size_t size_of_frame(std::string_view prelude);
  bool report(std::string_view whole, AwsFrame& frame);

  std::string kept_;  // the beginning of a frame; or the one reported last, whole
  std::size_t frame_max_;
  std::uint64_t count_ = 0;
  bool reported_ = false;
  bool broken_ = false;
};

}  // namespace qq::wire
