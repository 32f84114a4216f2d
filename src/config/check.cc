#include "config/check.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/key_hash.h"
#include "config/scalar.h"
#include "config/shown.h"
#include "config/suggest.h"
#include "net/address.h"
#include "providers/catalogue.h"
#include "providers/declared_adapter.h"

namespace qq::config {
namespace {

// The names of one kind of object, to look references up.
struct Names {
  std::set<std::string_view> known;
  bool all_read = true;  // false: a name was missing or wrong, so an unknown reference may be its fault

  void add(std::string_view name) {
    if (name.empty()) {
      all_read = false;
    } else {
      known.insert(name);
    }
  }
  [[nodiscard]] bool has(std::string_view name) const { return known.contains(name); }
  [[nodiscard]] std::string suggestion(std::string_view name) const {
    // So that a file of many thousand names with many mistakes is still checked in moments.
    constexpr std::size_t kMaxCompared = 2'000;
    std::vector<std::string_view> list;
    for (auto it = known.begin(); it != known.end() && list.size() < kMaxCompared; ++it) list.push_back(*it);
    const auto near = nearest(name, list);
    return near ? fmt::format(": did you mean `{}`?", *near) : std::string();
  }
};

class Checker {
 public:
  Checker(const Config& config, const Places& places, Diagnostics& out)
      : config_(config), places_(places), out_(out) {}

  void run() {
    collect_names();
    check_listeners();
    check_sizes();
    check_providers();
    check_models();
    check_routes();
    check_keys();
    check_storage();
  }

 private:
  void report(const std::string& path, std::string_view message) {
    out_.add(places_.of(path).mark, fmt::format("{}: {}", path, message));
  }

  // The value at `path` for a message, unless it must not be shown.
  [[nodiscard]] std::string value(const std::string& path, std::string_view text) const {
    return places_.of(path).from_outside ? "the expanded value" : shown(text);
  }

  // Reports every name that was there before. `names` by index; empty ones were reported already.
  template <typename List, typename NameOf>
  void check_unique(const std::string& list_path, const List& list, std::string_view key, NameOf name_of) {
    std::map<std::string_view, std::size_t> first;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string_view name = name_of(list[i]);
      if (name.empty()) continue;
      const auto [earlier, fresh] = first.emplace(name, i);
      if (fresh) continue;
      const std::string path = fmt::format("{}[{}].{}", list_path, i, key);
      const Mark mark = places_.of(fmt::format("{}[{}].{}", list_path, earlier->second, key)).mark;
      report(path, fmt::format("{} is already in line {}", value(path, name), mark.line));
    }
  }

  void check_reference(const std::string& path, const Names& names, std::string_view name,
                       std::string_view what) {
    if (name.empty() || names.has(name) || !names.all_read) return;
    if (places_.of(path).from_outside) {
      report(path, fmt::format("no {} has the name that this expands to", what));
    } else {
      report(path, fmt::format("no {} has the name {}{}", what, shown(name),
                               out_.full() ? "" : names.suggestion(name)));
    }
  }

  void collect_names() {
    for (const auto& provider : config_.providers) providers_.add(provider.name);
    for (const auto& model : config_.models) {
      models_.add(model.name);
      if (!model.hidden) public_.add(model.name);
    }
    for (const auto& route : config_.routes) public_.add(route.name);
    // A list that could not be read at all was reported, too.
    providers_.all_read = providers_.all_read && !config_.providers.empty();
    models_.all_read = models_.all_read && !config_.models.empty();
    public_.all_read = public_.all_read && models_.all_read;
  }

  void check_listeners() {
    bool api = config_.listeners.empty();
    for (std::size_t i = 0; i < config_.listeners.size(); ++i) {
      const auto& listener = config_.listeners[i];
      api = api || listener.serve_api;
      if (listener.address.empty()) continue;
      const std::string path = fmt::format("listeners[{}].address", i);
      const auto address = net::Address::parse(listener.address);
      if (!address) {
        report(path,
               fmt::format("expected a numeric address with a port, such as 127.0.0.1:8080 or [::1]:8080{}",
                           places_.of(path).from_outside ? "" : ", found " + shown(listener.address)));
      }
    }
    if (!api) report("listeners", "no listener serves `api`, so no client could send a request");
    // Port 0 may be asked for several times: each listener gets its own.
    std::vector<std::string> addresses;
    for (const auto& listener : config_.listeners) {
      addresses.push_back(listener.address.ends_with(":0") ? std::string() : listener.address);
    }
    check_unique("listeners", addresses, "address",
                 [](const std::string& address) { return std::string_view(address); });
  }

  void check_sizes() {
    if (config_.limits.bodies_in_flight_max < config_.limits.body_max) {
      report("limits.bodies_in_flight_max", "must be at least `body_max`");
    }
  }

