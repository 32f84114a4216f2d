#include "downstream/local_endpoints.h"

namespace qq::downstream {
LocalReply readiness(const relay::LoopServices& services) {
  LocalReply reply;
  if (services.process.draining.load(std::memory_order_relaxed)) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"draining"})";
  } else if (services.snapshot->public_names.empty()) {
    reply.status = 503;
    reply.body = R"({"ready":false,"reason":"no route is configured"})";
  } else {
    reply.body = R"({"ready":true})";
  }
  return reply;
}

}  // namespace qq::downstream
