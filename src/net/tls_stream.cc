#include "net/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <cerrno>

namespace qq::net {
namespace {

constexpr std::size_t kRecordBytes = 16UL * 1024;  // the most that a TLS record carries

// Where small pieces are gathered, so that one relay step is one record.
std::span<char> gather_buffer() noexcept {
  thread_local std::array<char, kRecordBytes> buffer;
  return buffer;
}

}  // namespace

// The BIO between OpenSSL and the lower stream.
struct StreamBio {
  static BIO* make(TlsStream& stream) {
    static BIO_METHOD* const method = make_method();
    BIO* const bio = BIO_new(method);
    QQ_ASSERT(bio != nullptr);
    BIO_set_data(bio, &stream);
    BIO_set_init(bio, 1);
    return bio;
  }

  static BIO_METHOD* make_method() {
    BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
    QQ_ASSERT(method != nullptr);
    BIO_meth_set_read_ex(method, &StreamBio::read);
    BIO_meth_set_write_ex(method, &StreamBio::write);
    BIO_meth_set_ctrl(method, &StreamBio::control);
    return method;
  }

  static int read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
    TlsStream& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    *got = 0;
    if (size == 0) return 0;
    const IoTry tried = stream.below_->try_read({into, size});
    switch (tried.status) {
      case IoStatus::Done: *got = tried.bytes; return 1;
      case IoStatus::WouldBlock: BIO_set_retry_read(bio); return 0;
      case IoStatus::Closed: stream.below_closed_ = true; return 0;
      case IoStatus::Failed: stream.below_error_ = tried.error; return 0;
    }
    return 0;
  }

  static int write(BIO* bio, const char* from, std::size_t size, std::size_t* put) {
    TlsStream& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    *put = 0;
    const iovec piece{const_cast<char*>(from), size};
    const IoTry tried = stream.below_->try_write(std::span(&piece, 1));
    switch (tried.status) {
      case IoStatus::Done: *put = tried.bytes; return 1;
      case IoStatus::WouldBlock: BIO_set_retry_write(bio); return 0;
      case IoStatus::Closed:
      case IoStatus::Failed: stream.below_error_ = tried.error; return 0;
    }
    return 0;
  }

  static long control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return static_cast<TlsStream*>(BIO_get_data(bio))->below_closed_ ? 1 : 0;
    return 0;
  }
};

TlsStream::TlsStream(std::unique_ptr<Stream> below, SslPointer ssl, std::shared_ptr<const void> keep) noexcept
    : Stream(below->loop()), below_(std::move(below)), keep_(std::move(keep)), ssl_(std::move(ssl)) {
  BIO* const bio = StreamBio::make(*this);
  SSL_set_bio(ssl_.get(), bio, bio);
  readable_ = below_->maybe_readable();
  put_above(*below_);
  if (below_->hung_up()) became_hung_up();
}

TlsStream::~TlsStream() {
  if ((mood_ == Mood::Open || mood_ == Mood::Ended) && !reset_on_close_) send_close_notify();
  // OpenSSL takes the session of a connection that was not shut down for a bad one, and would not resume it.
  if (mood_ != Mood::Handshaking && mood_ != Mood::Broken) {
    SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
}

Task<std::optional<HandshakeFailure>> TlsStream::handshake(Scope scope) {
  for (;;) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    if (result == 1) {
      mood_ = Mood::Open;
      // The peer's first bytes may have come along with its last message.
      readable_ = below_->maybe_readable() || SSL_has_pending(ssl_.get()) != 0;
      co_return std::nullopt;
    }
    const int error = SSL_get_error(ssl_.get(), result);
    Wake wake = Wake::Ready;
    if (error == SSL_ERROR_WANT_READ) {
      readable_ = false;
      wake = co_await readable(scope);
    } else if (error == SSL_ERROR_WANT_WRITE) {
      writable_ = false;
      wake = co_await writable(scope);
    } else {
      mood_ = Mood::Broken;
      const bool closed = below_closed_ || below_error_ != 0;
      co_return closed ? HandshakeFailure::Closed : HandshakeFailure::Tls;
    }
    if (wake == Wake::Deadline) co_return HandshakeFailure::Deadline;
    if (wake == Wake::Cancelled) co_return HandshakeFailure::Cancelled;
  }
}

void TlsStream::below_became_readable() noexcept {
  // A coroutine woken for writing may destroy this stream; then the reading one is gone too.
  const bool also_writable = std::exchange(write_wants_read_, false);
  if (!also_writable) return became_readable();
  readable_ = true;
  writable_ = true;
  if (read_waiter_ != nullptr) read_waiter_->fire_later(Wake::Ready);
  if (write_waiter_ != nullptr) write_waiter_->fire_later(Wake::Ready);
}

