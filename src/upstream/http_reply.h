// A reply read from one HTTP/1.1 connection: framing, content coding, and what becomes of the connection.
#pragma once
#include <memory>
#include <string>

#include "relay/upstream_client.h"
#include "upstream/http_client.h"
#include "wire/body_reader.h"
#include "wire/content_decoder.h"

namespace qq::upstream {

class HttpReply : public relay::UpstreamReply {
 public:
  // `early`: body bytes that came with the head. They lie in the loop's scratch, or in `storage`.
  HttpReply(HttpUpstreamClient& client, std::unique_ptr<net::Stream> stream, std::string_view pool_key,
            bool reusable, std::string storage, std::span<char> early);
  ~HttpReply() override;

  [[nodiscard]] const wire::ResponseHead& head() const noexcept override { return client_.head_; }
  [[nodiscard]] int status() const noexcept override { return status_; }
  Piece try_read() noexcept override;
  void keep() override;
  [[nodiscard]] net::Stream::ReadyAwaiter readable(net::Scope scope) noexcept override {
    return stream_->readable(scope);
  }
  void relax() noexcept override;
  [[nodiscard]] net::Stream* upgraded() noexcept override { return status_ == 101 ? stream_.get() : nullptr; }

  // An error if the content coding is not one we read.
  Result<> set_decoder(std::string_view coding, std::size_t output_max);

 private:
  Piece unread(net::IoStatus status) noexcept;
  Piece take(std::span<char> raw) noexcept;
  Piece failed(ErrorKind kind, const char* reason) noexcept;

  // What each event of a stream needs comes first.
  HttpUpstreamClient& client_;
  std::unique_ptr<net::Stream> stream_;
  std::unique_ptr<wire::ContentDecoder> decoder_;
  std::span<char> early_;
  wire::BodyReader body_;
  bool ended_ = false;
  bool relaxed_ = false;
  bool reusable_;
  int status_;
  std::string_view pool_key_;  // owned by the call's target, which outlives the reply
  std::string storage_;
  std::string decoded_;
};

}  // namespace qq::upstream
