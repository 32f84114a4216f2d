#include "providers/catalogue.h"
#include "providers/credentials.h"
#include "providers/declared_adapter.h"
#include "providers/paths.h"

namespace qq::providers {
namespace {

// The version of Anthropic's API whose words dialects/anthropic knows. On Vertex and Bedrock the body says
// it.
constexpr std::string_view kAnthropicVersion = "anthropic-version: 2023-06-01\r\n";

Error bad(const ProviderConfig& provider, std::string_view why) {
  return Error::gateway(ErrorKind::Config, "provider \"" + provider.name + "\": " + std::string(why));
}

}  // namespace

Result<model::Target> make_target(const ProviderConfig& provider, const AccountConfig& account,
                                  std::string_view model_name, std::string_view upstream_model) {
  const ProviderKind* kind = find_kind(provider.kind);
  if (kind == nullptr) {
    return fail(bad(provider, "there is no provider kind \"" + provider.kind +
                                  "\"; use openai_compatible for a server that is not in the catalogue"));
  }
  const auto base_url = base_url_of(*kind, provider);
  if (!base_url) return fail(bad(provider, base_url.error().message));
  auto url = parse_base_url(*base_url);
  if (!url) return fail(bad(provider, url.error().message));
  if (const auto good = check_credential(*kind, account.credential); !good) {
    return fail(bad(provider, "the credential of account \"" + account.name + "\" " + good.error().message));
  }

  model::Target target;
  target.provider = provider.name;
  target.account = account.name;
  target.account_name = provider.name + "/" + account.name;
  target.limit_group_name =
      account.limit_group.empty() ? target.account_name : provider.name + "/" + account.limit_group;
  target.kind = provider.kind;
  target.model = model_name;
  target.upstream_model = upstream_model.empty() ? model_name : upstream_model;
  if (kind->limits == LimitScope::Model) target.limit_group_name += "/" + target.upstream_model;
  target.name = target.account_name + "/" + target.model;
  target.origin = std::move(url->origin);
  target.origin.allow_private_address = provider.allow_private_address;
  // A connection that was let through to a private address must not serve a provider that may not go there.
  if (provider.allow_private_address) target.origin.pool_key += "#private";
  target.quirks = kind->quirks;
  target.drain_for_usage = provider.drain_for_usage;

  if (kind->url == UrlForm::Declared) {
    const auto described = describe_target(provider, account, url->path, target);
    if (!described) return fail(bad(provider, described.error().message));
    return target;
  }
  if (provider.adapter) return fail(bad(provider, "`adapter` belongs to the kind declared, not to this one"));
  add_credential(*kind, provider, account.credential, target);
  if (const auto added = add_paths(*kind, provider, std::move(url->path), target); !added) {
    return fail(bad(provider, added.error().message));
  }
  const bool is_claudes =
      target.offers(model::Endpoint::Messages) || target.offers(model::Endpoint::Converse);
  if (provider.join_line_breaks && !is_claudes) {
    return fail(bad(provider,
                    "`join_line_breaks` is for Anthropic's dialect and Bedrock's, where a text's "
                    "line breaks may be split"));
  }
  target.joins_line_breaks = provider.join_line_breaks;
  const bool says_version =
      target.offers(model::Endpoint::Messages) && target.quirks.messages_form == model::MessagesForm::Direct;
  if (says_version) target.default_header_lines = kAnthropicVersion;
  return target;
}

}  // namespace qq::providers
