#include "net/simulated_stream.h"

#include <cerrno>

namespace qq::net {

SimulatedPipe::SimulatedPipe(SimulatedLoop& /*loop*/, const SimulatedDirection& direction) noexcept
    : direction_(direction), random_(direction.split.seed_) {}

std::size_t SimulatedPipe::room(std::size_t offered) const noexcept {
  if (cut_) return offered;
  const std::size_t free = direction_.window > unread_ ? direction_.window - unread_ : 0;
  const std::size_t limit = direction_.write_limit != 0 ? direction_.write_limit : offered;
  return std::min({offered, free, limit});
}

std::size_t SimulatedPipe::to_next_border() noexcept {
  const Split& split = direction_.split;
  switch (split.mode_) {
    case Split::Mode::Whole: break;
    case Split::Mode::Each: return split.bytes_ - position_ % split.bytes_;
    case Split::Mode::At: return position_ < split.bytes_ ? split.bytes_ - position_ : std::string::npos;
    case Split::Mode::Random:
      if (border_ <= position_) border_ = position_ + 1 + random_.below(split.bytes_);
      return border_ - position_;
  }
  return std::string::npos;
}

bool SimulatedPipe::put(std::string_view bytes, MonotonicTime now) {
  if (cut_) return false;
  bool cuts = false;
  if (direction_.cut && position_ + bytes.size() >= direction_.cut->after_bytes) {
    bytes = bytes.substr(0, direction_.cut->after_bytes - position_);
    cuts = true;
  }
  while (!bytes.empty()) {
    const std::size_t border = to_next_border();
    const std::size_t size = std::min(border, bytes.size());
    pieces_.push_back({std::string(bytes.substr(0, size)), 0, now + direction_.latency, size == border});
    position_ += size;
    unread_ += size;
    bytes.remove_prefix(size);
  }
  if (cuts) cut_ = true;
  return cuts;
}

void SimulatedPipe::end(MonotonicTime now) noexcept {
  if (ends_ == kNever) ends_ = now + direction_.latency;
}

bool SimulatedPipe::has_arrived(MonotonicTime now) const noexcept {
  return !pieces_.empty() && pieces_.front().arrives <= now;
}

SimulatedPipe::Taken SimulatedPipe::take(std::span<char> into, MonotonicTime now) noexcept {
  Taken taken;
  while (taken.bytes < into.size() && has_arrived(now)) {
    Piece& piece = pieces_.front();
    const std::size_t size =
        piece.bytes.copy(into.data() + taken.bytes, into.size() - taken.bytes, piece.taken);
    piece.taken += size;
    taken.bytes += size;
    if (piece.taken < piece.bytes.size()) break;
    taken.arrival_ended = piece.ends_arrival;
    pieces_.pop_front();
    if (taken.arrival_ended) break;
  }
  unread_ -= taken.bytes;
  return taken;
}

std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> SimulatedStream::make_pair(
    SimulatedLoop& loop, const SimulatedNetwork& network, Address client, Address server) {
  const auto connection = std::make_shared<SimulatedConnection>(loop, network);
  auto connecting = std::make_unique<SimulatedStream>(loop, connection, 0, server);
  auto accepting = std::make_unique<SimulatedStream>(loop, connection, 1, client);
  return {std::move(connecting), std::move(accepting)};
}

SimulatedStream::SimulatedStream(SimulatedLoop& loop, std::shared_ptr<SimulatedConnection> connection,
                                 std::size_t end, Address peer) noexcept
    : Stream(loop), connection_(std::move(connection)), end_(end), peer_(peer) {
  connection_->ends[end_] = this;
  ++loop.open_streams_;
}

SimulatedStream::~SimulatedStream() {
  --simulation().open_streams_;
  connection_->ends[end_] = nullptr;
  if (error_ != 0) return;
  if (reset_on_close_ || incoming().unread() > 0) {
    send_reset();
  } else {
    send_fin();
  }
}

void SimulatedStream::tell(std::size_t end, std::chrono::nanoseconds delay,
                           void (SimulatedStream::*member)() noexcept) {
  simulation().after(delay, [connection = connection_, end, member] {
    if (SimulatedStream* const stream = connection->ends[end]) (stream->*member)();
  });
}

void SimulatedStream::send_fin() noexcept {
  if (outgoing().fin_sent()) return;
  // Behind a cut nothing passes; only a cut of the kind Fin has ended the direction, and that is done.
  if (outgoing().swallows()) return;
  outgoing().end(simulation().now());
  tell(1 - end_, outgoing().direction().latency, &SimulatedStream::fin_arrived);
}

void SimulatedStream::send_reset() noexcept {
  if (outgoing().swallows() && outgoing().direction().cut->kind == CutKind::Stall) return;
  tell(1 - end_, outgoing().direction().latency, &SimulatedStream::reset_arrived);
}

void SimulatedStream::arrived() noexcept {
  became_readable();
}

void SimulatedStream::fin_arrived() noexcept {
  if (!hung_up_) became_hung_up();
  became_readable();
}

void SimulatedStream::reset_arrived() noexcept {
  if (error_ != 0) return;
  error_ = ECONNRESET;
  if (!hung_up_) became_hung_up();
  const std::shared_ptr<SimulatedConnection> connection = connection_;
  const std::size_t end = end_;
  became_writable();
  if (connection->ends[end] == this) became_readable();
}

void SimulatedStream::room_again() noexcept {
  if (error_ != 0 || outgoing().room(1) > 0) became_writable();
}

IoTry SimulatedStream::broken(int error) noexcept {
  if (error_ == 0) {
    error_ = error;
    send_reset();
    if (!hung_up_) became_hung_up();
    readable_ = writable_ = true;
  }
  return {IoStatus::Failed, 0, error_};
}

IoTry SimulatedStream::try_read(std::span<char> into) noexcept {
  QQ_ASSERT(!into.empty());
  if (!readable_) return {};
  if (simulation().io_call_fails()) return broken(simulation().failing_error_);
  const MonotonicTime now = simulation().now();
  SimulatedPipe& pipe = incoming();
  const SimulatedPipe::Taken taken = pipe.take(into, now);
  if (taken.bytes > 0) {
    if (pipe.unread() <= pipe.direction().window / 2) tell(1 - end_, {}, &SimulatedStream::room_again);
    if (taken.arrival_ended) {
      readable_ = false;
      if (pipe.has_arrived(now) || hung_up_) tell(end_, {}, &SimulatedStream::arrived);
    } else if (taken.bytes < into.size() && !hung_up_) {
      readable_ = false;
    }
    return {IoStatus::Done, taken.bytes, 0};
  }
  if (error_ != 0) return {IoStatus::Failed, 0, error_};
  if (pipe.ended(now)) return {IoStatus::Closed, 0, 0};
  readable_ = false;
  return {};
}

IoTry SimulatedStream::try_write(std::span<const iovec> pieces) noexcept {
  if (!writable_) return {};
  if (simulation().io_call_fails()) return broken(simulation().failing_error_);
  if (error_ != 0) return {IoStatus::Failed, 0, error_};
  if (outgoing().fin_sent() && !outgoing().swallows()) return broken(EPIPE);
  std::string bytes;
  for (const iovec& piece : pieces) bytes.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  SimulatedPipe& pipe = outgoing();
  const std::size_t size = pipe.room(bytes.size());
  if (size < bytes.size()) {
    writable_ = false;
    if (pipe.room(1) > 0) tell(end_, {}, &SimulatedStream::room_again);
    if (size == 0) return {};
  }
  const auto latency = pipe.direction().latency;
  const bool swallowed = pipe.swallows();
  const bool cuts = pipe.put(std::string_view(bytes).substr(0, size), simulation().now());
  if (!swallowed) {
    if (connection_->ends[1 - end_] != nullptr) {
      tell(1 - end_, latency, &SimulatedStream::arrived);
    } else {
      // Nobody is there any more: the answer to bytes is a reset.
      tell(end_, latency + incoming().direction().latency, &SimulatedStream::reset_arrived);
    }
  }
  if (cuts) {
    switch (pipe.direction().cut->kind) {
      case CutKind::Fin:
        pipe.end(simulation().now());
        tell(1 - end_, latency, &SimulatedStream::fin_arrived);
        break;
      case CutKind::Reset:
        tell(1 - end_, latency, &SimulatedStream::reset_arrived);
        tell(end_, latency, &SimulatedStream::reset_arrived);
        break;
      case CutKind::Stall: break;
    }
  }
  return {IoStatus::Done, size, 0};
}

void SimulatedStream::shutdown_write() noexcept {
  if (error_ == 0) send_fin();
}

SimulatedListener::SimulatedListener(SimulatedLoop& loop, std::shared_ptr<Group> group,
                                     EventLoop::Accepted accepted)
    : loop_(loop), group_(std::move(group)), accepted_(std::move(accepted)) {
  group_->members.push_back(this);
  loop_.listeners_.push_back(this);
}

SimulatedListener::~SimulatedListener() {
  std::erase(group_->members, this);
  std::erase(loop_.listeners_, this);
}

}  // namespace qq::net
