// The memory of one request's body, counted for the process while it is held. It travels with the request,
// which gives it back together with the body.
#pragma once
#include <string>
#include <utility>

#include "relay/loop_services.h"

namespace qq::relay {

// From the 80 % step of memory on, larger bodies are refused.
inline constexpr std::size_t kLargeBody = 1U << 20U;

class BodyBudget {
 public:
  BodyBudget() noexcept = default;
  BodyBudget(BodyBudget&& other) noexcept
      : services_(other.services_), bytes_(std::exchange(other.bytes_, 0)) {}
  BodyBudget& operator=(BodyBudget&&) = delete;
  ~BodyBudget() { release(); }

  // False if the process's limit forbids it. Always with the same loop's services, which outlive it.
  bool grow_to(LoopServices& services, std::size_t bytes) noexcept {
    const auto more = static_cast<std::int64_t>(bytes - bytes_);
    if (more == 0) return true;
    services_ = &services;
    auto& total = services.process.bodies_in_flight_bytes;
    const std::int64_t now = total.fetch_add(more, std::memory_order_relaxed) + more;
    if (now > static_cast<std::int64_t>(services.snapshot->limits.bodies_in_flight_max)) {
      total.fetch_sub(more, std::memory_order_relaxed);
      return false;
    }
    services.counters.bodies_in_flight_bytes.add(more);
    bytes_ = bytes;
    return true;
  }

  // For what is added to it. False: as above, and it is as it was.
  bool grow_by(LoopServices& services, std::size_t more) noexcept { return grow_to(services, bytes_ + more); }

  // Together with the body, whose buffer may serve another.
  void release(std::string body) noexcept {
    if (services_ != nullptr) services_->spare_bodies.give_back(std::move(body));
    release();
  }

 private:
  void release() noexcept {
    if (bytes_ == 0) return;
    const auto less = static_cast<std::int64_t>(std::exchange(bytes_, 0));
    services_->process.bodies_in_flight_bytes.fetch_sub(less, std::memory_order_relaxed);
    services_->counters.bodies_in_flight_bytes.add(-less);
  }

  LoopServices* services_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace qq::relay
