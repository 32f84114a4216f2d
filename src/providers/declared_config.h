// What an operator says about a private back end (`providers[].adapter`), as it is written: templates and
// pointers are text. providers/declared_adapter.h makes of it what requests go by.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace qq::providers {

struct DeclaredHeaderConfig {
  std::string name;
  std::string value;
};

struct DeclaredHmacConfig {
  std::string header;
  std::string value = "{{signature}}";
  std::string algorithm = "sha256";
  std::string encoding = "hex";
  std::string secret_form = "text";
  std::string timestamp = "seconds";
  std::string string_to_sign;
  std::vector<DeclaredHeaderConfig> headers;
};

struct DeclaredAuthConfig {
  struct Header {
    std::string name;
    std::string prefix;
  };
  bool bearer = false;
  std::optional<Header> header;
  std::optional<DeclaredHmacConfig> hmac;
};

struct DeclaredRequestConfig {
  struct Roles {
    std::string system;
    std::string user = "user";
    std::string assistant = "assistant";
  };
  std::string body;
  std::string message;
  Roles roles;
  std::string text_part;
  std::string image;
  std::string tool;
  std::string tool_call;
  std::string tool_result;
};

struct DeclaredWhereConfig {
  struct Calls {
    std::string list;
    std::string index;
    std::string id;
    std::string name;
    std::string arguments;
  };
  struct Usage {
    std::string input;
    std::string output;
    std::string cache_read;
    std::string cache_write;
    std::string reasoning;
    bool input_includes_cache = true;
    bool output_includes_reasoning = true;
  };
  std::string id;
  std::string model;
  std::string text;
  std::string reasoning;
  std::string finish;
  std::optional<Calls> calls;
  Usage usage;
};

struct DeclaredStreamConfig : DeclaredWhereConfig {
  std::string format = "none";
  std::string text_is = "deltas";
  std::string type;
  std::vector<std::string> text_in;
  std::vector<std::string> reasoning_in;
  std::string done_data;
  std::string done;
  std::vector<std::string> done_in;
  std::vector<std::string> error_in;
};

struct DeclaredFinishConfig {
  std::vector<std::string> stop;
  std::vector<std::string> stop_string;
  std::vector<std::string> length;
  std::vector<std::string> tool_calls;
  std::vector<std::string> filtered;
  std::vector<std::string> refusal;
  std::vector<std::string> broken;
};

struct DeclaredErrorsConfig {
  struct Rule {
    std::optional<std::uint16_t> status;
    std::string code;
    std::string kind;
  };
  std::string code;
  std::string message;
  std::vector<std::string> ok_codes;
  std::vector<Rule> kinds;
};

struct DeclaredPollConfig {
  std::string id;
  std::string path;
  Milliseconds every{1'000};
  std::string done;
  std::vector<std::string> done_in;
  std::vector<std::string> failed_in;
  int retries = 3;
  std::string cancel_path;
  std::string cancel_method = "post";
};

struct DeclaredConfig {
  std::string path;
  std::string stream_path;
  std::vector<DeclaredHeaderConfig> headers;
  DeclaredAuthConfig auth;
  DeclaredRequestConfig request;
  DeclaredWhereConfig answer;
  DeclaredStreamConfig stream;
  DeclaredFinishConfig finish_words;
  DeclaredErrorsConfig errors;
  std::optional<DeclaredPollConfig> poll;
};

}  // namespace qq::providers
