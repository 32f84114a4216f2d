#include "config/definition.h"

#include <algorithm>

#include "admission/key_hash.h"
#include "config/config.h"
#include "config/field_builders.h"
#include "config/proxy_url.h"
#include "config/sections.h"

namespace qq::config {
namespace {

using namespace build;
using namespace std::chrono_literals;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kGiB = 1024 * kMiB;

const Section& tls_section() {
  using T = downstream::ListenerTlsConfig;
  static const Section kSection{
      .name = "listeners[].tls",
      .id = "listener_tls",
      .doc = "Certificate of a listener; without it the listener speaks plain HTTP.",
      .fields = {Make(text("certificate", &T::certificate))
                     .doc("File with the certificate chain, PEM.")
                     .required()
                     .restart(),
                 Make(text("key", &T::key)).doc("File with the private key, PEM.").required().restart()},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& listener_section() {
  using T = downstream::ListenerConfig;
  const auto self = [](auto& listener) -> auto& { return listener; };
  static const Section kSection{
      .name = "listeners[]",
      .id = "listener",
      .doc = "Where clients and operators connect.",
      .fields =
          {Make(text("address", &T::address))
               .doc("Numeric address and port: `0.0.0.0:8080`, `[::1]:8080`; port 0 takes a free one.")
               .required()
               .restart()
               .known_as({"listen", "bind", "host"}),
           Make(flags<T, T>(
                    "serve", self,
                    {{"api", &T::serve_api}, {"admin", &T::serve_admin}, {"metrics", &T::serve_metrics}}))
               .doc("What is served here: `api` (the `/v1` endpoints), `admin` (for operators; `/metrics` so "
                    "far), `metrics` (`/metrics`). Health checks are served everywhere.")
               .restart()
               .at_least(1),
           Make(map("tls", &T::tls, tls_section())).doc("Serve HTTPS.").restart()},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& limits_section() {
  using T = relay::Limits;
  static const Section kSection{
      .name = "limits",
      .id = "limits",
      .doc = "Bounds on what one request or the whole process may take.",
      .fields = {Make(size("body_max", &T::body_max, kKiB, 4 * kGiB))
                     .doc("Largest request body, or message over WebSocket."),
                 Make(size("bodies_in_flight_max", &T::bodies_in_flight_max, kMiB, 1024 * kGiB))
                     .doc("All request bodies held at one time; at least `body_max`."),
                 Make(size("head_max", &T::head_max, kKiB, kMiB)).doc("Largest request line and headers."),
                 Make(integer("json_nodes_max", &T::json_nodes_max, 1'000, 100'000'000))
                     .doc("Values in one JSON body."),
                 Make(size("held_answer_max", &T::held_answer_max, kKiB, kGiB))
                     .doc("An answer that is not a stream is held up to this size before it goes to the "
                          "client, so that a broken one can still be replaced. In a larger one the "
                          "provider's name of the model stays where it stands beyond this size."),
                 Make(size("media_max", &T::media_max, kKiB, kGiB))
                     .doc("What is fetched for one request that names pictures and files by their URLs, for "
                          "providers that take bytes only."),
                 Make(size("event_max", &T::event_max, kKiB, kGiB)).doc("Largest single event of a stream."),
                 Make(size("realtime_message_max", &T::realtime_message_max, kKiB, kGiB))
                     .doc("Largest single message of a Realtime connection, of either side."),
                 Make(size("memory_max", &T::memory_max, 0, 1024 * kGiB))
                     .doc("Memory of the process at which it sheds load (in steps at 80, 90 and 95 %; freed "
                          "memory is given "
                          "back first).")
                     .absent("`0`: the machine's or control group's memory")
                     .restart(),
                 Make(integer("connections_max", &T::connections_max, 0, 10'000'000))
                     .doc("Client connections at one time, on all listeners with `api`.")
                     .absent("`0`: from the limit on open files")
                     .restart()},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& timers_section() {
  using T = relay::Timers;
  const auto timer = [](std::string_view key, Milliseconds T::* member, std::string_view doc) -> Field {
    return Make(duration(key, member, 1ms, 24h)).doc(doc);
  };
  static const Section kSection{
      .name = "timers",
      .id = "timers",
      .doc = "One timer for each phase of a request; all of them run under `total`.",
      .fields = {timer("connect", &T::connect, "Connecting to the provider."),
                 timer("tls", &T::tls, "TLS handshake with the provider."),
                 timer("send_progress", &T::send_progress,
                       "Between two successful writes of the request to the provider."),
                 timer("first_byte", &T::first_byte,
                       "From the sent request to the head of a stream; whole answers have first_content for "
                       "it, if that is longer."),
                 timer("first_content", &T::first_content,
                       "From the beginning of the sending to the first content of the answer."),
                 timer("first_byte_reasoning", &T::first_byte_reasoning,
                       "`first_byte` of models that can reason, if it is longer."),
                 timer("first_content_reasoning", &T::first_content_reasoning,
                       "`first_content` of models that can reason, if it is longer."),
                 timer("event_gap", &T::event_gap,
                       "After the first content of a stream, how long its provider may send no whole line. "
                       "An event is one, and so is a comment or an empty line, by which providers show that "
                       "they still think; a part of a line is none. In whole answers, how long it may send "
                       "nothing after their first byte."),
                 timer("total", &T::total, "From the request's arrival to the end of its answer."),
                 timer("client_write_stall", &T::client_write_stall,
                       "The client takes nothing of its answer. It is cut up to a quarter later."),
                 timer("client_head", &T::client_head, "A request's head must be complete."),
                 timer("client_body_grace", &T::client_body_grace,
                       "After this, a request's body must come at 1 KiB/s at least."),
                 timer("client_idle", &T::client_idle,
                       "A kept-alive connection without a request is closed; a WebSocket unless it "
                       "answers pings."),
                 timer(
                     "realtime_idle", &T::realtime_idle,
                     "A Realtime connection over which neither side has said a message is closed. Pings are "
                     "none."),
                 timer("heartbeat", &T::heartbeat,
                       "Silence after which a streaming client gets a comment, over WebSocket a ping."),
                 timer("drain", &T::drain, "After SIGTERM, running requests may take this long."),
                 Make(duration("drain_announce", &T::drain_announce, 0ms, 24h))
                     .doc("At the drain's beginning new requests are still served for this long, so that a "
                          "load balancer sees 503 at `/readyz` and looks away. An idle process waits for it "
                          "only if `/readyz` was asked within the last minute.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& outbound_section() {
  using T = Config;
  Field proxy;
  proxy.key = "proxy";
  proxy.type = FieldType::Secret;
  proxy.store = [](void* object, const Scalar& value) -> std::string {
    auto parsed = parse_proxy_url(value.text);
    if (!parsed) return std::move(parsed).error();
    as<T>(object).outbound_proxy = *std::move(parsed);
    return {};
  };
  proxy.read = [](const void* object) -> std::string {
    const relay::OutboundProxy& value = as<T>(object).outbound_proxy;
    return value.host.empty() ? std::string()
                              : fmt::format("{} {} {}", value.host, value.port, value.authorization);
  };
  static const Section kSection{
      .name = "outbound",
      .id = "outbound",
      .doc = "How the gateway reaches providers.",
      .fields = {Make(std::move(proxy))
                     .doc("HTTP proxy for all providers (CONNECT): `http://user:password@host:port`.")
                     .like("http://proxy.example:3128")
                     .restart(),
                 Make(text("ca_file", &T::outbound_ca_file))
                     .doc("PEM file with certificate authorities trusted beside the system's.")
                     .restart()},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& key_section() {
  using T = admission::KeyConfig;
  static const Section kSection{
      .name = "keys[]",
      .id = "key",
      .doc = "A client's key, kept as a hash. `queqiao keys new` makes one and prints this entry.",
      .fields =
          {Make(named(text("name", &T::name))).doc("Unique; appears in logs.").required(),
           Make(text("hash", &T::hash))
               .doc("What `queqiao keys hash` prints.")
               .required()
               .like("hmac-sha256:…"),
           Make(text("owner", &T::owner))
               .doc("Whose requests these are.")
               .absent("the same as `name`")
               .longest(128),
           Make(publicly_named(texts("allow", &T::allow)))
               .doc("Routes and models that the key may use.")
               .absent("all")
               .at_least(1)
               .known_as({"models", "routes", "allowed_models"}),
           Make(boolean("enabled", &T::enabled)).doc("`false`: the key is answered like an unknown one.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

Field pepper_field() {
  Field field = secret("key_pepper", &Config::key_pepper);
  field.store = [](void* object, const Scalar& value) -> std::string {
    if (value.text.size() < admission::KeyHasher::kPepperMin) {
      return fmt::format("a secret of at least {} characters; `queqiao keys new --with-pepper` makes one",
                         admission::KeyHasher::kPepperMin);
    }
    as<Config>(object).key_pepper = Secret(value.text);
    return {};
  };
  return field;
}

}  // namespace

const Section& root_section() {
  using T = Config;
  static const Section kSection{
      .name = "",
      .id = "config",
      .doc = "The top level of the file.",
      .fields =
          {Make(integer("workers", &T::workers, 0, 1024))
               .doc("Event loops, one thread each.")
               .absent("`0`: one per core")
               .restart(),
           Make(maps("listeners", &T::listeners, listener_section(), "address"))
               .doc("Where clients and operators connect.")
               .required()
               .at_least(1)
               .restart(),
           Make(map("limits", &T::limits, limits_section())).doc("Bounds on requests and the process."),
           Make(map("timers", &T::timers, timers_section())).doc("How long each phase may take."),
           Make(same_struct("outbound", outbound_section())).doc("How providers are reached.").restart(),
           Make(pepper_field())
               .doc("Server secret under which client keys are hashed; needed where `keys` are configured.")
               .absent("none")
               .like("${QUEQIAO_KEY_PEPPER}"),
           Make(maps("providers", &T::providers, provider_section(), "name"))
               .doc("Where requests can go.")
               .required()
               .at_least(1),
           Make(maps("models", &T::models, model_section(), "name"))
               .doc("What the providers offer.")
               .required()
               .at_least(1),
           Make(maps("routes", &T::routes, route_section(), "name"))
               .doc("Public names that stand for several models."),
           Make(maps("keys", &T::keys, key_section(), "name")).doc("Client keys."),
           Make(same_struct("storage", storage_section())).doc("What the gateway itself keeps.").restart()},
      .defaults = defaults_of<T>()};
  return kSection;
}

std::vector<const Section*> all_sections() {
  std::vector<const Section*> all{&root_section()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Depth first: a section's own sub-sections follow it directly.
    std::size_t at = i + 1;
    for (const Field& field : all[i]->fields) {
      if (field.section == nullptr) continue;
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), field.section);
      ++at;
    }
  }
  return all;
}

const Field* Section::find(std::string_view key) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

std::string Section::default_of(const Field& field) const {
  if (field.presence == Presence::Required) return {};
  if (!field.default_note.empty()) return field.default_note;
  if (!field.read) return {};
  std::string value = field.read(defaults());
  const bool list = field.type == FieldType::Words || field.type == FieldType::Texts;
  if (list && !value.empty()) value = "[" + value + "]";
  return value.empty() ? value : "`" + value + "`";
}

}  // namespace qq::config
