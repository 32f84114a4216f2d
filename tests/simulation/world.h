// The whole gateway on one simulated loop: downstream server, relay, upstream client and simulated providers,
// with virtual time and a network in memory. Everything is deterministic; a seed makes another run.
//
//   World world;                                     // providers "p0", "p1", "p2" behind the standard routes
//   world.provider(0).misbehave("fault=503");        // directives as in docs/sim-provider.md
//   const Exchange heard = world.ask(chat("backed").streamed());
//   EXPECT_EQ(heard.reply.status, 200);
//   world.expect_rest();                             // pools, tasks, gauges are where they started
//
// Standard routes: `alone` (p0), `spare` (p1), `backed` (p0, then p1), `chain` (p0, p1, p2), and `sim-gpt`
// (p0), which has the provider's own name for the model, so that nothing is renamed.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "downstream/server.h"
#include "fakes/client.h"
#include "fakes/recording_observer.h"
#include "net/simulated_loop.h"
#include "resilience/target_health.h"
#include "simulator/provider/provider_simulator.h"
#include "storage/open_holdings.h"
#include "storage/open_responses.h"
#include "upstream/http_client.h"
#include "upstream/polling_client.h"
#include "upstream/request_authorizer.h"

namespace qq::simulation {

using fakes::Client;
using fakes::HttpReply;
using fakes::KeptRecord;
using namespace std::chrono_literals;

// The header line of the key that every world knows, unless its configuration has keys of its own.
inline constexpr std::string_view kKeyLine = "authorization: Bearer sk-of-the-tests\r\n";

// And of another owner's.
inline constexpr std::string_view kOtherKeyLine = "authorization: Bearer sk-of-other-tests\r\n";

// What a test asks, as text.
struct Ask {
  std::string path = "/v1/chat/completions";
  std::string body;
  std::string header_lines{kKeyLine};
  bool stream = false;

  [[nodiscard]] Ask streamed() const;
  [[nodiscard]] Ask with_header(std::string_view name, std::string_view value) const;
  [[nodiscard]] std::string bytes() const;
};
Ask chat(std::string_view model,
         std::string_view prompt = "Tell me something long about rivers and bridges.");
Ask responses(std::string_view model,
              std::string_view prompt = "Tell me something long about rivers and bridges.");

// What came of it.
struct Exchange {
  HttpReply reply;
  std::string raw;
  std::string framing_error;  // a strict reader's complaint
  bool closed = false;        // by the gateway
  bool reset = false;
  Milliseconds took{0};
  std::optional<KeptRecord> record;

  [[nodiscard]] std::span<const model::Attempt> attempts() const {
    return record ? std::span<const model::Attempt>(record->attempts) : std::span<const model::Attempt>();
  }
  // "connect_failed,success": outcomes or error kinds in order.
  [[nodiscard]] std::string story() const;
  [[nodiscard]] int reached() const;
};
std::string story_of(std::span<const model::Attempt> attempts);

struct WorldSetup {
  int providers = 3;
  std::string more_listeners;  // ", {address: …}", behind the first one
  std::string timers;          // lines of the `timers` map, "{connect: 1s}"; empty: the defaults
  std::string limits;
  std::string routes;  // more entries of `routes`, each line "  - {…}\n"
  std::string more;    // more top-level text
  std::string accounts = "[{name: main, credential: sk-upstream}]";
  std::string base_host = "127.0.0.1";  // of p0's base_url
  std::string of_providers;             // more members of each provider: ", drain_for_usage: true"
  std::string of_models;                // and of each model
  std::string config;                   // the whole configuration instead
  bool keyless = false;                 // no key at all, not even the one of kKeyLine
  std::uint64_t seed = 1;
  simulator::SimulatorOptions simulator{};               // of p0
  relay::ResponseStorage responses{};                    // in memory, or none
  relay::HoldingStorage holdings{};                      // the same
  std::shared_ptr<relay::HoldingStore> holding_store{};  // instead of that
  std::shared_ptr<net::TlsClientContext> tls{};
  std::shared_ptr<net::TlsServerContext> listener_tls{};
  int servers = 1;  // which share the listener, as the loops of a process do; here all on the one loop
};

// One simulated provider.
class Provider {
 public:
  Provider(net::SimulatedLoop& loop, std::string address, simulator::SimulatorOptions options);
  [[nodiscard]] simulator::ProviderSimulator& simulator() noexcept { return *simulator_; }
  [[nodiscard]] const net::Address& address() const noexcept { return address_; }
  // For all requests from now on: "fault=429; retry_after=1".
  void misbehave(std::string_view directives);
  void scenario(std::string_view json);
  void behave() { simulator_->set_scenario({}); }
  [[nodiscard]] const simulator::Statistics& seen() noexcept { return simulator_->statistics(); }

