// A client key as an operator configures it; larger set-ups keep keys in the store.
#pragma once
#include <string>
#include <vector>

namespace qq::admission {

struct KeyConfig {
  std::string name;
  std::string hash;                // "hmac-sha256:<64 hex digits>" as `queqiao keys hash` prints it
  std::string owner;               // whose requests these are; defaults to `name`
  std::vector<std::string> allow;  // route and model names; empty: all
  bool enabled = true;             // false: answered like an unknown key
};

}  // namespace qq::admission
