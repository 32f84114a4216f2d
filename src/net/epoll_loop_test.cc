#include "net/epoll_loop.h"

#include <dirent.h>
#include <sys/resource.h>

#include <thread>

#include "net/tcp_stream.h"
#include "net/test_support.h"

namespace qq::net {
namespace {

using namespace std::chrono_literals;
using namespace testing;

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST(EpollLoop, PostsFromFourThreadsAllRun) {
  EpollLoop loop;
  constexpr int kEach = 5'000;
  int ran = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        loop.post([&] {
          if (++ran == 4 * kEach) loop.stop();
        });
      }
    });
  }
  loop.run();
  EXPECT_EQ(ran, 4 * kEach);
}

TEST(EpollLoop, StopFromAnotherThreadEndsAnIdleLoop) {
  EpollLoop loop;
  const std::jthread stopper([&] { loop.stop(); });
  loop.run();
}

TEST(EpollLoop, WhatWasPostedButNotRunIsDestroyedWhenTheLoopStops) {
  EpollLoop loop;
  auto witness = std::make_shared<int>(0);
  loop.post([&loop, witness] {
    loop.stop();
    loop.post([witness] { ++*witness; });
  });
  loop.run();
  EXPECT_EQ(witness.use_count(), 1);
}

Task<void> block_the_loop(EpollLoop& loop) {
  co_await Bounce{loop};
  const auto until = loop.precise_now() + 3ms;
  while (loop.precise_now() < until) {
  }
  co_await Bounce{loop};
}
TEST(EpollLoop, ReportsTheLongestBatchOnce) {
  EpollLoop loop;
  run_task(loop, block_the_loop(loop));
  EXPECT_GE(loop.take_worst_batch(), 3ms);
  EXPECT_EQ(loop.take_worst_batch(), 0ns);
}

Task<void> leave_nothing_open(EpollLoop& loop) {
  const std::size_t before = open_descriptors();
  {
    std::vector<StreamPair> pairs;
    for (int i = 0; i < 100; ++i) pairs.push_back(co_await connected_pair(loop));
  }
  EXPECT_EQ(open_descriptors(), before);
}
TEST(EpollLoop, DestroyedStreamsAndListenersLeaveNoDescriptor) {
  EpollLoop loop;
  run_task(loop, leave_nothing_open(loop));
}

