// queqiao version
#include <ostream>

#include "app/cli/commands.h"

namespace qq::app::cli {

int run_version(const VersionOptions& /*options*/, const Streams& streams) {
  streams.out << "queqiao " QQ_VERSION "\n";
  return kGood;
}

int run_version(const VersionOptions& options) {
  return on_process_streams([&](const Streams& streams) { return run_version(options, streams); });
}

}  // namespace qq::app::cli
