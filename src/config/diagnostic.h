// What is wrong with a configuration file and where: every mistake, not only the first.
//
// Messages never hold a secret: values of secret fields and values that came from the environment or a file
// are not repeated, only named by their place.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace qq::config {

// A place in the file, as editors count: lines from 1, columns from 1 in characters (not bytes).
struct Mark {
  int line = 1;
  int column = 1;
  auto operator<=>(const Mark&) const = default;
};

struct Diagnostic {
  std::string file;
  int line = 1;  // 0: the file itself is wrong, not a place in it
  int column = 1;
  std::string message;
  bool operator==(const Diagnostic&) const = default;
};

// "queqiao.yaml:12:5: timers.connect: …", or "queqiao.yaml: cannot be opened: …"
std::string to_text(const Diagnostic& diagnostic);

// Collects the mistakes of one file. Past a cap it only says that there are more.
class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}
  void add(Mark mark, std::string message);
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
  // Further mistakes are only counted: their messages need not be composed.
  [[nodiscard]] bool full() const noexcept { return list_.size() >= kMaxShown; }
  // In the order of the file.
  [[nodiscard]] std::vector<Diagnostic> take();

 private:
  static constexpr std::size_t kMaxShown = 200;
  std::string file_;
  std::vector<Diagnostic> list_;
  std::size_t dropped_ = 0;
};

}  // namespace qq::config
