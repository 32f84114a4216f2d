#include "fakes/client.h"

namespace qq::fakes {

void Client::say(std::string_view bytes) {
  QQ_ASSERT(stream_ != nullptr);
  const iovec piece = net::as_iovec(bytes);
  const net::IoTry wrote = stream_->try_write({&piece, 1});
  QQ_ASSERT(wrote.status == net::IoStatus::Failed || wrote.bytes == bytes.size());
}

void Client::leave(Leave how) noexcept {
  if (how == Leave::Fin && stream_ != nullptr) {
    stream_->shutdown_write();
    return;
  }
  leaving_ = how;
  cancel_.cancel(ErrorKind::Cancelled);
}

std::optional<Milliseconds> Client::time_of(std::string_view text, std::size_t n) const {
  std::size_t at = raw_.find(text);
  for (; n > 0 && at != std::string::npos; --n) at = raw_.find(text, at + 1);
  if (at == std::string::npos) return std::nullopt;
  for (const Arrival& arrival : arrivals_) {
    if (arrival.upto >= at + text.size())
      return std::chrono::duration_cast<Milliseconds>(arrival.at - started_);
  }
  return std::nullopt;
}

Task<bool> Client::write_all(Client& client, std::string_view bytes) {
  const net::Scope scope{kNever, &client.cancel_};
  while (!bytes.empty()) {
    const iovec piece = net::as_iovec(bytes);
    const net::IoTry wrote = client.stream_->try_write({&piece, 1});
    if (wrote.status == net::IoStatus::Done) {
      bytes.remove_prefix(wrote.bytes);
      continue;
    }
    if (wrote.status != net::IoStatus::WouldBlock) co_return false;
    // A gateway that answers before it has read everything wants to be heard.
    if (client.stream_->maybe_readable() && !client.writes_all_first_) co_return false;
    const net::Scope look = scope.until(client.loop_.now() + Milliseconds(100));
    const net::Wake wake = co_await client.stream_->writable(look);
    if (wake == net::Wake::Cancelled) co_return false;
  }
  co_return true;
}

Task<void> Client::read(std::size_t replies) {
  const net::Scope scope{kNever, &cancel_};
  while (replies == 0 || reader_.complete_replies() < replies) {
    if (!reading_) {
      const net::Wake wake = co_await reading_again_.wait(scope);
      if (wake != net::Wake::Ready) co_return;
      continue;
    }
    std::span<char> into = loop_.scratch();
    if (read_most_ != 0) {
      const net::Scope pause = scope.until(loop_.now() + pause_);
      const net::Wake wake = co_await net::sleep(loop_, pause);
      if (wake == net::Wake::Cancelled) co_return;
      into = loop_.scratch().first(read_most_);
    }
    const net::IoTry got = stream_->try_read(into);
    if (got.status == net::IoStatus::Done) {
      const std::string_view bytes(loop_.scratch().data(), got.bytes);
      raw_.append(bytes);
      arrivals_.push_back({loop_.now(), raw_.size()});
      reader_.feed(bytes);
      continue;
    }
    if (got.status == net::IoStatus::Closed || got.status == net::IoStatus::Failed) {
      (got.status == net::IoStatus::Closed ? closed_ : reset_) = true;
      reader_.finish();
      co_return;
    }
    const net::Wake wake = co_await stream_->readable(scope);
    if (wake == net::Wake::Cancelled) co_return;
  }
}

Task<void> Client::converse(Client& client, std::string bytes, std::size_t replies, bool stay) {
  client.started_ = client.loop_.now();
  const net::Scope scope{kNever, &client.cancel_};
  auto connected = co_await client.loop_.connect(client.gateway_, scope);
  if (connected) {
    client.stream_ = *std::move(connected);
    static_cast<void>(co_await write_all(client, bytes));
    co_await client.read(replies);
    client.ended_ = client.loop_.now();
    if (stay && !client.closed_ && !client.reset_ && !client.leaving_) {
      if (client.on_end_) client.on_end_();
      co_await client.read(0);
    }
    if (client.leaving_ == Leave::Reset) client.stream_->set_reset_on_close();
    client.stream_.reset();
  } else {
    client.reset_ = true;
    client.ended_ = client.loop_.now();
  }
  if (client.on_end_) client.on_end_();
}

}  // namespace qq::fakes
