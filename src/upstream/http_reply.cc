#include "upstream/http_reply.h"

#include <cstring>

namespace qq::upstream {

HttpReply::HttpReply(HttpUpstreamClient& client, std::unique_ptr<net::Stream> stream,
                     std::string_view pool_key, bool reusable, std::string storage, std::span<char> early)
    : client_(client),
      stream_(std::move(stream)),
      early_(early),
      body_(client.head_.framing),
      reusable_(reusable && client.head_.keep_alive),
      status_(client.head_.status),
      pool_key_(pool_key),
      storage_(std::move(storage)) {}

HttpReply::~HttpReply() {
  // Anything but a complete reply leaves the connection in an unknown state: closing it also tells the
  // provider that nobody listens any more.
  if (ended_ && reusable_ && early_.empty()) {
    if (relaxed_) stream_->set_relaxed(false);
    client_.pool_.give_back(pool_key_, std::move(stream_));
  } else {
    client_.close(std::move(stream_));
  }
}

void HttpReply::keep() {
  if (early_.empty() || !storage_.empty()) return;  // nothing, or ours already
  storage_.assign(early_.data(), early_.size());
  early_ = storage_;
}

void HttpReply::relax() noexcept {
  relaxed_ = true;
  stream_->set_relaxed(true);
}

Result<> HttpReply::set_decoder(std::string_view coding, std::size_t output_max) {
  QQ_TRY(decoder_, wire::ContentDecoder::make(coding, output_max));
  return {};
}

relay::UpstreamReply::Piece HttpReply::failed(ErrorKind kind, const char* reason) noexcept {
  reusable_ = false;
  Piece piece;
  piece.kind = Piece::Kind::Failed;
  piece.error = kind;
  piece.reason = reason;
  return piece;
}

relay::UpstreamReply::Piece HttpReply::try_read() noexcept {
  Piece piece;
  if (ended_) {
    piece.kind = Piece::Kind::End;
    return piece;
  }
  if (!early_.empty() || body_.done()) {
    const std::span<char> raw = early_;
    early_ = {};
    return take(raw);
  }
  if (!stream_->maybe_readable()) return piece;
  const std::span<char> scratch = client_.loop_.scratch();
  const net::IoTry got = stream_->try_read(scratch);
  if (got.status != net::IoStatus::Done) return unread(got.status);
  client_.counters_.bytes_from_upstreams.add(static_cast<std::int64_t>(got.bytes));
  if (decoder_ == nullptr) {
    piece.bytes = body_.take_whole_chunk({scratch.data(), got.bytes});
    if (!piece.bytes.empty()) {
      piece.kind = Piece::Kind::Bytes;
      return piece;
    }
  }
  return take(scratch.first(got.bytes));
}

// What a read without bytes comes to.
relay::UpstreamReply::Piece HttpReply::unread(net::IoStatus status) noexcept {
  switch (status) {
    case net::IoStatus::Closed:
      reusable_ = false;
      if (!body_.finish())
        return failed(ErrorKind::BodyCut, "the provider closed the connection in the middle of its answer");
      return take({});
    case net::IoStatus::Failed:
      return failed(ErrorKind::BodyCut, "the provider reset the connection in the middle of its answer");
    default: return {};
  }
}

// Takes the framing out of `raw` in place, so that what remains is one contiguous run of payload.
relay::UpstreamReply::Piece HttpReply::take(std::span<char> raw) noexcept {
  std::size_t kept = 0;
  std::size_t at = 0;
  const char* broken = nullptr;
  while (at < raw.size() && !body_.done()) {
    const auto step = body_.feed({raw.data() + at, raw.size() - at});
    broken = step.error;
    if (broken != nullptr) break;
    if (!step.payload.empty()) {
      if (raw.data() + kept != step.payload.data())
        std::memmove(raw.data() + kept, step.payload.data(), step.payload.size());
      kept += step.payload.size();
    }
    at += step.consumed;
    if (step.consumed == 0) break;
  }
  if (at < raw.size())
    reusable_ = false;  // bytes behind the end of the body: never trust this connection again

  Piece piece;
  piece.bytes = {raw.data(), kept};
  if (decoder_) {
    decoded_.clear();
    if (auto fed = decoder_->feed(piece.bytes, decoded_); !fed)
      return failed(ErrorKind::DecodeFailed, "the answer's content coding is broken or a bomb");
    if (body_.done()) {
      if (auto finished = decoder_->finish(); !finished)
        return failed(ErrorKind::DecodeFailed, "the answer's content coding ends early");
    }
    piece.bytes = decoded_;
  }
  if (broken != nullptr) {
    // What came before may be all of an answer that says itself where it ends.
    Piece last = failed(ErrorKind::BadFrame, broken);
    last.bytes = piece.bytes;
    return last;
  }
  ended_ = body_.done();
  if (!piece.bytes.empty()) {
    piece.kind = Piece::Kind::Bytes;
    piece.last = ended_;
  } else {
    piece.kind = ended_ ? Piece::Kind::End : Piece::Kind::WouldBlock;
  }
  return piece;
}

}  // namespace qq::upstream
