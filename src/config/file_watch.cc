#include "config/file_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/assert.h"
#include "config/debounce.h"

namespace qq::config {
namespace {

namespace fs = std::filesystem;

// IN_CREATE is for links: a new file tells more when it is closed.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR;

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? std::string() : real.string();
}

}  // namespace

Result<FileWatch> FileWatch::open(const std::string& path) {
  const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) {
    return fail(
        Error::gateway(ErrorKind::Config, std::string("inotify is not available: ") + std::strerror(errno)));
  }
  FileWatch watch(fd, path);
  if (inotify_add_watch(fd, folder_of(path).c_str(), kEvents) < 0) {
    return fail(Error::gateway(ErrorKind::Config,
                               "the folder of " + path + " cannot be watched: " + std::strerror(errno)));
  }
  watch.follow_links();
  return watch;
}

FileWatch::FileWatch(int fd, std::string path)
    : fd_(fd), path_(std::move(path)), name_(fs::path(path_).filename().string()) {}

FileWatch::FileWatch(FileWatch&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      real_path_(std::move(other.real_path_)),
      real_name_(std::move(other.real_name_)),
      real_watch_(other.real_watch_) {}

FileWatch::~FileWatch() {
  if (fd_ >= 0) ::close(fd_);
}

bool FileWatch::follow_links() {
  std::string real = resolved(path_);
  if (real == real_path_) return false;
  real_path_ = std::move(real);
  real_name_ = fs::path(real_path_).filename().string();
  const int before = std::exchange(real_watch_, -1);
  const std::string own_folder = resolved(folder_of(path_));
  if (!real_path_.empty() && folder_of(real_path_) != own_folder) {
    // Failing is no error: the path's own folder is still watched.
    real_watch_ = inotify_add_watch(fd_, folder_of(real_path_).c_str(), kEvents);
  }
  if (before >= 0 && before != real_watch_) inotify_rm_watch(fd_, before);
  // A path that leads nowhere is a moment between two files; there is nothing to read yet. A file in its own
  // folder has appeared, but may still be written: its close tells.
  return !real_path_.empty() && fs::path(real_path_) != fs::path(own_folder) / name_;
}

bool FileWatch::drain() {
  bool changed = false;
  alignas(inotify_event) std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t size = ::read(fd_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const std::string_view name = event.len > 0 ? std::string_view(buffer.data() + at + sizeof event) : "";
      const bool complete = (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0;
      if (complete && (name == name_ || (event.wd == real_watch_ && name == real_name_))) changed = true;
      // The kernel's queue overflowed: something was lost, so look.
      if ((event.mask & IN_Q_OVERFLOW) != 0) changed = true;
      at += sizeof event + event.len;
    }
  }
  return follow_links() || changed;
}

FileWatcher::FileWatcher(FileWatch watch, std::function<void()> changed, Milliseconds quiet)
    : watch_(std::move(watch)),
      changed_(std::move(changed)),
      stop_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  QQ_ASSERT(stop_fd_ >= 0);
  thread_ = std::thread([this, quiet] { run(quiet); });
}

FileWatcher::~FileWatcher() {
  const std::uint64_t one = 1;
  QQ_ASSERT(::write(stop_fd_, &one, sizeof one) == sizeof one);
  thread_.join();
  ::close(stop_fd_);
}

void FileWatcher::run(Milliseconds quiet) {
  Debounce debounce(quiet);
  while (true) {
    int wait = -1;
    if (const auto due = debounce.due_at()) {
      const auto left = std::chrono::ceil<Milliseconds>(*due - std::chrono::steady_clock::now());
      wait = static_cast<int>(std::max<Milliseconds::rep>(left.count(), 0));
    }
    std::array<pollfd, 2> fds{pollfd{watch_.fd(), POLLIN, 0}, pollfd{stop_fd_, POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), wait) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    if (fds[0].revents != 0 && watch_.drain()) debounce.note(std::chrono::steady_clock::now());
    if (debounce.take(std::chrono::steady_clock::now())) changed_();
  }
}

}  // namespace qq::config
