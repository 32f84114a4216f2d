// Looks at the files that a configuration names for TLS, as starting does: they are there, they hold what
// they should, and each key belongs to its certificate. Reads files, so not for an event loop's thread.
#pragma once
#include <string>
#include <vector>

#include "config/config.h"

namespace qq::config {

// One message for each field whose file cannot be used: "listeners[0].tls.key: …". None: all are good.
std::vector<std::string> tls_file_mistakes(const Config& config);

}  // namespace qq::config
