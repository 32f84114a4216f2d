// A log file of a test, removed at the end.
#pragma once
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace qq::telemetry {

class CapturedLog {
 public:
  CapturedLog() {
    std::string pattern = "/tmp/qq_log_XXXXXX";
    const int fd = ::mkstemp(pattern.data());
    if (fd >= 0) ::close(fd);
    path_ = pattern;
  }
  ~CapturedLog() { ::unlink(path_.c_str()); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> result;
    std::ifstream in(path_);
    for (std::string line; std::getline(in, line);) result.push_back(line);
    return result;
  }

 private:
  std::string path_;
};

}  // namespace qq::telemetry