void TlsStream::below_became_writable() noexcept {
  if (close_notify_wanted_) {
    send_close_notify();
    if (!close_notify_wanted_) below_->shutdown_write();
  }
  const bool also_readable = std::exchange(read_wants_write_, false);
  if (!also_readable) return became_writable();
  readable_ = true;
  writable_ = true;
  if (read_waiter_ != nullptr) read_waiter_->fire_later(Wake::Ready);
  if (write_waiter_ != nullptr) write_waiter_->fire_later(Wake::Ready);
}

IoTry TlsStream::outcome(int result, bool reading) noexcept {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      if (reading) {
        readable_ = false;
      } else {
        writable_ = false;
        write_wants_read_ = true;
      }
      return {};
    case SSL_ERROR_WANT_WRITE:
      if (reading) {
        readable_ = false;
        read_wants_write_ = true;
      } else {
        writable_ = false;
      }
      return {};
    case SSL_ERROR_ZERO_RETURN: mood_ = Mood::Ended; return {IoStatus::Closed, 0, 0};
    default:
      // A FIN without close_notify counts as a failure: whoever can cut the line can send one.
      mood_ = Mood::Broken;
      return {IoStatus::Failed, 0, below_error_ != 0 ? below_error_ : EPROTO};
  }
}

IoTry TlsStream::try_read(std::span<char> into) noexcept {
  QQ_ASSERT(!into.empty());
  if (!readable_) return {};
  if (end_.status != IoStatus::WouldBlock) return end_;
  // A record at a time, as many as there are.
  std::size_t total = 0;
  while (total < into.size()) {
    if (total > 0 && !below_->maybe_readable() && SSL_has_pending(ssl_.get()) == 0) {
      readable_ = false;
      break;
    }
    ERR_clear_error();
    std::size_t got = 0;
    const int result = SSL_read_ex(ssl_.get(), into.data() + total, into.size() - total, &got);
    if (result == 1) {
      total += got;
      continue;
    }
    const IoTry stopped = outcome(result, true);
    if (stopped.status != IoStatus::WouldBlock) end_ = stopped;
    if (total == 0) return stopped;
    break;
  }
  return {IoStatus::Done, total, 0};
}

IoTry TlsStream::try_write(std::span<const iovec> pieces) noexcept {
  if (!writable_) return {};
  if (mood_ == Mood::Broken) return {IoStatus::Failed, 0, below_error_ != 0 ? below_error_ : EPROTO};
  std::size_t total = 0;
  std::size_t skipped = 0;  // of the first piece
  while (!pieces.empty()) {
    const iovec& first = pieces.front();
    const std::size_t rest = first.iov_len - skipped;
    if (rest == 0) {
      pieces = pieces.subspan(1);
      skipped = 0;
      continue;
    }
    std::span<const char> record(static_cast<const char*>(first.iov_base) + skipped,
                                 std::min(rest, kRecordBytes));
    if (rest < kRecordBytes && pieces.size() > 1) {
      const std::span<char> buffer = gather_buffer();
      std::size_t filled = 0;
      std::size_t offset = skipped;
      for (const iovec& piece : pieces) {
        const std::size_t size = std::min(piece.iov_len - offset, buffer.size() - filled);
        if (size > 0)
          std::memcpy(buffer.data() + filled, static_cast<const char*>(piece.iov_base) + offset, size);
        filled += size;
        offset = 0;
        if (filled == buffer.size()) break;
      }
      record = buffer.first(filled);
    }
    ERR_clear_error();
    std::size_t put = 0;
    const int result = SSL_write_ex(ssl_.get(), record.data(), record.size(), &put);
    if (result != 1) {
      const IoTry stopped = outcome(result, false);
      return total > 0 ? IoTry{IoStatus::Done, total, 0} : stopped;
    }
    total += put;
    for (std::size_t left = put; left > 0;) {
      const std::size_t size = std::min(left, pieces.front().iov_len - skipped);
      left -= size;
      skipped += size;
      if (skipped == pieces.front().iov_len) {
        pieces = pieces.subspan(1);
        skipped = 0;
      }
    }
  }
  return {IoStatus::Done, total, 0};
}

void TlsStream::send_close_notify() noexcept {
  ERR_clear_error();
  const int result = SSL_shutdown(ssl_.get());
  close_notify_wanted_ = result < 0 && SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_WRITE;
}

bool TlsStream::settle() noexcept {
  if (below_->settle()) return true;
  writable_ = false;  // until the lower stream says so
  return false;
}

void TlsStream::shutdown_write() noexcept {
  if (mood_ == Mood::Open || mood_ == Mood::Ended) send_close_notify();
  if (!close_notify_wanted_) below_->shutdown_write();
}

void TlsStream::set_reset_on_close() noexcept {
  reset_on_close_ = true;
  below_->set_reset_on_close();
}

}  // namespace qq::net
