// What the tests of stores share. For tests only.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "net/epoll_loop.h"
#include "net/test_support.h"
#include "relay/response_store.h"

namespace qq::storage::testing_support {

inline const WallTime kStart{std::chrono::seconds(1'800'000'000)};

inline relay::ResponseLimits roomy() {
  return {.ttl = std::chrono::hours(24),
          .entry_bytes_max = 1U << 20U,
          .owner_bytes_max = 16U << 20U,
          .owner_entries_max = 1'000,
          .total_bytes_max = 64U << 20U};
}

// A folder of its own, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "qq_storage_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// `bytes` of response and a little input.
inline relay::StoredResponse answer(std::string id, std::size_t bytes = 10, char letter = 'a') {
  relay::StoredResponse response;
  response.id = std::move(id);
  response.created = kStart;
  response.model = "m";
  response.response = std::string(bytes, letter);
  response.input = "[]";
  return response;
}

inline relay::ConversationItem item(std::string id, std::size_t bytes = 10, char letter = 'i') {
  return {std::move(id), std::string(bytes, letter)};
}

inline relay::Conversation conversation(std::string id) {
  relay::Conversation made;
  made.id = std::move(id);
  made.created = kStart;
  made.metadata = "{}";
  return made;
}

// Long enough never to matter.
inline net::Scope within(net::EventLoop& loop) {
  return net::testing::patiently(loop);
}

template <typename T>
Task<void> keep_result(Task<T> task, std::optional<T>& result) {
  result.emplace(co_await std::move(task));
}

// Runs the loop until the task is done.
template <typename T>
T wait_for(net::EventLoop& loop, Task<T> task) {
  std::optional<T> result;
  net::testing::run_task(loop, keep_result(std::move(task), result));
  return *std::move(result);
}

}  // namespace qq::storage::testing_support
