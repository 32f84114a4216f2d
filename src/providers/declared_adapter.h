// From what an operator wrote about a private back end to the description that requests go by, with all that
// is wrong about it.
#pragma once
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/declared_adapter.h"
#include "model/target.h"
#include "providers/declared_config.h"
#include "providers/provider_config.h"

namespace qq::providers {

struct DeclaredProblem {
  std::string field;  // within the adapter: "stream.text", "headers[1].name"; empty: the whole
  std::string message;
};

std::expected<model::DeclaredAdapter, std::vector<DeclaredProblem>> make_declared_adapter(
    const DeclaredConfig& config);

// The words of `errors.kinds[].kind`.
std::vector<std::string_view> declared_error_kinds();

// Where an operation of that id is asked about, or cancelled. Nothing for an id that no path can hold. A '/'
// in it stays one: some ids are paths, as "operations/7".
std::optional<std::string> operation_path(const model::TextTemplate& path, std::string_view id);

// A target of kind `declared`: its paths behind `base_path`, its credential, its description. The rest of the
// target is there. Config errors, without the provider's name.
Result<> describe_target(const ProviderConfig& provider, const AccountConfig& account,
                         std::string_view base_path, model::Target& target);

}  // namespace qq::providers
