#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace qq::base {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "queqiao: broken invariant at %s:%d: %s\n", file, line, expression);
  std::abort();
}

}  // namespace qq::base
