// queqiao schema
#include "config/schema.h"

#include <ostream>

#include "app/cli/commands.h"

namespace qq::app::cli {

int run_schema(const SchemaOptions& options, const Streams& streams) {
  streams.out << (options.markdown ? config::reference_markdown() : config::json_schema());
  return kGood;
}

int run_schema(const SchemaOptions& options) {
  return on_process_streams([&](const Streams& streams) { return run_schema(options, streams); });
}

}  // namespace qq::app::cli