  // Whether the two that belong together are good each for itself.
  bool check_file(const std::string& path, bool sqlite, const std::string& file) {
    if (!places_.of(path + ".backend").good || !places_.of(path + ".path").good) return false;
    if (sqlite && file.empty()) {
      report(path + ".path", fmt::format("`backend: sqlite` needs a path, such as /var/lib/queqiao/{}.db",
                                         path.substr(path.rfind('.') + 1)));
    }
    if (!sqlite && !file.empty()) {
      report(path + ".path", "only `backend: sqlite` has a file: remove the path or the backend");
    }
    return true;
  }

  void check_storage() {
    const relay::HoldingStorage& holdings = config_.holdings;
    const bool in_a_file = holdings.chosen() == relay::HoldingBackend::Sqlite;
    if (check_file("storage.objects", in_a_file, holdings.path) && in_a_file &&
        config_.responses.path == holdings.path && !holdings.path.empty()) {
      report("storage.objects.path", "is the file of `storage.responses` too: give each its own");
    }
    const relay::ResponseStorage& responses = config_.responses;
    const std::string path = "storage.responses";
    if (!check_file(path, responses.chosen() == relay::ResponseBackend::Sqlite, responses.path)) return;
    const relay::ResponseLimits limits = responses.limits();
    if (limits.owner_bytes_max < 2 * limits.entry_bytes_max) {
      report(path + ".owner_max",
             "must be at least twice `entry_max`, so that an answer and its conversation fit");
    } else if (limits.total_bytes_max < limits.owner_bytes_max) {
      report(path + ".total_max", fmt::format("must be at least {}, what one owner may have",
                                              format_size(limits.owner_bytes_max)));
    }
  }

  void check_providers() {
    check_unique("providers", config_.providers, "name",
                 [](const auto& p) { return std::string_view(p.name); });
    for (std::size_t i = 0; i < config_.providers.size(); ++i) {
      const auto& provider = config_.providers[i];
      const std::string path = fmt::format("providers[{}]", i);
      const auto name_of = [](const auto& named) { return std::string_view(named.name); };
      check_unique(path + ".accounts", provider.accounts, "name", name_of);
      check_unique(path + ".limit_groups", provider.limit_groups, "name", name_of);
      Names groups;
      for (const auto& group : provider.limit_groups) groups.add(group.name);
      for (std::size_t k = 0; k < provider.accounts.size(); ++k) {
        check_reference(fmt::format("{}.accounts[{}].limit_group", path, k), groups,
                        provider.accounts[k].limit_group, "limit group of this provider");
      }
      check_kind(provider, path);
    }
  }

  void check_kind(const providers::ProviderConfig& provider, const std::string& path) {
    const bool url_good = provider.base_url.empty() ? places_.of(path + ".base_url").good
                                                    : check_url(provider.base_url, path + ".base_url");
    if (provider.kind.empty()) return;
    const providers::ProviderKind* kind = providers::find_kind(provider.kind);
    if (kind == nullptr) {
      Names kinds;
      for (const auto& entry : providers::catalogue()) kinds.add(entry.name);
      check_reference(path + ".kind", kinds, provider.kind, "entry of the catalogue");
      return;
    }
    if (provider.adapter && kind->url == providers::UrlForm::Declared) {
      const auto adapter = providers::make_declared_adapter(*provider.adapter);
      if (!adapter) {
        for (const providers::DeclaredProblem& problem : adapter.error()) {
          const std::string at = fmt::format("{}.adapter.{}", path, problem.field);
          if (places_.of(at).good) report(at, problem.message);
        }
        return;
      }
      if (url_good) check_signing(provider, path);
    }
    for (std::size_t k = 0; k < provider.accounts.size(); ++k) {
      const auto good = providers::check_credential(*kind, provider.accounts[k].credential);
      if (!good) report(fmt::format("{}.accounts[{}].credential", path, k), good.error().message);
    }
    // What else this kind needs, only the catalogue knows: any account and model will do to ask it.
    const bool keys_good = places_.of(path + ".project").good && places_.of(path + ".location").good &&
                           places_.of(path + ".region").good;
    if (!url_good || !keys_good || provider.accounts.empty()) return;
    providers::AccountConfig account;
    account.name = "any";
    const auto target = providers::make_target(provider, account, "any", "any");
    if (!target)
      report(path, without_prefix(target.error().message, fmt::format("provider \"{}\": ", provider.name)));
  }

  // Which form a signature's secret must have is in its description.
  void check_signing(const providers::ProviderConfig& provider, const std::string& path) {
    if (!provider.adapter->auth.hmac) return;
    for (std::size_t k = 0; k < provider.accounts.size(); ++k) {
      const auto target = providers::make_target(provider, provider.accounts[k], "any", "any");
      if (target) continue;
      report(fmt::format("{}.accounts[{}].credential", path, k),
             without_prefix(target.error().message, fmt::format("provider \"{}\": ", provider.name)));
    }
  }

  static std::string_view without_prefix(std::string_view message, std::string_view prefix) {
    if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
    return message;
  }

