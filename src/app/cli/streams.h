// What a command reads, prints and complains to; the process's own streams, or a test's.
#pragma once
#include <iosfwd>

namespace qq::app::cli {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

// std::cin, std::cout, std::cerr.
Streams process_streams();

}  // namespace qq::app::cli
