// The command line as data: what the operator asked for. The only user of CLI11 is command_line.cc.
//
// Exit codes of the whole program: 0 good, 1 failed, 2 used wrongly.
#pragma once
#include <iosfwd>
#include <string>
#include <variant>

namespace qq::app::cli {

inline constexpr int kGood = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// queqiao serve --config FILE [--log FILE]
struct ServeOptions {
  std::string config;
  std::string log;  // empty: stderr
};

// queqiao demo [--listen ADDR] [--json] [--key KEY]
struct DemoOptions {
  std::string listen = "127.0.0.1:8080";
  bool json = false;
  std::string key;  // empty: a random one
};

// queqiao sim-provider [--listen ADDR] [--recordings DIR] [--scenario FILE] [--fault-listen ADDR]
//                      [--tls-cert FILE --tls-key FILE] [--keep-requests N]
struct SimProviderOptions {
  std::string listen = "127.0.0.1:9090";
  std::string recordings;    // empty: none
  std::string scenario;      // empty: none
  std::string fault_listen;  // empty: no second port
  std::string tls_certificate;
  std::string tls_key;
  std::size_t keep_requests = 256;
  bool lenient = false;  // answers what the vendors would refuse
};

// Where the pepper of client keys is.
struct PepperSource {
  std::string variable = "QUEQIAO_KEY_PEPPER";
  std::string file;  // instead of the variable, unless empty
};

// queqiao keys new [--name NAME] [--pepper-env VAR | --pepper-file FILE | --with-pepper]
struct KeysNew {
  PepperSource pepper;
  bool with_pepper = false;  // make one, for the first key of a server
  std::string name = "my-app";
};

// queqiao keys hash [--name NAME] [--pepper-env VAR | --pepper-file FILE]     (the key comes on stdin)
struct KeysHash {
  PepperSource pepper;
  std::string name = "my-app";
};

// queqiao check FILE
struct CheckOptions {
  std::string config;
};

// queqiao schema [--markdown]
struct SchemaOptions {
  bool markdown = false;  // the reference of docs/configuration.md instead
};

// queqiao translate --from DIALECT --to DIALECT [--what request|answer|stream] [--kind KIND] [--model NAME]
//                   [--name NAME]                                                 (the body comes on stdin)
struct TranslateOptions {
  std::string from;
  std::string to;
  std::string what = "request";
  std::string kind;   // of the provider, an entry of the catalogue; empty: no habits
  std::string model;  // what the provider calls it; empty: as the request does
  std::string name;   // Gemini's requests have no model in their bodies; what an answer is to call it
};

// queqiao version
struct VersionOptions {};

// Everything was said already: help was asked for, or the command line is wrong.
struct ExitNow {
  int code = kGood;
};

using Command = std::variant<ServeOptions, DemoOptions, SimProviderOptions, KeysNew, KeysHash, CheckOptions,
                             SchemaOptions, TranslateOptions, VersionOptions, ExitNow>;

// Help goes to `out`, what is wrong to `err`.
Command parse_command_line(int argc, const char* const* argv, std::ostream& out, std::ostream& err);
// The same with the process's own streams.
Command parse_command_line(int argc, const char* const* argv);

}  // namespace qq::app::cli
