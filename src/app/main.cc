// The one place where commands meet what runs them.
#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/streams.h"
#include "app/demo.h"
#include "app/serve.h"
#include "simulator/provider/run.h"

namespace {

namespace app = qq::app;
namespace cli = qq::app::cli;

struct Run {
  int operator()(const cli::ServeOptions& options) const {
    return app::run_serve(options.config, options.log);
  }
  int operator()(const cli::DemoOptions& options) const {
    app::DemoOptions demo;
    demo.listen = options.listen;
    demo.json = options.json;
    demo.key = options.key;
    return app::run_demo(demo);
  }
  int operator()(const cli::SimProviderOptions& options) const {
    qq::simulator::SimProviderOptions simulator;
    simulator.listen = options.listen;
    simulator.recordings = options.recordings;
    simulator.scenario = options.scenario;
    simulator.fault_listen = options.fault_listen;
    simulator.tls_certificate = options.tls_certificate;
    simulator.tls_key = options.tls_key;
    simulator.requests_kept = options.keep_requests;
    simulator.strict = !options.lenient;
    return qq::simulator::run_sim_provider(simulator);
  }
  int operator()(const cli::KeysNew& options) const { return cli::run_keys_new(options); }
  int operator()(const cli::KeysHash& options) const { return cli::run_keys_hash(options); }
  int operator()(const cli::TranslateOptions& options) const { return cli::run_translate(options); }
  int operator()(const cli::CheckOptions& options) const { return cli::run_check(options); }
  int operator()(const cli::SchemaOptions& options) const { return cli::run_schema(options); }
  int operator()(const cli::VersionOptions& options) const { return cli::run_version(options); }
  int operator()(const cli::ExitNow& exit) const { return exit.code; }
};

}  // namespace

int main(int argc, char** argv) {
  cli::open_closed_descriptors();
  return std::visit(Run{}, cli::parse_command_line(argc, argv));
}
