// One end of a connection of the SimulatedLoop. For the files of net/ only.
#pragma once
#include <deque>

#include "net/simulated_loop.h"

namespace qq::net {

// One direction: what was written and not yet read.
class SimulatedPipe {
 public:
  SimulatedPipe(SimulatedLoop& loop, const SimulatedDirection& direction) noexcept;

  // How many bytes a write of `offered` bytes may put in now.
  [[nodiscard]] std::size_t room(std::size_t offered) const noexcept;
  // Returns whether the direction's cut has come.
  bool put(std::string_view bytes, MonotonicTime now);
  void end(MonotonicTime now) noexcept;  // FIN

  struct Taken {
    std::size_t bytes = 0;
    bool arrival_ended = false;  // more may have arrived, but in an arrival of its own
  };
  Taken take(std::span<char> into, MonotonicTime now) noexcept;

  [[nodiscard]] bool has_arrived(MonotonicTime now) const noexcept;
  [[nodiscard]] bool ended(MonotonicTime now) const noexcept { return ends_ <= now && pieces_.empty(); }
  [[nodiscard]] bool fin_arrived(MonotonicTime now) const noexcept { return ends_ <= now; }
  [[nodiscard]] bool fin_sent() const noexcept { return ends_ != kNever; }
  [[nodiscard]] std::size_t unread() const noexcept { return unread_; }
  [[nodiscard]] std::size_t read() const noexcept { return position_ - unread_; }
  [[nodiscard]] bool swallows() const noexcept { return cut_; }
  [[nodiscard]] const SimulatedDirection& direction() const noexcept { return direction_; }

 private:
  struct Piece {
    std::string bytes;
    std::size_t taken = 0;
    MonotonicTime arrives;
    bool ends_arrival = false;
  };
  [[nodiscard]] std::size_t to_next_border() noexcept;

  SimulatedDirection direction_;
  Random random_;
  std::deque<Piece> pieces_;
  std::size_t position_ = 0;  // bytes ever put in
  std::size_t border_ = 0;    // the next one of a random split
  std::size_t unread_ = 0;
  MonotonicTime ends_ = kNever;  // when the FIN arrives
  bool cut_ = false;
};

struct SimulatedConnection {
  SimulatedConnection(SimulatedLoop& loop, const SimulatedNetwork& network) noexcept
      : pipes{SimulatedPipe(loop, network.up), SimulatedPipe(loop, network.down)} {}
  // End 0 connected and writes into pipe 0; end 1 accepted and writes into pipe 1.
  std::array<SimulatedPipe, 2> pipes;
  std::array<SimulatedStream*, 2> ends{};
};

class SimulatedStream final : public Stream {
 public:
  static std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_pair(
      SimulatedLoop& loop, const SimulatedNetwork& network, Address client, Address server);
  SimulatedStream(SimulatedLoop& loop, std::shared_ptr<SimulatedConnection> connection, std::size_t end,
                  Address peer) noexcept;
  ~SimulatedStream() override;

  IoTry try_read(std::span<char> into) noexcept override;
  IoTry try_write(std::span<const iovec> pieces) noexcept override;
  [[nodiscard]] std::uint64_t acknowledged() noexcept override { return outgoing().read(); }
  void shutdown_write() noexcept override;
  void set_reset_on_close() noexcept override { reset_on_close_ = true; }
  [[nodiscard]] Address peer() const override { return peer_; }

 private:
  [[nodiscard]] SimulatedLoop& simulation() const noexcept { return static_cast<SimulatedLoop&>(loop_); }
  [[nodiscard]] SimulatedPipe& incoming() const noexcept { return connection_->pipes[1 - end_]; }
  [[nodiscard]] SimulatedPipe& outgoing() const noexcept { return connection_->pipes[end_]; }
  // Calls `member` of the stream at that end, if it still exists, `delay` from now.
  void tell(std::size_t end, std::chrono::nanoseconds delay, void (SimulatedStream::*member)() noexcept);
  void arrived() noexcept;
  void fin_arrived() noexcept;
  void reset_arrived() noexcept;
  void room_again() noexcept;
  void send_reset() noexcept;
  void send_fin() noexcept;
  IoTry broken(int error) noexcept;

  std::shared_ptr<SimulatedConnection> connection_;
  std::size_t end_;
  Address peer_;
  int error_ = 0;
  bool reset_on_close_ = false;
};

class SimulatedListener final : public Listener {
 public:
  // Shared by the listeners of one address, which take turns.
  struct Group {
    Address local;
    std::vector<SimulatedListener*> members;
    std::size_t turn = 0;
  };
  SimulatedListener(SimulatedLoop& loop, std::shared_ptr<Group> group, EventLoop::Accepted accepted);
  ~SimulatedListener() override;
  [[nodiscard]] Address local() const override { return group_->local; }

 private:
  friend class SimulatedLoop;
  SimulatedLoop& loop_;
  std::shared_ptr<Group> group_;
  EventLoop::Accepted accepted_;
};

}  // namespace qq::net
