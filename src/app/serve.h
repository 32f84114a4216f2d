// `queqiao serve`: runs the gateway until a signal says otherwise.
#pragma once
#include <string>

namespace qq::app {

// Log lines go to `log_path`, to stderr if that is empty. Exit code 0 after an orderly end, 1 if it could not
// start.
int run_serve(const std::string& config_path, const std::string& log_path);

}  // namespace qq::app
