// queqiao keys new | hash
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <expected>
#include <istream>
#include <ostream>
#include <string>

#include "admission/key_format.h"
#include "admission/key_hash.h"
#include "app/cli/client_key.h"
#include "app/cli/commands.h"
#include "base/hex.h"
#include "base/random.h"

namespace qq::app::cli {
namespace {

// A guess: 20 random letters and digits are 119 bits, which is beyond guessing; words are less.
constexpr std::size_t kShortKey = 20;
constexpr std::string_view kDefaultVariable = "QUEQIAO_KEY_PEPPER";

std::expected<Secret, std::string> read_pepper(const PepperSource& source,
                                               const config::Environment& environment) {
  // As the configuration reads it, so that both see the same bytes.
  const std::string reference = source.file.empty() ? fmt::format("${{{}}}", source.variable)
                                                    : fmt::format("${{file:{}}}", source.file);
  auto value = config::expand(reference, environment);
  if (value && value->text.size() >= admission::KeyHasher::kPepperMin) return Secret(std::move(value->text));
  const std::string place = source.file.empty() ? fmt::format("the environment variable {}", source.variable)
                                                : fmt::format("the file {}", source.file);
  const std::string problem =
      value                 ? fmt::format("holds fewer than {} characters", admission::KeyHasher::kPepperMin)
      : source.file.empty() ? std::string("is not set")
                            : std::string("cannot be read");
  return std::unexpected(fmt::format(
      "no pepper: {} {}.\nFor the first key of a server let one be made: queqiao keys new --with-pepper",
      place, problem));
}

// 256 random bits as hexadecimal digits: no quoting needed anywhere.
std::string make_pepper() {
  std::array<std::byte, 32> bytes{};
  fill_with_secure_random(bytes);
  return to_hex(bytes);
}

std::string pepper_line(const PepperSource& source) {
  return source.file.empty() ? fmt::format("key_pepper: \"${{{}}}\"", source.variable)
                             : fmt::format("key_pepper: \"${{file:{}}}\"", source.file);
}

void print_entry(std::ostream& out, const PepperSource& pepper, const std::string& name,
                 const std::string& hash) {
  out << "\n# For the configuration:\n"
      << pepper_line(pepper) << "\nkeys:\n"
      << fmt::format("  - {{name: \"{}\", hash: \"{}\"}}\n", name, hash);
}

// A name that the configuration will accept.
bool good_name(std::string_view name) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 64 && alphanumeric(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

// Whether the input has another line with something in it: nobody knows then which one is meant.
bool more_follows(const Streams& streams) {
  if (streams.input == Streams::Input::Typed) return false;
  for (char c = 0; streams.in.get(c);) {
    if (c != '\n' && c != '\r') return true;
  }
  return false;
}

int refuse_name(std::ostream& err) {
  err << "--name: at most 64 letters, digits, '.', '_' and '-', beginning with a letter or digit\n";
  return kUsage;
}

}  // namespace

int run_keys_new(const KeysNew& options, const config::Environment& environment, const Streams& streams) {
  if (!good_name(options.name)) return refuse_name(streams.err);
  std::string made;
  Secret pepper;
  if (options.with_pepper) {
    made = make_pepper();
    pepper = Secret(made);
  } else {
    auto read = read_pepper(options.pepper, environment);
    if (!read) {
      streams.err << read.error() << '\n';
      return kFailed;
    }
    pepper = *std::move(read);
  }
  const auto hasher = admission::KeyHasher::make(pepper);
  if (!hasher) {
    streams.err << hasher.error().message << '\n';
    return kFailed;
  }
  const Secret key = admission::make_key();
  const std::string hash = admission::to_text(hasher->digest(key.reveal()));
  streams.out << "key:    " << key.reveal() << "     (give it to its user; it is not kept)\n"
              << "hash:   " << hash << '\n';
  if (options.with_pepper) {
    streams.out << "pepper: " << made << "     (a secret of the server; all its keys need the same one)\n"
                << "\n# For the shell that starts the server:\n"
                << "export " << kDefaultVariable << '=' << made << '\n';
  }
  print_entry(streams.out, options.with_pepper ? PepperSource{} : options.pepper, options.name, hash);
  return kGood;
}

int run_keys_hash(const KeysHash& options, const config::Environment& environment, const Streams& streams) {
  if (!good_name(options.name)) return refuse_name(streams.err);
  const auto pepper = read_pepper(options.pepper, environment);
  if (!pepper) {
    streams.err << pepper.error() << '\n';
    return kFailed;
  }
  std::string line;
  std::getline(streams.in, line);
  if (line.ends_with('\r')) line.pop_back();
  const Secret key(std::move(line));
  if (more_follows(streams)) {
    streams.err << "expected a key on standard input, one line: there is more than one\n";
    return kFailed;
  }
  const std::string_view text = key.reveal();
  if (const std::string mistake = key_mistake(text); !mistake.empty()) {
    streams.err << "expected a key on standard input, one line: " << mistake << '\n';
    return kFailed;
  }
  if (text.size() < kShortKey) {
    streams.err << fmt::format(
        "warning: a key of fewer than {} characters can be guessed; queqiao keys new makes a good one\n",
        kShortKey);
  }
  const auto hasher = admission::KeyHasher::make(*pepper);
  if (!hasher) {
    streams.err << hasher.error().message << '\n';
    return kFailed;
  }
  const std::string hash = admission::to_text(hasher->digest(text));
  streams.out << "hash: " << hash << '\n';
  print_entry(streams.out, options.pepper, options.name, hash);
  return kGood;
}

int run_keys_new(const KeysNew& options) {
  return on_process_streams([&](const Streams& streams) {
    return run_keys_new(options, config::Environment::of_process(config::Pipes::Await), streams);
  });
}
int run_keys_hash(const KeysHash& options) {
  return on_process_streams([&](const Streams& streams) {
    return run_keys_hash(options, config::Environment::of_process(config::Pipes::Await), streams);
  });
}

}  // namespace qq::app::cli
