// What a command reads, prints and complains to; the process's own streams, or a test's.
#pragma once
#include <functional>
#include <iosfwd>

namespace qq::app::cli {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

// Runs the command on the process's standard streams; what it wrote appears when it returns.
int on_process_streams(const std::function<int(const Streams&)>& command);

}  // namespace qq::app::cli
