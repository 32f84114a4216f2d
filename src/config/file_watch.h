// Tells when a file was written or replaced, by inotify on its folder: editors write a new file and rename
// it, and container platforms swap a link that the path goes through.
#pragma once
#include <functional>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"

namespace qq::config {

class FileWatch {
 public:
  // The file need not exist, its folder must. Errors: Config.
  static Result<FileWatch> open(const std::string& path);
  FileWatch(FileWatch&& other) noexcept;
  FileWatch& operator=(FileWatch&&) = delete;
  ~FileWatch();

  // Becomes readable when something happened in the folder; non-blocking, for any poller.
  [[nodiscard]] int fd() const noexcept { return fd_; }

  // Reads all events. True if one of them closed the file after writing, put another in its place, or made
  // the path lead elsewhere. A file that is still being written does not count.
  [[nodiscard]] bool drain();

 private:
  FileWatch(int fd, std::string path);
  // Watches the folder that the path leads to in the end, if it is another than its own. True if it changed.
  bool follow_links();

  int fd_;
  std::string path_;
  std::string name_;       // of the file in its folder
  std::string real_path_;  // where the path leads; empty if nowhere
  std::string real_name_;
  int real_watch_ = -1;
};

// A thread that calls `changed` once for each burst of changes, `quiet` after the last one. The destructor
// stops and joins it; `changed` runs on that thread and must return.
class FileWatcher {
 public:
  static constexpr Milliseconds kQuiet{200};  // editors and `kubectl apply` finish well within it
  FileWatcher(FileWatch watch, std::function<void()> changed, Milliseconds quiet = kQuiet);
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;
  ~FileWatcher();

 private:
  void run(Milliseconds quiet);

  FileWatch watch_;
  std::function<void()> changed_;
  int stop_fd_;
  std::thread thread_;
};

}  // namespace qq::config
