#include "relay/usage_drain.h"

#include "net/simulated_loop.h"

namespace qq::relay {
namespace {

using namespace std::chrono_literals;

class NoUpstream final : public UpstreamClient {
 public:
  Task<Result<std::unique_ptr<UpstreamReply>>> send(const UpstreamCall& /*call*/, const Timers& /*timers*/,
                                                    net::Scope /*scope*/) override {
    co_return fail(Error::gateway(ErrorKind::NoTarget, ""));
  }
};
class NoObserver final : public RequestObserver {
 public:
  void request_ended(const RequestRecord& /*record*/) noexcept override {}
};

// One that has left.
class GoneClient final : public ClientPort {
 public:
  explicit GoneClient(net::EventLoop& loop) : gone_(loop) { gone_.cancel(ErrorKind::ClientGone); }
  net::Cancellation& gone() noexcept override { return gone_; }
  Taken reply(int /*status*/, std::string_view /*lines*/,
              std::span<const std::string_view> /*body*/) override {
    return Taken::Gone;
  }
  void begin(int /*status*/, std::string /*lines*/) override {}
  Taken write(std::span<const std::string_view> /*pieces*/, Last /*last*/) override { return Taken::Gone; }
  void abort() noexcept override {}
  Task<Result<>> flush(net::Scope /*scope*/) override {
    co_return fail(Error::client(ErrorKind::ClientGone, ""));
  }
  bool pending() const noexcept override { return false; }
  bool begun() const noexcept override { return false; }
  int status() const noexcept override { return 0; }
  bool complete() const noexcept override { return false; }
  std::uint64_t bytes_written() const noexcept override { return 0; }
  std::chrono::nanoseconds client_wait() const noexcept override { return {}; }

 private:
  net::Cancellation gone_;
};

// Always has more.
class EndlessReply final : public UpstreamReply {
 public:
  explicit EndlessReply(net::SimulatedLoop& loop) : stream_(loop.make_pair().first) {}
  const wire::ResponseHead& head() const noexcept override { return head_; }
  int status() const noexcept override { return 200; }
  Piece try_read() noexcept override {
    ++reads;
    Piece piece;
    piece.kind = Piece::Kind::Bytes;
    piece.bytes = "more";
    return piece;
  }
  void keep() override {}
  net::Stream::ReadyAwaiter readable(net::Scope scope) noexcept override { return stream_->readable(scope); }

  int reads = 0;

 private:
  wire::ResponseHead head_;
  std::unique_ptr<net::Stream> stream_;
};

class NeverEnough final : public UsageReader {
 public:
  explicit NeverEnough(const EndlessReply& reply) : reply_(reply) {}
  // So that the test ends also where nothing else ends it.
  bool read_usage(const UpstreamReply::Piece& /*piece*/) override { return reply_.reads < 10'000; }

 private:
  const EndlessReply& reply_;
};

TEST(UsageDrain, LeavesTheLoopToOthersWhileThereIsAlwaysMore) {
  net::SimulatedLoop loop;
  NoUpstream upstream;
  NoObserver observer;
  LoopCounters counters;
  ProcessState process;
  const auto snapshot = std::make_shared<const Snapshot>();
  LoopServices services{loop, upstream, observer, counters, process, snapshot, Random(1)};
  GoneClient client(loop);
  IncomingRequest incoming;
  incoming.snapshot = snapshot;
  {
    RequestState state(services, client, incoming);
    EndlessReply reply(loop);
    NeverEnough reader(reply);
    // Another's turn, in which the process comes to its end.
    loop.post([&] { services.requests_until = loop.now(); });
    TaskGroup tasks;
    tasks.spawn(drain_for_usage(state, reply, reader));
    loop.run();
    EXPECT_EQ(tasks.running(), 0U);
    EXPECT_LT(reply.reads, 100);
  }
}

}  // namespace
}  // namespace qq::relay
