#include "simulation/world.h"

#include <fmt/format.h>

#include "admission/key_hash.h"
#include "base/text.h"
#include "config/compile.h"
#include "config/load.h"
#include "wire/json.h"
#include "wire/sse.h"

namespace qq::simulation {
namespace {

constexpr std::string_view kGateway = "127.0.0.1:8080";

std::string provider_address(std::size_t n) {
  return fmt::format("127.0.0.1:{}", 9001 + n);
}

std::string standard_config(const WorldSetup& setup) {
  std::string text = fmt::format("listeners: [{{address: \"{}\", serve: [api, metrics]}}{}]\n", kGateway,
                                 setup.more_listeners);
  if (!setup.timers.empty()) text += "timers: " + setup.timers + "\n";
  if (!setup.limits.empty()) text += "limits: " + setup.limits + "\n";
  text += "providers:\n";
  for (int i = 0; i < setup.providers; ++i) {
    text += fmt::format(
        "  - {{name: p{}, kind: openai_compatible, base_url: \"http://{}:{}/v1\", "
        "allow_private_address: true, accounts: {}{}}}\n",
        i, i == 0 ? setup.base_host : "127.0.0.1", 9001 + i, setup.accounts, setup.of_providers);
  }
  text += "models:\n";
  for (int i = 0; i < setup.providers; ++i) {
    text += fmt::format("  - {{name: m{0}, provider: p{0}, upstream_name: sim-gpt, hidden: true{1}}}\n", i,
                        setup.of_models);
  }
  text +=
      "routes:\n  - {name: alone, candidates: [{model: m0}]}\n  - {name: sim-gpt, candidates: [{model: "
      "m0}]}\n";
  if (setup.providers > 1) {
    text +=
        "  - {name: spare, candidates: [{model: m1}]}\n"
        "  - {name: backed, candidates: [{model: m0}], fallback: [{model: m1}]}\n";
  }
  if (setup.providers > 2) {
    text += "  - {name: chain, candidates: [{model: m0}], fallback: [{model: m1}, {model: m2}]}\n";
  }
  return text + setup.routes + setup.more;
}

config::Environment environment() {
  config::Environment environment;
  environment.variable = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
  environment.file = [](const std::string&) -> std::expected<std::string, std::string> {
    return std::unexpected("is not there");
  };
  return environment;
}

void add_keys(config::Config& config) {
  config.key_pepper = Secret("pepper-of-the-simulated-gateway-0123");
  const auto hasher = admission::KeyHasher::make(config.key_pepper);
  QQ_ASSERT(hasher.has_value());
  const auto add = [&](std::string_view name, std::string_view line) {
    std::string_view key = line.substr(line.rfind(' ') + 1);
    key.remove_suffix(2);
    admission::KeyConfig entry;
    entry.name = name;
    entry.owner = name;
    entry.hash = admission::to_text(hasher->digest(key));
    config.keys.push_back(std::move(entry));
  };
  add("tests", kKeyLine);
  add("others", kOtherKeyLine);
}

std::string quoted(std::string_view text) {
  std::string out;
  wire::append_json_string(out, text);
  return out;
}

Ask asked(std::string path, std::string body) {
  Ask ask;
  ask.path = std::move(path);
  ask.body = std::move(body);
  return ask;
}

}  // namespace

Ask Ask::streamed() const {
  Ask ask = *this;
  ask.stream = true;
  ask.body.insert(ask.body.size() - 1, ",\"stream\":true");
  return ask;
}

Ask Ask::with_header(std::string_view name, std::string_view value) const {
  Ask ask = *this;
  ask.header_lines.append(name).append(": ").append(value).append("\r\n");
  return ask;
}

std::string Ask::bytes() const {
  return fmt::format(
      "POST {} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n{}content-length: {}\r\n\r\n{}",
      path, header_lines, body.size(), body);
}

Ask chat(std::string_view model, std::string_view prompt) {
  return asked("/v1/chat/completions",
               fmt::format(R"({{"model":{},"messages":[{{"role":"user","content":{}}}]}})", quoted(model),
                           quoted(prompt)));
}

Ask responses(std::string_view model, std::string_view prompt) {
  return asked("/v1/responses", fmt::format(R"({{"model":{},"input":{}}})", quoted(model), quoted(prompt)));
}

std::string story_of(std::span<const model::Attempt> attempts) {
  std::string story;
  for (const model::Attempt& attempt : attempts) {
    if (!story.empty()) story += ',';
    const bool failed = attempt.outcome == model::Outcome::Failure && attempt.error;
    story += failed ? to_string(attempt.error->kind) : to_string(attempt.outcome);
  }
  return story;
}

std::string Exchange::story() const {
  return story_of(attempts());
}

int Exchange::reached() const {
  return static_cast<int>(std::ranges::count_if(attempts(), &model::Attempt::reached_provider));
}

Provider::Provider(net::SimulatedLoop& loop, std::string address, simulator::SimulatorOptions options)
    : address_(net::Address::parse(address).value()),
      simulator_(std::make_unique<simulator::ProviderSimulator>(loop, std::move(options))) {
  const Result<> listening = simulator_->listen(address_);
  QQ_ASSERT(listening.has_value());
}

void Provider::misbehave(std::string_view directives) {
  // A list of faults in one rule: directives of the same name add up.
  std::string faults;
  std::string members;
  while (!directives.empty()) {
    const std::size_t end = std::min(directives.find(';'), directives.size());
    std::string_view part = directives.substr(0, end);
    directives.remove_prefix(std::min(end + 1, directives.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    QQ_ASSERT(equals != std::string_view::npos);
    const std::string_view key = part.substr(0, equals);
    const std::string value = quoted(part.substr(equals + 1));
    if (key == "fault") {
      faults += (faults.empty() ? "" : ",") + value;
    } else {
      members += fmt::format(",\"{}\":{}", key, value);
    }
  }
  scenario(fmt::format(R"({{"rules":[{{"model":"*","do":{{"fault":[{}]{}}}}}]}})", faults, members));
}

void Provider::scenario(std::string_view json) {
  auto parsed = simulator::Scenario::parse(json);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message << " in " << json;
    return;
  }
  simulator_->set_scenario(*std::move(parsed));
}

World::World(WorldSetup setup) {
  const std::string text = setup.config.empty() ? standard_config(setup) : setup.config;
  auto loaded = config::load_text("world.yaml", text, environment());
  if (!loaded) {
    for (const config::Diagnostic& diagnostic : loaded.error()) ADD_FAILURE() << config::to_text(diagnostic);
    std::abort();
  }
  if (loaded->keys.empty() && !setup.keyless) add_keys(*loaded);
  auto compiled = config::compile(*loaded, healths_, 1, loop_.wall_now());
  QQ_ASSERT(compiled.has_value());
  snapshot_ = *std::move(compiled);
  config_ = std::make_unique<const config::Config>(*loaded);
  for (std::size_t i = 0; i < static_cast<std::size_t>(setup.providers); ++i) {
    simulator::SimulatorOptions options;
    if (i == 0) options = std::move(setup.simulator);
    options.requests_kept = 5'000;
    providers_.push_back(std::make_unique<Provider>(loop_, provider_address(i), std::move(options)));
  }
  upstream_ =
      std::make_unique<upstream::HttpUpstreamClient>(loop_, counters_, setup.tls, loaded->outbound_proxy);
  authorizer_ = std::make_unique<upstream::RequestAuthorizer>(loop_, *upstream_);
  responses_ = storage::open_responses(setup.responses, loop_.wall_now()).value();
  holdings_ = std::move(setup.holding_store);
  if (holdings_ == nullptr) holdings_ = storage::open_holdings(setup.holdings, loop_.wall_now()).value();
  polling_ = std::make_unique<upstream::PollingClient>(loop_, *upstream_, *authorizer_);
  services_.emplace(relay::LoopServices{loop_, *polling_, observer_, counters_, process_, snapshot_,
                                        Random(setup.seed), responses_.get(), holdings_.get()});
  services_->authorizer = authorizer_.get();
  for (const downstream::ListenerConfig& listener : loaded->listeners)
    shared_.listeners.push_back({listener, nullptr});
  shared_.listeners.front().tls = std::move(setup.listener_tls);
  shared_.render_metrics = [] { return std::string("# none\n"); };
  shared_.connections_per_loop_max = loaded->limits.connections_max;
  for (int i = 0; i < setup.servers; ++i) {
    servers_.push_back(std::make_unique<downstream::Server>(*services_, shared_));
    const Result<> listens = servers_.back()->listen(i == 0 ? nullptr : servers_.front().get());
    QQ_ASSERT(listens.has_value());
  }
  addresses_ = servers_.front()->local_addresses();
}

World::~World() {
  for (const auto& client : clients_) {
    client->on_end({});
    if (client->running()) client->leave(Client::Leave::Reset);
  }
  if (!draining_) start_drain(Milliseconds(0));
  tasks_.spawn(shut_down(*this));
  loop_.run();
  EXPECT_EQ(tasks_.running(), 0U) << "the world did not come to its end";
  upstream_->close_idle();
  servers_.clear();
  loop_.run();
  EXPECT_EQ(loop_.open_streams(), 0U) << "sockets leaked";
}

resilience::TargetHealth& World::health(std::size_t provider) {
  const std::string prefix = fmt::format("p{}/", provider);
  for (const auto& target : snapshot_->targets) {
    if (target->name.starts_with(prefix)) return *snapshot_->healths[target->index];
  }
  std::abort();
}

std::weak_ptr<const relay::Snapshot> World::reload() {
  auto compiled = config::compile(*config_, healths_, snapshot_->generation + 1, loop_.wall_now());
  QQ_ASSERT(compiled.has_value());
  const std::weak_ptr<const relay::Snapshot> old = snapshot_;
  services_->snapshot = snapshot_ = *std::move(compiled);
  return old;
}

Task<void> World::drain(World& world, downstream::Server& server, Milliseconds drain_time) {
  co_await server.drain(drain_time);
  if (++world.drained_ == world.servers_.size()) world.upstream_->close_idle();
}

Task<void> World::shut_down(World& world) {
  co_await world.polling_->close();
  co_await world.authorizer_->close();
  for (const auto& provider : world.providers_) co_await provider->simulator().shut_down();
}

void World::start_drain(Milliseconds drain_time) {
  draining_ = true;
  process_.draining.store(true);
  for (const auto& server : servers_) tasks_.spawn(drain(*this, *server, drain_time));
}

void World::cut_drain_short() {
  for (const auto& server : servers_) server->cut_drain_short();
}

Client& World::client(std::size_t listener) {
  clients_.push_back(std::make_unique<Client>(loop_, addresses_.at(listener)));
  return *clients_.back();
}

Client& World::start(const Ask& ask) {
  Client& started = client();
  started.start(ask.bytes());
  return started;
}

std::vector<Client*> World::start_many(int count, const Ask& ask) {
  std::vector<Client*> started;
  for (int i = 0; i < count; ++i) started.push_back(&start(ask));
  return started;
}

void World::narrow(std::size_t window) {
  net::SimulatedNetwork network;
  network.down.window = window;
  loop_.set_network(gateway(), network);
}

void World::run_until_end(Client& client) {
  if (!client.running()) return;
  client.on_end([this] { loop_.stop(); });
  loop_.run();
  client.on_end({});
}

Exchange World::result_of(Client& client) {
  Exchange exchange;
  exchange.reply = client.reply();
  exchange.raw = client.raw();
  exchange.framing_error = client.reader().error();
  exchange.closed = client.closed_by_gateway();
  exchange.reset = client.reset_by_gateway();
  exchange.took = std::chrono::duration_cast<Milliseconds>(client.ended() - client.started());
  return exchange;
}

Exchange World::say(std::string bytes, std::size_t replies) {
  Client& asking = client();
  asking.start(std::move(bytes), replies);
  run_until_end(asking);
  Exchange exchange = result_of(asking);
  // The record is made right after the last byte; nothing else happens at that moment.
  loop_.run_for(0ns);
  if (records().size() == records_given_) loop_.run_for(100ms);  // the provider's own end of body is awaited
  if (records().size() > records_given_) exchange.record = records().back();
  records_given_ = records().size();
  if (!asking.running()) clients_.pop_back();
  return exchange;
}

void World::expect_rest() {
  loop_.run_for(6s);  // longer than any close lingers
  EXPECT_EQ(counters_.requests_in_flight.get(), 0);
  EXPECT_EQ(counters_.bodies_in_flight_bytes.get(), 0);
  EXPECT_EQ(process_.bodies_in_flight_bytes.load(), 0);
  EXPECT_EQ(counters_.connections_open.get(), 0) << "client connections";
  EXPECT_EQ(counters_.upstream_connections_open.get(), counters_.upstream_connections_idle.get());
  upstream_->close_idle();
  loop_.run_for(3s);
  EXPECT_EQ(counters_.upstream_connections_open.get(), 0);
  EXPECT_EQ(counters_.upstream_connections_idle.get(), 0);
  for (const auto& provider : providers_) {
    EXPECT_EQ(provider->seen().in_flight(), 0U) << "the provider still answers somebody";
    EXPECT_EQ(provider->seen().live_connections(), 0U);
  }
  EXPECT_EQ(loop_.open_streams(), 0U) << "sockets leaked";
}

std::string text_in(const HttpReply& reply) {
  const auto of_document = [](wire::JsonValue document, std::string& text) {
    if (const auto choices = document.member("choices"); choices && choices->is_array()) {
      for (wire::JsonElements items(*choices); items.next();) {
        if (const auto piece = items.value().at("delta", "content"); piece && piece->is_string())
          text += piece->string();
        if (const auto whole = items.value().at("message", "content"); whole && whole->is_string())
          text += whole->string();
      }
    }
    const auto type = document.member("type");
    if (type && type->raw_string() == "response.output_text.delta")
      text += document.member("delta")->string();
    if (const auto output = document.member("output"); output && output->is_array()) {
      for (wire::JsonElements items(*output); items.next();) {
        const auto content = items.value().member("content");
        if (!content || !content->is_array()) continue;
        for (wire::JsonElements parts(*content); parts.next();) {
          if (const auto part = parts.value().member("text"); part && part->is_string())
            text += part->string();
        }
      }
    }
  };
  std::string text;
  if (!reply.header("content-type").value_or("").starts_with("text/event-stream")) {
    if (!wire::check_json(reply.body)) of_document(wire::JsonValue(reply.body), text);
    return text;
  }
  wire::SseDecoder decoder;
  wire::SseEvent event;
  for (std::size_t at = 0; decoder.next(reply.body, at, event);) {
    if (!wire::check_json(event.data)) of_document(wire::JsonValue(event.data), text);
  }
  return text;
}

std::string error_code_in(std::string_view json) {
  if (wire::check_json(json)) return "not JSON: " + std::string(json.substr(0, 100));
  const wire::JsonValue document(json);
  auto code = document.at("error", "code");
  if (!code) code = document.member("code");
  if (!code) return "no code: " + std::string(json.substr(0, 200));
  return code->is_string() ? code->string() : std::string(code->text());
}

}  // namespace qq::simulation
