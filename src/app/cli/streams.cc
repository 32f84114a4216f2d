#include "app/cli/streams.h"

#include <fmt/core.h>

#include <iostream>
#include <sstream>

namespace qq::app::cli {

int on_process_streams(const std::function<int(const Streams&)>& command) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = command({std::cin, out, err});
  fmt::print(stdout, "{}", out.str());
  fmt::print(stderr, "{}", err.str());
  return code;
}

}  // namespace qq::app::cli