  bool check_url(const std::string& url, const std::string& path) {
    const auto parsed = providers::parse_base_url(url);
    if (parsed) return true;
    if (places_.of(path).from_outside || looks_like_credential(url) ||
        looks_like_credential(parsed.error().message)) {
      report(path, "expected a URL such as https://host:port/v1, without user, password, query and fragment");
    } else {
      report(path, without_prefix(parsed.error().message, "base_url: "));
    }
    return false;
  }

  void check_models() {
    check_unique("models", config_.models, "name",
                 [](const auto& model) { return std::string_view(model.name); });
    for (std::size_t i = 0; i < config_.models.size(); ++i) {
      check_reference(fmt::format("models[{}].provider", i), providers_, config_.models[i].provider,
                      "provider");
    }
  }

  void check_routes() {
    check_unique("routes", config_.routes, "name",
                 [](const auto& route) { return std::string_view(route.name); });
    std::map<std::string_view, std::size_t> visible;
    for (std::size_t i = 0; i < config_.models.size(); ++i) {
      if (!config_.models[i].hidden) visible.emplace(config_.models[i].name, i);
    }
    for (std::size_t i = 0; i < config_.routes.size(); ++i) {
      const auto& route = config_.routes[i];
      const std::string path = fmt::format("routes[{}]", i);
      if (const auto model = visible.find(route.name); model != visible.end() && !route.name.empty()) {
        const Mark mark = places_.of(fmt::format("models[{}].name", model->second)).mark;
        report(path + ".name",
               fmt::format("{} is also the name of a model in line {}, and models are routes of their own: "
                           "give the model `hidden: true` or another name",
                           value(path + ".name", route.name), mark.line));
      }
      for (const auto& [key, list] :
           {std::pair("candidates", &route.candidates), std::pair("fallback", &route.fallback)}) {
        for (std::size_t k = 0; k < list->size(); ++k) {
          check_reference(fmt::format("{}.{}[{}].model", path, key, k), models_, (*list)[k].model, "model");
        }
        check_unique(fmt::format("{}.{}", path, key), *list, "model",
                     [](const auto& c) { return std::string_view(c.model); });
      }
      const bool unweighted = route.picker == routing::PickerKind::Order && places_.of(path + ".picker").good;
      for (std::size_t k = 0; k < route.candidates.size() && unweighted; ++k) {
        const std::string weight = fmt::format("{}.candidates[{}].weight", path, k);
        if (places_.has(weight))
          report(weight, "`picker: order` uses no weights: remove it or write `picker: weighted`");
      }
      if (route.retry.backoff_max < route.retry.backoff_base) {
        report(path + ".retry.backoff", "`max` must be at least `base`");
      }
    }
  }

  void check_keys() {
    if (!config_.keys.empty() && config_.key_pepper.empty() && !places_.has("key_pepper")) {
      report("keys",
             "client keys need `key_pepper`, the server's secret: `queqiao keys new --with-pepper` makes "
             "one; put it into "
             "the environment and write `key_pepper: \"${QUEQIAO_KEY_PEPPER}\"`");
    }
    check_unique("keys", config_.keys, "name", [](const auto& key) { return std::string_view(key.name); });
    std::map<admission::KeyDigest, std::size_t> digests;
    for (std::size_t i = 0; i < config_.keys.size(); ++i) {
      const auto& key = config_.keys[i];
      if (!key.hash.empty()) {
        const std::string path = fmt::format("keys[{}].hash", i);
        const auto digest = admission::parse_key_hash(key.hash);
        if (!digest) {
          report(path,
                 "expected `hmac-sha256:` and 64 hexadecimal digits, as `queqiao keys hash` prints them");
        } else if (const auto [earlier, fresh] = digests.emplace(*digest, i); !fresh) {
          report(path, fmt::format("the same key is already in line {}",
                                   places_.of(fmt::format("keys[{}].hash", earlier->second)).mark.line));
        }
      }
      for (std::size_t k = 0; k < key.allow.size(); ++k) {
        check_reference(fmt::format("keys[{}].allow[{}]", i, k), public_, key.allow[k], "route or model");
      }
    }
  }

  const Config& config_;
  const Places& places_;
  Diagnostics& out_;
  Names providers_;
  Names models_;
  Names public_;
};

}  // namespace

void complete(Config& config, const Places& places) {
  for (auto& key : config.keys) {
    if (key.owner.empty()) key.owner = key.name;
  }
  for (auto& model : config.models) {
    if (model.upstream_name.empty()) model.upstream_name = model.name;
  }
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const std::string path = fmt::format("routes[{}]", i);
    if (places.has(path + ".picker")) continue;
    for (std::size_t k = 0; k < config.routes[i].candidates.size(); ++k) {
      if (places.has(fmt::format("{}.candidates[{}].weight", path, k))) {
        config.routes[i].picker = routing::PickerKind::Weighted;
      }
    }
  }
}

void check(const Config& config, const Places& places, Diagnostics& out) {
  Checker(config, places, out).run();
}

}  // namespace qq::config
