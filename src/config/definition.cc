#include "config/definition.h"

#include <algorithm>

#include "admission/key_hash.h"
#include "config/config.h"
#include "config/field_builders.h"
#include "config/proxy_url.h"
#include "providers/catalogue.h"

namespace qq::config {
namespace {

using namespace build;
using namespace std::chrono_literals;

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kGiB = 1024 * kMiB;

// Makes the definitions below read as sentences: what a field is, then what is special about it.
struct Make {
  Field field;
  Make(Field made) : field(std::move(made)) {}  // NOLINT(google-explicit-constructor)
  Make&& doc(std::string_view text) && { return field.doc = text, std::move(*this); }
  Make&& required() && { return field.presence = Presence::Required, std::move(*this); }
  Make&& restart() && { return field.effect = Effect::Restart, std::move(*this); }
  Make&& absent(std::string note) && { return field.default_note = std::move(note), std::move(*this); }
  Make&& at_least(std::size_t items) && { return field.min_items = items, std::move(*this); }
  Make&& like(std::string_view example) && { return field.example = example, std::move(*this); }
  Make&& known_as(std::vector<std::string_view> names) && {
    return field.often_written = std::move(names), std::move(*this);
  }
  Make&& longest(std::size_t bytes) && { return field.max_length = bytes, std::move(*this); }
  operator Field() && { return std::move(field); }  // NOLINT(google-explicit-constructor)
};

bool in_charset(std::string_view text, std::string_view punctuation, std::size_t longest) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > longest || !alphanumeric(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return alphanumeric(c) || punctuation.find(c) != std::string_view::npos;
  });
}

// Names of providers, accounts and groups: parts of "provider/account/model", so without a slash.
Field named(Field field) {
  field.pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
  field.pattern_words =
      "a name of at most 64 letters, digits, '.', '_' and '-', beginning with a letter or digit";
  field.matches = [](std::string_view text) { return in_charset(text, "._-", 64); };
  return field;
}

