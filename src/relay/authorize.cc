#include "relay/authorize.h"

#include "base/assert.h"
#include "relay/authorizer.h"

namespace qq::relay {

Task<Result<>> authorize(LoopServices& services, UpstreamCall& call, std::string& lines, const Timers& timers,
                         net::Scope scope) {
  QQ_ASSERT(services.authorizer != nullptr);
  Result<std::string> made = co_await services.authorizer->header_lines(call, timers, scope);
  if (!made) co_return fail(std::move(made).error());
  lines = *std::move(made);
  call.auth_lines = lines;
  co_return Result<>();
}

}  // namespace qq::relay