 private:
  net::Address address_;
  std::unique_ptr<simulator::ProviderSimulator> simulator_;
};

class World {
 public:
  explicit World(WorldSetup setup = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] net::SimulatedLoop& loop() noexcept { return loop_; }
  [[nodiscard]] Provider& provider(std::size_t n) { return *providers_.at(n); }
  [[nodiscard]] relay::LoopCounters& counters() noexcept { return counters_; }
  [[nodiscard]] relay::ProcessState& process() noexcept { return process_; }
  [[nodiscard]] const relay::Snapshot& snapshot() const noexcept { return *snapshot_; }
  [[nodiscard]] upstream::HttpUpstreamClient& upstream() noexcept { return *upstream_; }
  [[nodiscard]] fakes::RecordingObserver& observer() noexcept { return observer_; }
  [[nodiscard]] const std::vector<KeptRecord>& records() const noexcept { return observer_.records; }
  [[nodiscard]] const net::Address& gateway() const noexcept { return addresses_.front(); }
  [[nodiscard]] TaskGroup& tasks() noexcept { return tasks_; }
  // Of the account's only target at that provider.
  [[nodiscard]] resilience::TargetHealth& health(std::size_t provider);

  // Asks on a new connection and runs the loop until the client has its reply or was closed upon.
  Exchange ask(const Ask& ask) { return say(ask.bytes()); }
  Exchange say(std::string bytes, std::size_t replies = 1);
  // A client of one's own; the world keeps it.
  Client& client(std::size_t listener = 0);
  // One that has asked already, and several.
  Client& start(const Ask& ask);
  std::vector<Client*> start_many(int count, const Ask& ask);
  // Clients take so many bytes at a time.
  void narrow(std::size_t window);
  // Runs until that client's exchange is over.
  void run_until_end(Client& client);
  Exchange result_of(Client& client);
  void run_for(std::chrono::nanoseconds time) { loop_.run_for(time); }

  // That everything is back where it started: nothing in flight, no task, no held body; only idle pooled
  // connections may be left, and after they were dropped no socket at all.
  void expect_rest();
  // The same configuration anew, as a reload publishes it; what is left of the one before.
  std::weak_ptr<const relay::Snapshot> reload();
  void start_drain(Milliseconds drain_time);
  void cut_drain_short();
  [[nodiscard]] bool drained() const noexcept { return drained_ == servers_.size(); }
  [[nodiscard]] std::size_t servers_drained() const noexcept { return drained_; }

 private:
  static Task<void> drain(World& world, downstream::Server& server, Milliseconds drain_time);
  static Task<void> shut_down(World& world);

  net::SimulatedLoop loop_;
  std::vector<std::unique_ptr<Provider>> providers_;
  resilience::HealthRegistry healths_;
  std::unique_ptr<const config::Config> config_;
  std::shared_ptr<const relay::Snapshot> snapshot_;
  relay::LoopCounters counters_;
  relay::ProcessState process_;
  fakes::RecordingObserver observer_;
  std::unique_ptr<upstream::HttpUpstreamClient> upstream_;
  std::unique_ptr<upstream::RequestAuthorizer> authorizer_;
  std::unique_ptr<upstream::PollingClient> polling_;
  std::unique_ptr<relay::ResponseStore> responses_;
  std::shared_ptr<relay::HoldingStore> holdings_;
  std::optional<relay::LoopServices> services_;
  downstream::Server::Shared shared_;
  std::vector<std::unique_ptr<downstream::Server>> servers_;
  std::vector<net::Address> addresses_;  // of the listeners
  std::deque<std::unique_ptr<Client>> clients_;
  std::size_t records_given_ = 0;
  TaskGroup tasks_;
  bool draining_ = false;
  std::size_t drained_ = 0;
};

// The text of the message of a whole chat or responses answer, or of all deltas of a stream.
std::string text_in(const HttpReply& reply);
// `error.code` (or the flat `code` of responses' error event) of a JSON error body.
std::string error_code_in(std::string_view json);

}  // namespace qq::simulation
