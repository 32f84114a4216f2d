// The stage directions of one request: which faults, when, how fast. They come from the model's name
// ("sim-gpt+fault=reset_before_head+gap=20"), from the header x-sim-scenario ("fault=429; retry_after=1"),
// from a path segment that starts with '+' ("/+fault=early_reply/v1/..."), or from the scenario
// (scenario.h); later ones add to and override earlier ones in the order scenario, path, header, model.
// docs/sim-provider.md lists every directive and fault.
#pragma once
#include <bitset>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "wire/json.h"

namespace qq::simulator {

enum class Fault : std::uint8_t {
  // The connection.
  CloseBeforeHead,
  ResetBeforeHead,
  StallBeforeHead,
  StallInHead,
  StallAfterHead,
  StallAfterContent,
  CloseMidBody,
  ResetMidBody,
  StallMidBody,
  KeepAliveLie,
  CloseOnReuse,
  EarlyReply,
  Http10,
  Junk,
  HugeHead,
  Continue100,
  EarlyHints103,
  // Errors with a status of their own beyond `status=`.
  InsufficientQuota,
  ContextLength,
  ContentFilter,
  // A 200 that is no answer.
  EmptyRoleOnly,
  EmptyNull,
  EmptyBlank,
  EmptyReasoningOnly,
  EmptyNoChoices,
  EmptyBody,
  Html,
  WrongType,
  NoContent,
  Redirect,
  Error200,
  ErrorFirst,
  ErrorMiddle,
  ErrorLast,
  TruncatedJson,
  // Framing.
  LengthTooLong,
  LengthTooShort,
  LengthAndChunked,
  BadChunk,
  NoLastChunk,
  ChunkExtensions,
  // The stream's grammar.
  NoDone,
  NoFinish,
  DoubleDone,
  AfterDone,
  UsageRepeated,
  UsageMissing,
  UsageNegative,
  UsageAbsurd,
  // Spelling.
  BigEvent,
  TinyEvents,
  CrOnly,
  Crlf,
  Bom,
  Comments,
  BlankLines,
  LeadingSpace,
  NoSpace,
  InvalidUtf8,
  LoneSurrogate,
  Nul,
  // Content coding.
  Gzip,
  Deflate,
  Br,
  Zstd,
  BrokenGzip,
  Bomb,
  Count_,
};
std::string_view to_string(Fault fault) noexcept;
std::optional<Fault> fault_named(std::string_view name) noexcept;

// Sets of faults: several may be combined as long as they concern different layers.
class FaultSet {
 public:
  void add(Fault fault) noexcept { bits_.set(static_cast<std::size_t>(fault)); }
  void clear() noexcept { bits_.reset(); }
  [[nodiscard]] bool has(Fault fault) const noexcept { return bits_.test(static_cast<std::size_t>(fault)); }
  template <typename... Faults>
  [[nodiscard]] bool any(Faults... faults) const noexcept {
    return (has(faults) || ...);
  }
  [[nodiscard]] bool empty() const noexcept { return bits_.none(); }

 private:
  std::bitset<static_cast<std::size_t>(Fault::Count_)> bits_;
};

struct Script {
  FaultSet faults{};
  std::optional<int> status{};        // answer this instead of 200, with the vendor's error body
  std::optional<std::uint64_t> at{};  // where a mid-body fault strikes: events of a stream, bytes of a body
  std::optional<std::uint64_t> at_byte{};  // the same, in bytes of the body for streams too
  std::string retry_after{};               // sent as it stands; "date:30" becomes the HTTP date in 30 s
  std::string retry_after_ms{};
  std::string should_retry{};  // x-should-retry
  std::string vendor{};        // whose error bodies; empty: OpenAI's
  std::string play{};          // a recording, "provider/stem"

  // Pacing. `delay` is before the head, `ttft` before the first content (before the head of a plain
  // answer), `gap` between later events; each moved by up to ±jitter per cent, by `seed`.
  Milliseconds delay{0};
  Milliseconds ttft{0};
  Milliseconds gap{0};
  unsigned jitter = 0;
  std::uint64_t seed = 0;
  std::uint64_t rate = 0;   // bytes a second; 0: no limit
  std::uint64_t split = 0;  // bytes per write; 0: as they come
  std::uint64_t chunk = 0;  // bytes per HTTP chunk; 0: one per event
  std::uint64_t size = 0;   // of the big event or the bomb; 0: its default
  std::uint64_t count = 0;  // of tiny events or comments; 0: the default

  // The built-in answers.
  unsigned tokens_per_event = 1;
  std::optional<std::uint64_t> words{};  // answer with so many tokens
  std::optional<unsigned> calls{};       // call so many tools
  std::string finish{};                  // this finish reason
  std::string reasoning_field = "reasoning_content";
  std::string reasoning{};  // "on" or "off"; empty: by the model's name
  bool refusal = false;
  std::optional<std::int64_t> cached{};       // so many of the prompt's tokens were cached
  std::optional<std::int64_t> cache_write{};  // so many are now
  std::string signatures{};  // "required" back with calls, "off"; empty: by the model's name (Gemini 3)
  bool strict = true;        // refuses what the vendor would refuse
};

// Sets one directive. The error says what is known instead.
Result<> set_directive(Script& script, std::string_view key, std::string_view value);
// "key=value" pairs between `separator`s; a bare word is a fault.
Result<> apply_directives(Script& script, std::string_view text, char separator);
// The members of a JSON object; `fault` may be a list.
Result<> apply_json(Script& script, wire::JsonValue object);

}  // namespace qq::simulator