class LowDescriptorLimit {
 public:
  explicit LowDescriptorLimit(rlim_t limit) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit low{.rlim_cur = limit, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
  }
  LowDescriptorLimit(const LowDescriptorLimit&) = delete;
  LowDescriptorLimit& operator=(const LowDescriptorLimit&) = delete;
  ~LowDescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

Task<void> out_of_descriptors(EpollLoop& loop) {
  std::vector<std::unique_ptr<Stream>> accepted;
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  options.out_of_descriptors_reply = "HTTP/1.1 503 Service Unavailable\r\n\r\n";
  auto listener =
      loop.listen(options, [&](AcceptedSocket socket) { accepted.push_back(loop.adopt(std::move(socket))); });
  const Address address = listener.value()->local();

  // Fills the table up to one descriptor, which the client takes: the server's side finds none.
  std::vector<int> fillers;
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fillers.push_back(fd);
  ::close(fillers.back());
  fillers.pop_back();
  auto client = co_await loop.connect(address, patiently(loop));
  EXPECT_TRUE(client.has_value());
  if (client) {
    const Got got = co_await read_to_end(**client, patiently(loop));
    EXPECT_EQ(got.bytes, options.out_of_descriptors_reply);
    EXPECT_EQ(got.status, IoStatus::Closed);
  }
  EXPECT_TRUE(accepted.empty());

  const auto hopeless = co_await loop.connect(address, patiently(loop));
  client->reset();
  for (const int fd : fillers) ::close(fd);
  auto later = co_await loop.connect(address, patiently(loop));
  EXPECT_TRUE(later.has_value());
  co_await write_all(*later.value(), "x", patiently(loop));
  while (accepted.empty()) co_await Bounce{loop};
  EXPECT_EQ(accepted.size(), 1U) << "the listener serves again as soon as there are descriptors";
}
TEST(EpollLoop, WithoutDescriptorsAConnectionGetsTheReplyAndIsClosed) {
  EpollLoop loop;
  const LowDescriptorLimit limit(open_descriptors() + 40);
  run_task(loop, out_of_descriptors(loop));
}

Task<void> descriptors_given_back(EpollLoop& loop) {
  std::vector<std::unique_ptr<Stream>> accepted;
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  auto listener =
      loop.listen(options, [&](AcceptedSocket socket) { accepted.push_back(loop.adopt(std::move(socket))); });
  std::vector<int> fillers;
  int asked = 0;
  loop.when_short_of_descriptors([&] {
    ++asked;
    ::close(fillers.back());
    fillers.pop_back();
    return true;
  });
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fillers.push_back(fd);
  ::close(fillers.back());  // for the client
  fillers.pop_back();
  auto client = co_await loop.connect(listener.value()->local(), patiently(loop));
  EXPECT_TRUE(client.has_value());
  while (accepted.empty() && asked < 3) co_await Bounce{loop};
  EXPECT_EQ(accepted.size(), 1U);
  EXPECT_EQ(asked, 1);
  for (const int fd : fillers) ::close(fd);
  loop.when_short_of_descriptors({});
}
TEST(EpollLoop, WhoCanDoWithoutADescriptorIsAskedBeforeAConnectionIsRefused) {
  EpollLoop loop;
  const LowDescriptorLimit limit(open_descriptors() + 40);
  run_task(loop, descriptors_given_back(loop));
}

Task<void> connect_without_descriptors(EpollLoop& loop) {
  std::vector<int> fillers;
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fillers.push_back(fd);
  const auto stream = co_await loop.connect(Address::parse("127.0.0.1:1").value(), patiently(loop));
  for (const int fd : fillers) ::close(fd);
  EXPECT_FALSE(stream.has_value());
  if (!stream) {
    EXPECT_EQ(stream.error().kind, ErrorKind::Saturated);
    EXPECT_EQ(stream.error().origin, ErrorOrigin::Gateway) << "no evidence against the provider";
  }
}
TEST(EpollLoop, ConnectWithoutDescriptorsIsOurOwnFault) {
  EpollLoop loop;
  const LowDescriptorLimit limit(open_descriptors() + 10);
  run_task(loop, connect_without_descriptors(loop));
}

// Connections to one listener that two loops share.
struct SharedServer {
  std::atomic<int> accepted = 0;
  EpollLoop first;
  EpollLoop second;
};
Task<void> connect_many(EpollLoop& loop, Address address, SharedServer& server, int count) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < count; ++i) {
    auto stream = co_await loop.connect(address, patiently(loop));
    EXPECT_TRUE(stream.has_value());
    streams.push_back(std::move(stream).value());
  }
  while (server.accepted.load() < count) co_await Bounce{loop};
}
TEST(EpollLoop, TwoLoopsShareAListenerAndEveryConnectionIsAcceptedOnce) {
  SharedServer server;
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  auto first = server.first.listen(options, [&](AcceptedSocket) { ++server.accepted; });
  auto second = server.second.share(**first, [&](AcceptedSocket) { ++server.accepted; });
  EXPECT_EQ((*second)->local(), (*first)->local());
  {
    const std::jthread a([&] { server.first.run(); });
    const std::jthread b([&] { server.second.run(); });
    EpollLoop client;
    run_task(client, connect_many(client, (*first)->local(), server, 200));
    server.first.stop();
    server.second.stop();
  }
  EXPECT_EQ(server.accepted.load(), 200);
}

Task<void> serve_on(EpollLoop& loop, std::unique_ptr<Stream> stream) {
  const Got got = co_await read_until(*stream, 4, patiently(loop));
  co_await write_all(*stream, got.bytes, patiently(loop));
}
Task<void> ask(EpollLoop& loop, Address address) {
  auto stream = co_await loop.connect(address, patiently(loop));
  co_await write_all(**stream, "ping", patiently(loop));
  const Got got = co_await read_to_end(**stream, patiently(loop));
  EXPECT_EQ(got.bytes, "ping");
}
TEST(EpollLoop, AnAcceptedSocketMovesToAnotherLoop) {
  EpollLoop acceptor;
  EpollLoop worker;
  TaskGroup serving;
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  auto listener = acceptor.listen(options, [&](AcceptedSocket socket) {
    worker.post([&, socket = std::move(socket)]() mutable {
      serving.spawn(serve_on(worker, worker.adopt(std::move(socket))));
    });
  });
  std::jthread thread([&] { worker.run(); });
  run_task(acceptor, ask(acceptor, (*listener)->local()));
  worker.stop();
  thread.join();
}

TEST(EpollLoop, AnIdleStreamIsSmall) {
  EXPECT_LE(sizeof(TcpStream), 160U);
}

TEST(EpollLoop, ListeningTwiceOnOnePortIsAConfigurationError) {
  EpollLoop loop;
  ListenOptions options;
  options.address = Address::parse("127.0.0.1:0").value();
  const auto first = loop.listen(options, [](AcceptedSocket) {});
  options.address = (*first)->local();
  const auto second = loop.listen(options, [](AcceptedSocket) {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, ErrorKind::Config);
  EXPECT_NE(second.error().message.find(options.address.text()), std::string::npos);
}

}  // namespace
}  // namespace qq::net