// Names that clients send as `model` and that appear in response headers.
Field publicly_named(Field field) {
  field.pattern = "^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$";
  field.pattern_words =
      "a name of at most 128 letters, digits and '.', '_', '-', ':', '/', '@', '+', beginning with a letter "
      "or digit";
  field.matches = [](std::string_view text) { return in_charset(text, "._:/@+-", 128); };
  return field;
}

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
      .fields = {Make(size("body_max", &T::body_max, kKiB, 4 * kGiB)).doc("Largest request body."),
                 Make(size("bodies_in_flight_max", &T::bodies_in_flight_max, kMiB, 1024 * kGiB))
                     .doc("All request bodies held at one time; at least `body_max`."),
                 Make(size("head_max", &T::head_max, kKiB, kMiB)).doc("Largest request line and headers."),
                 Make(integer("json_nodes_max", &T::json_nodes_max, 1'000, 100'000'000))
                     .doc("Values in one JSON body."),
                 Make(size("held_answer_max", &T::held_answer_max, kKiB, kGiB))
                     .doc("An answer that is not a stream is held up to this size before it goes to the "
                          "client, so that a broken one can still be replaced. In a larger one the "
                          "provider's name of the model stays where it stands beyond this size."),
                 Make(size("event_max", &T::event_max, kKiB, kGiB)).doc("Largest single event of a stream."),
                 Make(size("memory_max", &T::memory_max, 0, 1024 * kGiB))
                     .doc("Memory of the process at which it sheds load (in steps at 80, 90 and 95 %).")
                     .absent("`0`: the machine's or control group's memory")
                     .restart(),
                 Make(integer("connections_max", &T::connections_max, 0, 10'000'000))
                     .doc("Client connections at one time.")
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
                       "From the sent request to the first content of the answer."),
                 timer("first_byte_reasoning", &T::first_byte_reasoning,
                       "`first_byte` of models that can reason, if it is longer."),
                 timer("first_content_reasoning", &T::first_content_reasoning,
                       "`first_content` of models that can reason, if it is longer."),
                 timer("event_gap", &T::event_gap, "Between events of a stream, after the first content."),
                 timer("total", &T::total, "From the request's arrival to the end of its answer."),
                 timer("client_write_stall", &T::client_write_stall,
                       "The client takes nothing of its answer."),
                 timer("client_head", &T::client_head, "A request's head must be complete."),
                 timer("client_body_grace", &T::client_body_grace,
                       "After this, a request's body must come at 1 KiB/s at least."),
                 timer("client_idle", &T::client_idle,
                       "A kept-alive connection without a request is closed."),
                 timer("heartbeat", &T::heartbeat, "Silence after which a streaming client gets a comment."),
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

const Section& account_section() {
  using T = providers::AccountConfig;
  Field credential = secret("credential", &T::credential);
  credential.store = [](void* object, const Scalar& value) -> std::string {
    if (value.text.empty()) return "a credential, or none to send no credential (this one is empty)";
    const bool printable =
        std::all_of(value.text.begin(), value.text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (!printable) return "a credential of printable ASCII characters without spaces or line breaks";
    as<T>(object).credential = value.text == "none" ? Secret() : Secret(value.text);
    return {};
  };
  static const Section kSection{
      .name = "providers[].accounts[]",
      .id = "account",
      .doc = "A credential at a provider. Every account of a provider serves all of its models.",
      .fields =
          {Make(named(text("name", &T::name))).doc("Unique at its provider.").required(),
           Make(std::move(credential))
               .doc("The provider's API key, usually `${VAR}` or `${file:…}`; `none` sends no credential.")
               .required()
               .like("${OPENAI_API_KEY}")
               .known_as({"api_key", "key", "token", "secret", "password"}),
           Make(named(text("limit_group", &T::limit_group)))
               .doc("The limit group of this provider that the account belongs to.")
               .absent("the account stands alone")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& limit_group_section() {
  using T = providers::LimitGroupConfig;
  static const Section kSection{
      .name = "providers[].limit_groups[]",
      .id = "limit_group",
      .doc =
          "A quota that several accounts share: when the provider says that one has no more, all of them "
          "rest.",
      .fields = {Make(named(text("name", &T::name))).doc("Unique at its provider.").required(),
                 Make(integer("rpm", &T::rpm, 1, 1e12))
                     .doc("Requests per minute that the provider grants. Recorded; not enforced yet.")
                     .absent("no limit stated"),
                 Make(integer("tpm", &T::tpm, 1, 1e15))
                     .doc("Tokens per minute that the provider grants. Recorded; not enforced yet.")
                     .absent("no limit stated"),
                 Make(integer("concurrency", &T::concurrency, 1, 1e9))
                     .doc("Requests at one time that the provider grants. Recorded; not enforced yet.")
                     .absent("no limit stated")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& provider_section() {
  using T = providers::ProviderConfig;
  Field kind = text("kind", &T::kind);
  for (const providers::ProviderKind& entry : providers::catalogue()) kind.words.push_back(entry.name);
  Field api_version = text("api_version", &T::api_version);
  api_version.pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
  api_version.pattern_words = "a version such as 2024-10-21";
  api_version.matches = [](std::string_view value) { return in_charset(value, "._-", 64); };
  static const Section kSection{
      .name = "providers[]",
      .id = "provider",
      .doc = "Where requests can go.",
      .fields = {Make(named(text("name", &T::name))).doc("Unique; models refer to it.").required(),
                 Make(std::move(kind))
                     .doc("Entry of the built-in catalogue: how the provider is spoken to.")
                     .required()
                     .like("openai")
                     .known_as({"type", "vendor", "dialect"}),
                 Make(text("base_url", &T::base_url))
                     .doc("URL before `/chat/completions`, with the version path.")
                     .absent("the catalogue's, where it has one")
                     .like("http://10.0.0.5:8000/v1")
                     .known_as({"url", "endpoint", "api_base", "host"}),
                 Make(std::move(api_version))
                     .doc("Azure's `api-version`, for its classic URL form.")
                     .absent("none"),
                 Make(boolean("allow_private_address", &T::allow_private_address))
                     .doc("Let this provider be at a private or loopback address, for engines of your own."),
                 Make(boolean("drain_for_usage", &T::drain_for_usage))
                     .doc("When a client has left, read its answer on for the usage instead of cancelling "
                          "at once, for providers that bill on: 10 s at most, in 2 % of the requests in "
                          "flight (one always)."),
                 Make(maps("accounts", &T::accounts, account_section(), "name"))
                     .doc("Credentials there.")
                     .required()
                     .at_least(1),
                 Make(maps("limit_groups", &T::limit_groups, limit_group_section(), "name"))
                     .doc("Quotas that accounts share.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& model_section() {
  using T = routing::ModelConfig;
  static const Section kSection{
      .name = "models[]",
      .id = "model",
      .doc = "A model at a provider and what it can do. Clients may ask for it by name unless it is hidden.",
      .fields =
          {Make(publicly_named(text("name", &T::name))).doc("Unique among models.").required(),
           Make(named(text("provider", &T::provider))).doc("Name of an entry of `providers`.").required(),
           Make(text("upstream_name", &T::upstream_name))
               .doc("What the provider calls it (Azure: the deployment).")
               .absent("the same as `name`")
               .longest(256)
               .known_as({"model", "id", "deployment"}),
           Make(tokens("context", &T::context_tokens, 1, 1e9))
               .doc("Tokens that fit into the model's context. Recorded; nothing is decided by it yet.")
               .absent("unknown")
               .like("128k")
               .known_as({"context_length", "context_window", "max_tokens"}),
           Make(texts("can", &T::can,
                      {"tools", "parallel_tools", "vision", "audio", "files", "json_object", "json_schema",
                       "reasoning", "logprobs", "embeddings", "moderations", "images"}))
               .doc("What the model can do beyond text. `reasoning` gives it longer timers for its first "
                    "content; nothing is decided by the others yet.")
               .absent("nothing stated")
               .known_as({"capabilities", "features"}),
           Make(boolean("hidden", &T::hidden)).doc("Reachable through routes only.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& match_section() {
  using T = routing::RouteConfig;
  static const Section kSection{
      .name = "routes[].match",
      .id = "match",
      .doc = "What kind of requests the route is meant for. Recorded; nothing is decided by it yet.",
      .fields = {Make(named(text("task_type", &T::task_type))).doc("For example `chat`.").absent("any"),
                 Make(duration("max_latency", &T::max_latency, 1ms, 24h))
                     .doc("Time to the first content that callers expect.")
                     .absent("none")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& candidate_section() {
  using T = routing::CandidateConfig;
  static const Section kSection{
      .name = "routes[].candidates[]",
      .id = "candidate",
      .doc = "A model that may answer.",
      .fields =
          {Make(publicly_named(text("model", &T::model))).doc("Name of an entry of `models`.").required(),
           Make(number("weight", &T::weight, 1e-6, 1e6))
               .doc("Share of the requests, in proportion to the other candidates'; for the weighted "
                    "picker.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& fallback_section() {
  using T = routing::CandidateConfig;
  static const Section kSection{
      .name = "routes[].fallback[]",
      .id = "fallback",
      .doc = "A model that is tried, in the order written, after all candidates failed.",
      .fields =
          {Make(publicly_named(text("model", &T::model))).doc("Name of an entry of `models`.").required()},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& backoff_section() {
  using T = model::RetryRules;
  static const Section kSection{
      .name = "routes[].retry.backoff",
      .id = "backoff",
      .doc =
          "The pause before the same target is tried again: a random time up to `base`, doubling up to "
          "`max`.",
      .fields =
          {Make(duration("base", &T::backoff_base, 1ms, 1h)).doc("Upper end of the first pause."),
           Make(duration("max", &T::backoff_max, 1ms, 1h)).doc("Where the doubling stops; at least `base`.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& retry_section() {
  using T = model::RetryRules;
  static const Section kSection{.name = "routes[].retry",
                                .id = "retry",
                                .doc = "How often a failed request is tried again.",
                                .fields = {Make(integer("max_attempts", &T::max_attempts, 1, 10))
                                               .doc("Attempts of one request that reached a provider.")
                                               .known_as({"attempts", "num_retries", "retries"}),
                                           Make(same_struct("backoff", backoff_section()))
                                               .doc("Pauses between attempts at the same target.")},
                                .defaults = defaults_of<T>()};
  return kSection;
}

Field picker_field() {
  using T = routing::RouteConfig;
  Field field;
  field.key = "picker";
  field.type = FieldType::Word;
  field.words = {"order", "weighted"};
  field.store = [](void* object, const Scalar& value) -> std::string {
    as<T>(object).picker =
        value.text == "weighted" ? routing::PickerKind::Weighted : routing::PickerKind::Order;
    return {};
  };
  field.read = [](const void* object) {
    return std::string(as<T>(object).picker == routing::PickerKind::Weighted ? "weighted" : "order");
  };
  return field;
}

const Section& route_section() {
  using T = routing::RouteConfig;
  using Triggers = model::Triggers;
  const auto triggers = [](auto& route) -> auto& { return route.triggers; };
  static const Section kSection{
      .name = "routes[]",
      .id = "route",
      .doc = "A public name (the client's `model`) and the models that answer to it.",
      .fields =
          {Make(publicly_named(text("name", &T::name)))
               .doc("Unique; not the name of a model that is not hidden.")
               .required(),
           Make(same_struct("match", match_section())).doc("What the route is meant for."),
           Make(maps("candidates", &T::candidates, candidate_section(), "model"))
               .doc("Models that answer.")
               .required()
               .at_least(1)
               .known_as({"models", "targets"}),
           Make(maps("fallback", &T::fallback, fallback_section(), "model"))
               .doc("Models tried after the candidates.")
               .known_as({"fallbacks"}),
           Make(picker_field())
               .doc("`order`: candidates as written. `weighted`: drawn in proportion to their weights.")
               .absent("`weighted` if a candidate states a weight, else `order`")
               .known_as({"strategy", "policy", "load_balancing"}),
           Make(flags<T, Triggers>("trigger_on", triggers,
                                   {{"timeout", &Triggers::timeout},
                                    {"5xx", &Triggers::server_error},
                                    {"429", &Triggers::rate_limit},
                                    {"empty", &Triggers::empty},
                                    {"404", &Triggers::not_found},
                                    {"4xx", &Triggers::refused}}))
               .doc("Failures after which the next target is tried: `timeout`; `5xx` (broken connections and "
                    "answers too); `429` (spent quotas, dead keys, a provider's 403 and prompts over an "
                    "account's tokens a minute too); `empty` "
                    "answers; `404` (the "
                    "provider does "
                    "not know the model); any other `4xx`."),
           Make(map("retry", &T::retry, retry_section())).doc("How often.")},
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
           Make(maps("keys", &T::keys, key_section(), "name")).doc("Client keys.")},
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
