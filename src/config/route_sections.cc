#include "config/field_builders.h"
#include "config/sections.h"
#include "routing/route_config.h"

namespace qq::config {

using namespace build;
using namespace std::chrono_literals;

namespace {

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

}  // namespace

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

}  // namespace qq::config
