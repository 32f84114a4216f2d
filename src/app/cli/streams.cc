#include "app/cli/streams.h"

#include <iostream>

namespace qq::app::cli {

Streams process_streams() { return {std::cin, std::cout, std::cerr}; }

}  // namespace qq::app::cli
