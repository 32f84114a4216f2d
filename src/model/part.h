// What a turn of a conversation is made of, in no dialect's words. Requests and answers share these parts.
//
// Text is decoded UTF-8. What a dialect leaves open stays the JSON it came as (`Json`): schemas, a tool's
// input, and whatever nobody but its own dialect understands.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace qq::model {

// The wire languages of conversations. Providers whose dialect is OpenAI's are OpenAiChat or OpenAiResponses.
enum class Dialect : std::uint8_t {
  OpenAiChat,       // POST /v1/chat/completions
  OpenAiResponses,  // POST /v1/responses
  Anthropic,        // POST /v1/messages, also inside Vertex and Bedrock invoke
  Gemini,           // :generateContent of AI Studio and Vertex
  Bedrock,          // converse
  Cohere,           // v2/chat
  Ollama,           // /api/chat
  Declared,         // a private back end, described by the configuration
};
inline constexpr std::size_t kDialectCount = 8;
std::string_view to_string(Dialect dialect) noexcept;  // "openai_chat", the word of configuration and docs

// One JSON value as it was written, checked. Empty: absent.
using Json = std::string;

// A member that its dialect has and the neutral model has not. It goes back where it came from when the
// target speaks the same dialect, and is reported as lost otherwise.
struct ExtraField {
  std::string key;
  Json value;
};
using ExtraFields = std::vector<ExtraField>;

// "What stands up to here may be cached". Only a wish: no provider has to.
struct CacheMark {
  enum class Ttl : std::uint8_t { Default, FiveMinutes, OneHour };
  Ttl ttl = Ttl::Default;
  bool operator==(const CacheMark&) const = default;
};

// State that a provider wants back unchanged with the part it came on: an Anthropic signature, a Gemini
// thoughtSignature, OpenAI's encrypted_content. It means something to whoever made it and to nobody else.
struct OpaqueState {
  Dialect maker = Dialect::OpenAiChat;
  std::string data;  // as text, usually base64; empty: none
  [[nodiscard]] bool empty() const noexcept { return data.empty(); }
  bool operator==(const OpaqueState&) const = default;
};

struct TextPart {
  std::string text;
  std::vector<Json> citations;  // in the dialect they came in
};

// Bytes that are no text, inside the request or somewhere else.
struct MediaPart {
  enum class Kind : std::uint8_t { Image, Audio, Video, File };
  enum class Source : std::uint8_t { Base64, Url, FileId, Text };
  Kind kind = Kind::Image;
  Source source = Source::Base64;
  std::string data;  // by `source`: base64 without line breaks, an URL, a provider's file id, plain text
  std::string media_type;  // "image/png"; empty if not said
  std::string name;        // a file's name or a document's title
  std::string detail;      // OpenAI's "low", "high", "auto"
};

// Of "image/png" and its like; File for what is nothing else.
MediaPart::Kind media_kind(std::string_view media_type) noexcept;

struct ToolCallPart {
  enum class Kind : std::uint8_t { Function, Custom };
  Kind kind = Kind::Function;
  std::string id;  // empty where the dialect has none (Gemini, Ollama)
  std::string name;
  // A function's arguments: the text of a JSON object as a rule, but it may have been cut by a limit or be
  // no JSON at all; "" and "null" are read as "{}". A custom tool's input: any text.
  std::string arguments;
};

struct Part;
struct ToolResultPart {
  std::string call_id;
  std::string name;           // of the tool, if the dialect says it or an earlier call does
  std::vector<Part> content;  // text and media
  bool is_error = false;
};

// What the model thought. `text` may be empty although `state` matters (redacted, encrypted or omitted).
struct ReasoningPart {
  enum class Kind : std::uint8_t {
    Full,      // the thoughts
    Summary,   // somebody's summary of them
    Redacted,  // nothing but `state`
  };
  Kind kind = Kind::Full;
  std::string text;
  std::string id;  // of an OpenAI responses item
};

struct RefusalPart {
  std::string text;
};

// Something only one dialect has: a hosted tool's call and result, a compaction, generated code.
struct OpaquePart {
  Dialect dialect = Dialect::OpenAiChat;
  std::string type;  // the dialect's word for it, for reports
  Json value;
};

struct Part {
  std::variant<TextPart, MediaPart, ToolCallPart, ToolResultPart, ReasoningPart, RefusalPart, OpaquePart> is;
  std::optional<CacheMark> cache;
  OpaqueState state;
  ExtraFields extra;

  Part() = default;
  template <typename T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Part>)
  explicit Part(T&& part) : is(std::forward<T>(part)) {}
  template <typename T>
  [[nodiscard]] const T* as() const noexcept {
    return std::get_if<T>(&is);
  }
  template <typename T>
  [[nodiscard]] T* as() noexcept {
    return std::get_if<T>(&is);
  }
};

}  // namespace qq::model
