#include "app/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <string>

#include "app/cli/client_key.h"
#include "app/cli/streams.h"

namespace qq::app::cli {
namespace {

constexpr auto kAbout =
    "Queqiao, a gateway for AI models: one endpoint, many providers.\n"
    "\n"
    "Examples:\n"
    "  queqiao demo                              try it, with simulated providers\n"
    "  queqiao check queqiao.yaml                tell every mistake in a configuration\n"
    "  queqiao serve --config queqiao.yaml       run the gateway\n"
    "  queqiao keys new --with-pepper            make the first client key\n"
    "\n"
    "Exit codes: 0 good, 1 failed, 2 used wrongly. `queqiao COMMAND --help` tells more.";

constexpr auto kServe =
    "Run the gateway. SIGHUP and changes of the file reload it, SIGTERM drains, SIGUSR1 opens its log "
    "again.\n"
    "\n"
    "Examples:\n"
    "  queqiao serve --config /etc/queqiao/queqiao.yaml\n"
    "  OPENAI_API_KEY=… QUEQIAO_KEY_PEPPER=… queqiao serve --config examples/queqiao.yaml";

constexpr auto kDemo =
    "Run the gateway with simulated providers and print a key and a curl line that works.\n"
    "Providers whose keys are in the environment are added beside the simulated ones.\n"
    "\n"
    "Examples:\n"
    "  queqiao demo\n"
    "  queqiao demo --listen 127.0.0.1:0 --json        any free port; one JSON line tells which\n"
    "  OPENAI_API_KEY=… queqiao demo";

constexpr auto kSimProvider =
    "Run a simulated provider that speaks the dialects of all of them: plays recordings and injects faults.\n"
    "\n"
    "Examples:\n"
    "  queqiao sim-provider --listen 127.0.0.1:9090\n"
    "  queqiao sim-provider --recordings ./recordings --scenario outage.json";

constexpr auto kKeys = "Make client keys and their hashes for the configuration.";

constexpr auto kKeysNew =
    "Make a client key. Prints the key (once: nothing keeps it), its hash and the entry for the "
    "configuration.\n"
    "\n"
    "Examples:\n"
    "  queqiao keys new --with-pepper --name demo      the first key of a server: makes its pepper too\n"
    "  QUEQIAO_KEY_PEPPER=… queqiao keys new --name billing\n"
    "  queqiao keys new --name billing --pepper-file /run/secrets/pepper";

constexpr auto kKeysHash =
    "Hash a key that you already have. Reads it from standard input, so that it is in no process list.\n"
    "\n"
    "Examples:\n"
    "  queqiao keys hash --name old-app < key.txt\n"
    "  queqiao keys hash --pepper-file /run/secrets/pepper < key.txt";

constexpr auto kCheck =
    "Check a configuration: every mistake with its line and column, or a summary. Starts and connects "
    "nothing.\n"
    "\n"
    "Examples:\n"
    "  queqiao check queqiao.yaml && kill -HUP $(pidof queqiao)";

constexpr auto kSchema =
    "Print the JSON Schema of the configuration, for editors.\n"
    "\n"
    "Examples:\n"
    "  queqiao schema > queqiao.schema.json            then begin the file with\n"
    "                                                  # yaml-language-server: $schema=./queqiao.schema.json";

constexpr auto kTranslate =
    "Translate a body from standard input between two dialects, as the gateway does: a request from a "
    "client's\n"
    "dialect to a provider's, an answer or a stream from a provider's to a client's. What is lost is told on "
    "stderr.\n"
    "\n"
    "Dialects: openai_chat, openai_responses, anthropic, gemini; of providers also bedrock, cohere, ollama\n"
    "\n"
    "Examples:\n"
    "  queqiao translate --from anthropic --to openai_chat < request.json\n"
    "  queqiao translate --from openai_chat --to gemini --what stream < events.txt";

constexpr auto kVersion = "Print the version.";

void add_pepper(CLI::App& command, PepperSource& pepper) {
  auto* variable =
      command.add_option("--pepper-env", pepper.variable, "Environment variable that holds the pepper")
          ->type_name("VAR")
          ->capture_default_str();
  command.add_option("--pepper-file", pepper.file, "File that holds the pepper, instead")
      ->type_name("FILE")
      ->excludes(variable);
}

// CLI11 keeps references to the options while it parses, so they live in one place.
struct Options {
  ServeOptions serve;
  DemoOptions demo;
  SimProviderOptions sim_provider;
  KeysNew keys_new;
  KeysHash keys_hash;
  CheckOptions check;
  SchemaOptions schema;
  TranslateOptions translate;
};

}  // namespace

Command parse_command_line(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  Options options;
  CLI::App app(kAbout, "queqiao");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Show this help");
  app.failure_message(CLI::FailureMessage::simple);

  auto* serve = app.add_subcommand("serve", kServe);
  serve->add_option("-c,--config", options.serve.config, "Configuration file")->type_name("FILE")->required();
  serve->add_option("--log", options.serve.log, "Append log lines to this file (default: stderr)")
      ->type_name("FILE");

  auto* demo = app.add_subcommand("demo", kDemo);
  demo->add_option("--listen", options.demo.listen, "Address and port")
      ->type_name("ADDR")
      ->capture_default_str();
  demo->add_flag("--json", options.demo.json, "Print one JSON object as the first line instead of text");
  demo->add_option("--key", options.demo.key, "The client key (default: a random one)")
      ->type_name("KEY")
      ->check([](const std::string& key) { return key.empty() ? std::string() : key_mistake(key); });

  auto* sim_provider = app.add_subcommand("sim-provider", kSimProvider);
  sim_provider->add_option("--listen", options.sim_provider.listen, "Address and port")
      ->type_name("ADDR")
      ->capture_default_str();
  sim_provider->add_option("--recordings", options.sim_provider.recordings, "Folder with recorded exchanges")
      ->type_name("DIR");
  sim_provider->add_option("--scenario", options.sim_provider.scenario, "Scenario file with faults")
      ->type_name("FILE");
  sim_provider
      ->add_option("--fault-listen", options.sim_provider.fault_listen,
                   "A second port that POST /sim/listener closes and opens")
      ->type_name("ADDR");
  auto* sim_certificate =
      sim_provider->add_option("--tls-cert", options.sim_provider.tls_certificate, "Certificate for HTTPS")
          ->type_name("FILE");
  auto* sim_key =
      sim_provider->add_option("--tls-key", options.sim_provider.tls_key, "Its key")->type_name("FILE");
  sim_certificate->needs(sim_key);
  sim_key->needs(sim_certificate);
  sim_provider
      ->add_option("--keep-requests", options.sim_provider.keep_requests,
                   "How many requests /sim/requests remembers")
      ->type_name("N")
      ->capture_default_str();
  sim_provider->add_flag("--lenient", options.sim_provider.lenient,
                         "Answer requests that the real providers would refuse");

  auto* keys = app.add_subcommand("keys", kKeys);
  keys->require_subcommand(1);
  auto* keys_new = keys->add_subcommand("new", kKeysNew);
  keys_new->add_option("--name", options.keys_new.name, "Name of the key in the configuration and in logs")
      ->type_name("NAME")
      ->capture_default_str();
  add_pepper(*keys_new, options.keys_new.pepper);
  keys_new->add_flag("--with-pepper", options.keys_new.with_pepper, "Make a pepper, too")
      ->excludes("--pepper-env")
      ->excludes("--pepper-file");
  auto* keys_hash = keys->add_subcommand("hash", kKeysHash);
  keys_hash->add_option("--name", options.keys_hash.name, "Name of the key in the configuration and in logs")
      ->type_name("NAME")
      ->capture_default_str();
  add_pepper(*keys_hash, options.keys_hash.pepper);

  auto* check = app.add_subcommand("check", kCheck);
  check->add_option("FILE", options.check.config, "Configuration file")->required();

  auto* schema = app.add_subcommand("schema", kSchema);
  schema->add_flag("--markdown", options.schema.markdown, "Print the reference as Markdown tables instead");

  auto* translate = app.add_subcommand("translate", kTranslate);
  translate->add_option("--from", options.translate.from, "The dialect of the body")
      ->type_name("DIALECT")
      ->required();
  translate->add_option("--to", options.translate.to, "The dialect it is wanted in")
      ->type_name("DIALECT")
      ->required();
  translate->add_option("--what", options.translate.what, "What the body is")
      ->check(CLI::IsMember({"request", "answer", "stream"}))
      ->capture_default_str();
  translate->add_option("--kind", options.translate.kind, "A provider kind, whose habits are kept")
      ->type_name("KIND");
  translate->add_option("--model", options.translate.model, "What the provider calls the model")
      ->type_name("NAME");
  translate->add_option("--name", options.translate.name, "What the client calls the model")
      ->type_name("NAME");

  app.add_subcommand("version", kVersion);
  app.set_version_flag("--version", [] { return std::string(); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    return VersionOptions{};
  } catch (const CLI::ParseError& error) {
    const bool help = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    app.exit(error, out, err);
    return ExitNow{help ? kGood : kUsage};
  }
  if (serve->parsed()) return options.serve;
  if (demo->parsed()) return options.demo;
  if (sim_provider->parsed()) return options.sim_provider;
  if (keys_new->parsed()) return options.keys_new;
  if (keys_hash->parsed()) return options.keys_hash;
  if (check->parsed()) return options.check;
  if (schema->parsed()) return options.schema;
  if (translate->parsed()) return options.translate;
  return VersionOptions{};
}

Command parse_command_line(int argc, const char* const* argv) {
  Command command;
  const int code = on_process_streams([&](const Streams& streams) {
    command = parse_command_line(argc, argv, streams.out, streams.err);
    return kGood;
  });
  return code == kGood ? command : ExitNow{code};
}

}  // namespace qq::app::cli
