#include "relay/held/holding_store.h"

#include <fmt/format.h>

#include "base/utf8_cut.h"

namespace qq::relay {

Error holding_not_found(HoldingKind kind, std::string_view id) {
  constexpr std::size_t kShown = 128;
  const bool is_file = kind == HoldingKind::File || kind == HoldingKind::MessageFile;
  Error error = Error::client(
      ErrorKind::NotFound, fmt::format("No such {}: {}", is_file ? "file" : "batch", cut_utf8(id, kShown)));
  const bool is_openais = kind == HoldingKind::File || kind == HoldingKind::Batch;
  if (is_openais) error.type = "invalid_request_error";
  if (is_openais) error.code = is_file ? "file_not_found" : "batch_not_found";
  return error;
}

}  // namespace qq::relay
