#include <algorithm>

#include "config/field_builders.h"
#include "config/json_document.h"
#include "config/sections.h"
#include "providers/catalogue.h"
#include "routing/route_config.h"

namespace qq::config {

using namespace build;

namespace {

const Section& account_section() {
  using T = providers::AccountConfig;
  Field credential = secret("credential", &T::credential);
  credential.store = [](void* object, const Scalar& value) -> std::string {
    if (value.text.empty()) return "a credential, or none to send no credential (this one is empty)";
    const bool printable =
        is_json_object(value.text) ||
        std::all_of(value.text.begin(), value.text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (!printable) return "a credential of printable ASCII characters without spaces or line breaks";
    as<T>(object).credential = value.text == "none" ? Secret() : Secret(value.text);
    return {};
  };
  static const Section kSection{
      .name = "providers[].accounts[]",
      .id = "account",
      .doc = "A credential at a provider. Every account of a provider serves all of its models.",
      .fields = {Make(named(text("name", &T::name))).doc("Unique at its provider.").required(),
                 Make(std::move(credential))
                     .doc("The provider's API key, usually `${VAR}` or `${file:…}`; `none` sends no "
                          "credential. For Vertex "
                          "a service account's key (the whole JSON file), for Bedrock an API key or "
                          "`ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`.")
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

// What becomes a part of a host's name.
Field placed(Field field, std::string_view words) {
  field.pattern = "^[A-Za-z0-9][A-Za-z0-9-]{0,63}$";
  field.pattern_words = words;
  field.matches = [](std::string_view value) { return in_charset(value, "-", 64); };
  return field;
}

}  // namespace

const Section& provider_section() {
  using T = providers::ProviderConfig;
  Field kind = text("kind", &T::kind);
  for (const providers::ProviderKind& entry : providers::catalogue()) kind.words.push_back(entry.name);
  Field api_version = text("api_version", &T::api_version);
  api_version.pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
  api_version.pattern_words = "a version such as 2024-10-21";
  api_version.matches = [](std::string_view value) { return in_charset(value, "._-", 64); };
  Field project = text("project", &T::project);
  project.pattern = "^[A-Za-z0-9][A-Za-z0-9.:-]{0,127}$";
  project.pattern_words = "a project's id such as my-project-123";
  project.matches = [](std::string_view value) { return in_charset(value, ".:-", 128); };
  Field location = placed(text("location", &T::location), "a location such as europe-west4 or global");
  Field region = placed(text("region", &T::region), "a region such as eu-central-1");
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
                 Make(std::move(project))
                     .doc("Vertex: the Google Cloud project that is billed.")
                     .absent("none; Vertex needs it")
                     .like("my-project-123")
                     .known_as({"project_id"}),
                 Make(std::move(location))
                     .doc("Vertex: where the model runs: a region, `us`, `eu` or `global`.")
                     .absent("none; Vertex needs it")
                     .like("europe-west4"),
                 Make(std::move(region))
                     .doc("Bedrock: AWS's region, in the host's name and in signatures.")
                     .absent("none; Bedrock needs it")
                     .like("eu-central-1")
                     .known_as({"aws_region"}),
                 Make(boolean("allow_private_address", &T::allow_private_address))
                     .doc("Let this provider be at a private or loopback address, for engines of your own."),
                 Make(boolean("drain_for_usage", &T::drain_for_usage))
                     .doc("When a client has left, read its answer on for the usage instead of cancelling "
                          "at once, for providers that bill on: 10 s at most, in 2 % of the requests in "
                          "flight (one always)."),
                 Make(boolean("join_line_breaks", &T::join_line_breaks))
                     .doc(
                         "Claude may split a line break between two deltas of a stream, which flickers where "
                         "each is drawn. With this, line breaks at a delta's end wait for the next one. Of "
                         "providers that speak Anthropic's dialect, and of Bedrock."),
                 Make(map("adapter", &T::adapter, adapter_section()))
                     .doc("How a private back end is spoken to; of the kind `declared`.")
                     .absent("none"),
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
               .doc("Tokens that fit into the model's context: told in the lists of models. Nothing is "
                    "decided by it "
                    "yet.")
               .absent("unknown")
               .like("128k")
               .known_as({"context_length", "context_window", "max_tokens"}),
           Make(texts("can", &T::can,
                      {"tools", "parallel_tools", "vision", "audio", "files", "json_object", "json_schema",
                       "reasoning", "logprobs", "embeddings", "moderations", "images"}))
               .doc("What the model can do beyond text: told in the lists of models. `reasoning` gives it "
                    "longer "
                    "timers for its first content, and without it OpenAI's, Cohere's and Ollama's models are "
                    "not told how much to think when a request is translated; nothing is decided by the "
                    "others "
                    "yet.")
               .absent("nothing stated")
               .known_as({"capabilities", "features"}),
           Make(boolean("hidden", &T::hidden)).doc("Reachable through routes only.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

}  // namespace qq::config
