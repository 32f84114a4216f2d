// What an operator says about a provider and the accounts there.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "providers/declared_config.h"

namespace qq::providers {

struct LimitGroupConfig {
  std::string name;
  std::optional<std::int64_t> rpm;
  std::optional<std::int64_t> tpm;
  std::optional<std::int64_t> concurrency;
};

struct AccountConfig {
  std::string name;
  Secret credential;        // empty: none is sent; its form is the kind's (AuthForm)
  std::string limit_group;  // empty: the account stands alone
};

struct ProviderConfig {
  std::string name;
  std::string kind;         // entry of the catalogue
  std::string base_url;     // empty: the catalogue's
  std::string api_version;  // Azure's classic URL form; others ignore it
  std::string project;      // Vertex
  std::string location;     // Vertex: "europe-west4", "us", "global"
  std::string region;       // Bedrock: "eu-central-1"
  bool allow_private_address = false;
  bool drain_for_usage = false;   // read on for the usage when the client has left
  bool join_line_breaks = false;  // of streams of a provider of Claude's
  std::vector<AccountConfig> accounts;
  std::vector<LimitGroupConfig> limit_groups;
  std::optional<DeclaredConfig> adapter;  // of the kind `declared`, and of no other
};

}  // namespace qq::providers
