// Targets of private back ends: paths and credentials as the description says.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/base64.h"
#include "providers/declared_adapter.h"
#include "providers/declared_templates.h"
#include "providers/percent.h"

namespace qq::providers {
namespace {

Error wrong(std::string why) {
  return Error::gateway(ErrorKind::Config, std::move(why));
}

// The only placeholder of a path is the model.
std::string path_of(std::string_view words, std::string_view base, std::string_view encoded_model) {
  std::string out(base);
  const auto read = read_text_template(words, TemplateUse::UrlPath);
  if (!read) return {};
  for (const model::TextTemplate::Piece& piece : read->pieces) {
    out += piece.text;
    if (piece.placeholder) out += encoded_model;
  }
  return out;
}

// All that is known of it before there is an operation.
void complete_path(model::TextTemplate& path, std::string_view base, std::string_view encoded_model) {
  if (path.empty()) return;
  model::TextTemplate out;
  std::string text(base);
  for (const model::TextTemplate::Piece& piece : path.pieces) {
    text += piece.text;
    if (!piece.placeholder) continue;
    if (*piece.placeholder == model::Placeholder::Model) {
      text += encoded_model;
    } else {
      out.pieces.push_back({std::exchange(text, {}), piece.placeholder});
    }
  }
  if (!text.empty()) out.pieces.push_back({std::move(text), std::nullopt});
  path = std::move(out);
}

bool has_dot_segment(std::string_view path) noexcept {
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(std::min(segment.size() + 1, path.size()));
  }
  return false;
}

Result<> add_signing(const AccountConfig& account, const model::HmacScheme& scheme, model::Target& target) {
  if (account.credential.empty()) return {};
  const std::string_view credential = account.credential.reveal();
  std::string_view secret = credential;
  if (scheme.has_key_id) {
    const std::size_t colon = credential.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == credential.size()) {
      return fail(wrong("the credential of account \"" + account.name +
                        "\" must be ID:SECRET, since the signature's headers name a key"));
    }
    secret = credential.substr(colon + 1);
  }
  if (scheme.secret_form == model::HmacScheme::SecretForm::Base64 && !from_base64(secret)) {
    return fail(wrong("the secret of account \"" + account.name +
                      "\" is no base64, which `auth.hmac.secret_form` says it is"));
  }
  target.request_auth = model::RequestAuth::Hmac;
  target.signing_credential = account.credential;
  return {};
}

// That it fits into a header was checked (check_credential).
void add_header(const AccountConfig& account, std::string_view name, std::string_view prefix,
                model::Target& target) {
  if (account.credential.empty()) return;
  std::string line(name);
  line.append(": ").append(prefix).append(account.credential.reveal()).append("\r\n");
  target.auth_header_lines = Secret(std::move(line));
}

}  // namespace

std::optional<std::string> operation_path(const model::TextTemplate& path, std::string_view id) {
  constexpr std::size_t kIdMax = 2'000;  // a guess; request lines have some 8,000
  if (id.empty() || id.size() > kIdMax || has_dot_segment(id)) return std::nullopt;
  std::string out;
  for (const model::TextTemplate::Piece& piece : path.pieces) {
    out += piece.text;
    if (piece.placeholder) out += percent_encoded(id, "/:");
  }
  return out;
}

Result<> describe_target(const ProviderConfig& provider, const AccountConfig& account,
                         std::string_view base_path, model::Target& target) {
  if (!provider.adapter)
    return fail(wrong("`adapter` is missing, which describes how this kind is spoken to"));
  const DeclaredConfig& config = *provider.adapter;
  auto adapter = make_declared_adapter(config);
  if (!adapter) {
    const DeclaredProblem& first = adapter.error().front();
    return fail(wrong("adapter." + first.field + ": " + first.message));
  }
  const std::string encoded_model = percent_encoded(target.upstream_model);
  model::TargetEndpoint& endpoint = target.endpoints[static_cast<std::size_t>(model::Endpoint::Declared)];
  endpoint.path_and_query = path_of(config.path, base_path, encoded_model);
  if (!config.stream_path.empty())
    endpoint.stream_path = path_of(config.stream_path, base_path, encoded_model);
  if (adapter->poll) {
    if (provider.drain_for_usage)
      return fail(wrong("`drain_for_usage` is of no use to a back end that is polled; give `cancel_path`"));
    complete_path(adapter->poll->path, base_path, encoded_model);
    complete_path(adapter->poll->cancel_path, base_path, encoded_model);
  }
  if (adapter->hmac) {
    QQ_CHECK(add_signing(account, *adapter->hmac, target));
  } else if (config.auth.header) {
    add_header(account, config.auth.header->name, config.auth.header->prefix, target);
  } else {
    add_header(account, "authorization", "Bearer ", target);
  }
  target.declared = std::make_shared<const model::DeclaredAdapter>(*std::move(adapter));
  return {};
}

}  // namespace qq::providers
