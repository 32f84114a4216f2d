// A private back end in words that the configuration gives: how its requests are put together, where in its
// answers, events and errors what stands, and how its requests are signed. Plain data, checked when it is
// made (providers/declared_adapter.h); dialects/declared/ goes by it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/finish.h"
#include "model/part.h"

namespace qq::model {

// What "{{word}}" in a template stands for. Which template may hold which: providers/declared_templates.h.
enum class Placeholder : std::uint8_t {
  // Of a request.
  Model,
  Messages,
  System,
  Temperature,
  TopP,
  TopK,
  PresencePenalty,
  FrequencyPenalty,
  Seed,
  Stop,
  MaxOutputTokens,
  Stream,
  Tools,
  ToolChoice,
  ToolName,
  ParallelToolCalls,
  JsonSchema,
  ReasoningEffort,
  ReasoningBudget,
  User,
  Metadata,
  // Of a message and its parts.
  Role,
  Text,
  Parts,
  ToolCalls,
  Reasoning,
  Name,
  Url,
  Base64,
  MediaType,
  // Of a tool, a call and its result.
  Description,
  Schema,
  Id,
  Arguments,
  ArgumentsText,
  IsError,
  // Of a request about a polled operation.
  Operation,
  // Of a signed request.
  Timestamp,
  Nonce,
  Method,
  Host,
  Path,
  Query,
  Body,
  BodySha256,
  KeyId,
  Signature,
};
inline constexpr std::size_t kPlaceholderCount = static_cast<std::size_t>(Placeholder::Signature) + 1;

// Text with placeholders in it.
struct TextTemplate {
  struct Piece {
    std::string text;  // in front of the placeholder
    std::optional<Placeholder> placeholder;
  };
  std::vector<Piece> pieces;
  [[nodiscard]] bool empty() const noexcept { return pieces.empty(); }
};

// A JSON value with placeholders in it; one node of it.
struct JsonTemplate {
  enum class Kind : std::uint8_t {
    Literal,      // `json`, as it is; empty: no template at all
    Placeholder,  // a string that is nothing but a placeholder: replaced by a JSON value
    Text,         // a string with placeholders among other text
    Object,
    Array,
  };
  Kind kind = Kind::Literal;
  Placeholder placeholder = Placeholder::Model;
  // "{{word!}}": where there is nothing to put in, the object around it goes too, not this member alone.
  bool takes_along = false;
  Json json;  // Literal; Placeholder: what stands there instead of nothing ("{{word|0.7}}"), empty: nothing
              // does
  TextTemplate text;
  std::vector<std::string> keys;  // Object: of `inside`
  std::vector<JsonTemplate> inside;
  [[nodiscard]] bool empty() const noexcept { return kind == Kind::Literal && json.empty(); }
};

// RFC 6901, its reference tokens decoded. Empty: not described.
using Pointer = std::vector<std::string>;

struct DeclaredRequest {
  JsonTemplate body;
  JsonTemplate message;      // of a turn
  JsonTemplate text_part;    // of `{{parts}}`
  JsonTemplate image;        // the same
  JsonTemplate tool;         // of `{{tools}}`
  JsonTemplate tool_call;    // of `{{tool_calls}}`
  JsonTemplate tool_result;  // a message of its own
  std::string system_role;   // empty: no message may be the system's
  std::string user_role = "user";
  std::string assistant_role = "assistant";
};

// `list` leads to an array of calls, or to one; the others start at a call.
struct DeclaredCalls {
  Pointer list;
  Pointer index;  // streams: which call a delta belongs to
  Pointer id;
  Pointer name;
  Pointer arguments;  // text of JSON, or JSON
};

struct DeclaredUsage {
  Pointer input;
  Pointer output;
  Pointer cache_read;
  Pointer cache_write;
  Pointer reasoning;
  bool input_includes_cache = true;
  bool output_includes_reasoning = true;
};

// Where it stands, in a whole answer or in an event of a stream.
struct DeclaredWhere {
  Pointer id;
  Pointer model;
  Pointer text;
  Pointer reasoning;
  Pointer finish;
  DeclaredCalls calls;
  DeclaredUsage usage;
};

struct DeclaredStream {
  enum class Format : std::uint8_t {
    None,  // a streamed request is answered whole
    Sse,
    Ndjson,  // lines of JSON
  };
  enum class Text : std::uint8_t {
    Deltas,
    SoFar,  // every event holds all that was said
  };
  Format format = Format::None;
  Text text = Text::Deltas;  // of text and reasoning
  DeclaredWhere where;
  // An event's word: what stands at `type`, or else the SSE event's name. The lists say which events may hold
  // what; an empty one: all.
  Pointer type;
  std::vector<std::string> text_in;
  std::vector<std::string> reasoning_in;
  // The end: data that is this text, a value there that is neither null, false, 0 nor "", or an event of that
  // word. Without any of the three it is the body's end behind a finish word.
  std::string done_data;
  Pointer done;
  std::vector<std::string> done_in;
  std::vector<std::string> error_in;  // events that are errors, whatever they hold
  [[nodiscard]] bool has_done_mark() const noexcept {
    return !done_data.empty() || !done.empty() || !done_in.empty();
  }
};

struct FinishWord {
  std::string word;
  Finish finish = Finish::Stop;
};

struct DeclaredErrors {
  // The first that fits counts. At least one of the two is given.
  struct Rule {
    std::uint16_t status = 0;  // 0: any, or none as inside a 200
    std::string code;          // empty: any
    ErrorKind kind = ErrorKind::Refused;
  };
  Pointer code;
  Pointer message;
  std::vector<std::string> ok_codes;  // codes of a success, beside 0, null, false and ""
  std::vector<Rule> rules;
};
// What the rules say about it; nothing if none fits. `status` 200 for what stands inside an answer.
std::optional<ErrorKind> kind_of(const DeclaredErrors& errors, int status, std::string_view code) noexcept;

struct DeclaredHeader {
  std::string name;
  TextTemplate value;
};

// A signature over a request; made by providers/hmac_signer.h.
struct HmacScheme {
  enum class Algorithm : std::uint8_t { Sha256, Sha1 };
  enum class Encoding : std::uint8_t { Hex, Base64 };
  enum class SecretForm : std::uint8_t { Text, Base64 };
  enum class Clock : std::uint8_t {
    Seconds,       // 1735689600
    Milliseconds,  // 1735689600000
    Iso,           // 2025-01-01T00:00:00Z
    IsoBasic,      // 20250101T000000Z
  };
  Algorithm algorithm = Algorithm::Sha256;
  Encoding encoding = Encoding::Hex;
  SecretForm secret_form = SecretForm::Text;
  Clock clock = Clock::Seconds;
  TextTemplate string_to_sign;
  std::vector<DeclaredHeader> headers;  // the signature's and what its reader needs beside it
  bool has_key_id = false;              // the credential is "id:secret"
};

// A back end that is polled: what is sent begins an operation, which is asked about until it is over. The
// last body is the answer.
struct DeclaredPoll {
  enum class Cancel : std::uint8_t { Post, Delete };
  Pointer id;         // in the reply to what was sent
  TextTemplate path;  // as it goes over the wire, but for {{operation}}
  Milliseconds every{1'000};
  // Over: one of the words stands at `done`, or with no such list anything but null, false, 0 and "".
  Pointer done;
  std::vector<std::string> done_in;
  std::vector<std::string> failed_in;  // words at `done` of operations that are over and have no answer
  int retries = 3;                     // of a poll that fails
  TextTemplate cancel_path;            // empty: nothing can be cancelled
  Cancel cancel_method = Cancel::Post;
};

struct DeclaredAdapter {
  DeclaredRequest request;
  std::vector<DeclaredHeader> headers;
  DeclaredWhere answer;
  DeclaredStream stream;
  std::vector<FinishWord> finish_words;
  DeclaredErrors errors;
  std::optional<DeclaredPoll> poll;
  std::optional<HmacScheme> hmac;
};

// Whether a placeholder stands anywhere in it.
bool uses(const JsonTemplate& json, Placeholder placeholder) noexcept;
bool uses(const TextTemplate& text, Placeholder placeholder) noexcept;

}  // namespace qq::model
