// What goes wrong with a store's file: told to the operator with its path, to callers without.
#pragma once
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"

namespace qq::storage {

class FileTroubles {
 public:
  // Told what is wrong, at most once in ten seconds, on whichever thread finds it.
  using Report = std::function<void(std::string_view)>;

  // `store`: how callers hear of it, "the store of responses".
  FileTroubles(std::string store, Report report) : store_(std::move(store)), report_(std::move(report)) {}

  template <typename T>
  Result<T> told(WallTime now, Result<T> result) {
    if (result) return result;
    return fail(without_file(now, std::move(result).error()));
  }

 private:
  // What SQLite says names the file.
  Error without_file(WallTime now, Error error);

  static constexpr std::chrono::seconds kReportEvery{10};
  const std::string store_;
  std::mutex mutex_;  // guards the two below
  Report report_;
  WallTime reported_{};
};

}  // namespace qq::storage
