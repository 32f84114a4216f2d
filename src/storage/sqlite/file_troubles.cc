#include "storage/sqlite/file_troubles.h"

namespace qq::storage {

Error FileTroubles::without_file(WallTime now, Error error) {
  if (error.kind != ErrorKind::Internal && error.kind != ErrorKind::Saturated) return error;
  {
    const std::lock_guard lock(mutex_);
    const bool is_news = now < reported_ || now - reported_ >= kReportEvery;
    if (is_news && report_) {
      reported_ = now;
      report_(error.message);
    }
  }
  if (error.kind == ErrorKind::Internal) {
    error.message = store_ + " failed";
  } else {
    error.message = store_ + " is busy or full; try again later";
    error.retry_after = std::chrono::seconds(1);
  }
  return error;
}

}  // namespace qq::storage
