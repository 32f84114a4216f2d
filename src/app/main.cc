#include <fmt/core.h>

int main() {
  fmt::print("queqiao 0.1.0\n");
  return 0;
}
