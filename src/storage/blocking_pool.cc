#include "storage/blocking_pool.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>

#include "base/assert.h"

namespace qq::storage {

bool Handover::abandoned() {
  const std::lock_guard lock(mutex_);
  return loop_ == nullptr;
}

void Handover::deliver(std::move_only_function<void()> function) {
  // Under the lock, so that the coroutine, and with it the loop, cannot go meanwhile.
  const std::lock_guard lock(mutex_);
  if (loop_ == nullptr) return;
  loop_->post([this, function = std::move(function)]() mutable {
    function();
    arrived_.set();
  });
}

void Handover::abandon() noexcept {
  const std::lock_guard lock(mutex_);
  loop_ = nullptr;
}

BlockingPool::BlockingPool(Options options) : options_(std::move(options)) {
  QQ_ASSERT(options_.threads > 0);
  // Signals belong to the loops and the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (std::size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work_off(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

BlockingPool::~BlockingPool() {
  std::deque<Job> left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    left.swap(jobs_);
    bytes_ = 0;
    owners_.clear();
  }
  changed_.notify_all();
  for (Job& job : left) job.function(Fate::Drop);
  for (std::thread& thread : threads_) thread.join();
}

// A job that is larger than a bound may wait alone.
bool BlockingPool::has_room_for(const Job& job) const {
  const bool heavy = !jobs_.empty() && bytes_ + job.bytes > options_.queue_bytes_max;
  if (heavy || jobs_.size() >= options_.queue_max) return false;
  const auto own = owners_.find(job.owner);
  if (own == owners_.end()) return true;
  return own->second.bytes + job.bytes <= options_.queue_bytes_max / options_.owner_share &&
         own->second.jobs < options_.queue_max / options_.owner_share;
}

Result<> BlockingPool::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return fail(shutting_down());
    if (!has_room_for(job)) {
      Error error = Error::gateway(ErrorKind::Saturated, "too much waits for storage; try again later");
      error.retry_after = std::chrono::seconds(1);
      return fail(std::move(error));
    }
    bytes_ += job.bytes;
    if (!job.owner.empty()) {
      Waiting& own = owners_[job.owner];
      own.bytes += job.bytes;
      ++own.jobs;
    }
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return {};
}

void BlockingPool::work_off() {
  pthread_setname_np(pthread_self(), options_.name.c_str());
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      bytes_ -= job.bytes;
      if (const auto own = owners_.find(job.owner); own != owners_.end()) {
        own->second.bytes -= job.bytes;
        if (--own->second.jobs == 0) owners_.erase(own);
      }
    }
    job.function(Fate::Run);
  }
}

Error BlockingPool::shutting_down() {
  return Error::gateway(ErrorKind::ShuttingDown, "the gateway is shutting down");
}

Error BlockingPool::ended(net::Wake wake, const net::Scope& scope) {
  if (wake == net::Wake::Cancelled) return net::cancelled_error(scope);
  return Error::gateway(ErrorKind::TotalTimeout, "storage took too long; try again later");
}

}  // namespace qq::storage
