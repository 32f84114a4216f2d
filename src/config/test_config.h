// A loaded configuration for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "config/load.h"
#include "config/test_environment.h"

namespace qq::config {

// Two providers, three accounts, three models (one hidden), two routes, one key.
inline constexpr std::string_view kSample = R"(workers: 2
listeners:
  - {address: "127.0.0.1:8080", serve: [api]}
  - {address: "127.0.0.1:8081", serve: [admin, metrics]}
timers: {connect: 3s, total: 15m}
limits: {body_max: 64MiB}
key_pepper: "${PEPPER}"
providers:
  - name: cloud
    kind: openai
    accounts:
      - {name: main, credential: "${OPENAI_API_KEY}", limit_group: org}
      - {name: spare, credential: sk-spare, limit_group: org}
    limit_groups: [{name: org, rpm: 60}]
  - name: own
    kind: openai_compatible
    base_url: "http://127.0.0.1:8000/v1"
    allow_private_address: true
    accounts: [{name: gpu, credential: none}]
models:
  - {name: mini, provider: cloud, upstream_name: gpt-4o-mini, context: 128k, can: [tools]}
  - {name: big, provider: cloud, hidden: true}
  - {name: small, provider: own}
routes:
  - name: fast
    candidates: [{model: mini, weight: 3}, {model: small, weight: 1}]
    fallback: [{model: big}]
    trigger_on: [timeout, 5xx]
    retry: {max_attempts: 2, backoff: {base: 100ms, max: 1s}}
  - {name: best, candidates: [{model: big}, {model: mini}]}
keys:
  - {name: demo, hash: "hmac-sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", allow: [fast]}
)";

// `text` with the first `from` replaced.
inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const std::size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? out : out.replace(at, from.size(), to);
}

inline Config config_of(std::string_view text) {
  auto result = load_text("f.yaml", text, test_environment());
  if (!result) {
    for (const Diagnostic& d : result.error()) ADD_FAILURE() << to_text(d);
    return {};
  }
  return *std::move(result);
}

}  // namespace qq::config
