// A service account's key as Google hands it out, made for a test.
#pragma once
#include <string>

#include "fakes/rsa_keys.h"
#include "wire/json_writer.h"

namespace qq::fakes {

inline std::string service_account_json(const RsaPair& pair, std::string_view token_uri,
                                        std::string_view email = "robot@project.example") {
  std::string out;
  wire::JsonWriter(out)
      .begin_object()
      .member("type", "service_account")
      .member("project_id", "project")
      .member("private_key_id", "key-1")
      .member("private_key", std::string_view(pair.pem()))
      .member("client_email", email)
      .member("token_uri", token_uri)
      .end_object();
  return out;
}

}  // namespace qq::fakes
