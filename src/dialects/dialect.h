// What a dialect offers to those who translate: the client's side (what an application says, and how it wants
// to be answered) and the provider's side (how a target is asked, and what it says). Translation is one
// dialect's client side and another's provider side with model/ between them; two sides of the same dialect
// are only put together where bytes cannot pass through.
//
// Everything here is pure: no clock, no randomness but what is given, no I/O. Objects without state may be
// used from any thread; decoders and encoders of streams belong to one attempt.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "model/chat_answer.h"
#include "model/chat_request.h"
#include "model/stream_event.h"
#include "model/target.h"

namespace qq::dialects {

// Something the caller said that the target will not hear, or the target said that the caller will not.
// `field` is the caller's name for it ("messages[2].content[0].cache_control"); it goes into the response
// header x-queqiao-lossy and the attempt's record. docs/providers.md lists all of them, and a test compares.
struct Loss {
  std::string field;
  std::string_view why;  // a literal of dialects/losses.h
};
using Losses = std::vector<Loss>;

// ---- The client's side ------------------------------------------------------------------------------------

// What a request says outside its body.
struct RequestHead {
  std::string_view path_model;  // Gemini: from the URL
  bool path_stream = false;     // Gemini: streamGenerateContent
  bool array_stream = false;    // Gemini: without alt=sse
  std::string_view beta;        // Anthropic: the header anthropic-beta
  std::string_view version;     // Anthropic: the header anthropic-version
};

// What an answer must say that its provider does not know.
struct AnswerHead {
  std::string_view model;       // the name the client asked for
  std::string_view request_id;  // seeds ids that the provider did not give
  std::int64_t now = 0;         // Unix time in seconds, for dialects that must say when
  bool array_stream = false;    // the request's own: a stream goes as one JSON array
};

// Whole bytes to the client, event by event. What goes in keeps the grammar of model/stream_event.h.
class StreamEncoder {
 public:
  virtual ~StreamEncoder() = default;
  // Appends what the client gets of one event, whole SSE events or nothing; End closes the stream as the
  // dialect does, and Failed as the client's SDK raises it. What is no event of a provider's (a timer, a body
  // that ended too early) becomes a Failed as well: an encoder's stream has no other way to say so.
  virtual void encode(const model::StreamEvent& event, std::string& out) = 0;
  // What of the events so far the client is not told: each kind of it once, in the words of a whole answer's
  // losses.
  [[nodiscard]] virtual const Losses& losses() const noexcept { return losses_; }
  // Why the client's stream cannot go on, where that is so: it is to be told as a failure of the provider's,
  // and nothing else is encoded any more.
  [[nodiscard]] virtual const Error* fault() const noexcept { return nullptr; }

 protected:
  void lose(std::string_view field, std::string_view why);

 private:
  Losses losses_;
};

struct EncodedError {
  int status = 500;
  std::string body;
};

class ClientDialect {
 public:
  virtual ~ClientDialect() = default;
  // Errors: InvalidRequest with `param` in the dialect's own words.
  [[nodiscard]] virtual Result<model::ChatRequest> decode_request(std::string_view body,
                                                                  const RequestHead& head) const = 0;
  // The body of a whole answer. `request` is the one it answers.
  [[nodiscard]] virtual std::string encode_answer(const model::ChatAnswer& answer,
                                                  const model::ChatRequest& request, const AnswerHead& head,
                                                  Losses& losses) const = 0;
  // `request` and what `head` points at must outlive it.
  [[nodiscard]] virtual std::unique_ptr<StreamEncoder> stream_encoder(const model::ChatRequest& request,
                                                                      const AnswerHead& head) const = 0;
  [[nodiscard]] virtual EncodedError encode_error(const Error& error, std::string_view request_id) const = 0;
  // An error after the 200 was sent, as the client's SDK raises it, in a stream that no encoder writes: one
  // that passes through. Nothing may follow.
  virtual void encode_stream_error(const Error& error, std::string_view request_id,
                                   std::string& out) const = 0;
  // Keeps a waiting client alive: a comment, or the dialect's own ping.
  [[nodiscard]] virtual std::string_view heartbeat() const noexcept = 0;
};

// ---- The provider's side ----------------------------------------------------------------------------------

struct EncodedRequest {
  std::string body;
  std::string header_lines;  // beyond the target's own, each ending in CRLF
};

class EventSink {
 public:
  virtual void on_event(const model::StreamEvent& event) = 0;

 protected:
  ~EventSink() = default;
};

// A provider's stream: its framing (SSE, lines of JSON, AWS frames, one JSON array) and its words. Fed bytes
// in pieces of any size; what comes out does not depend on how they were cut. An error of the provider's
// comes out as Failed; so does what cannot be read. After Failed nothing comes out any more.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;
  virtual void feed(std::string_view bytes, EventSink& sink) = 0;
  // How many choices the provider was asked for, before it is fed: where its dialect has no other end than
  // that of each choice, one that has not begun is cut as well. Nothing to dialects that are asked for one.
  virtual void expect_choices(std::uint32_t /*count*/) noexcept {}
  // The body ended properly. A stream without its proper end comes out as Failed with StreamCut.
  virtual void finish(EventSink& sink) = 0;
  // How many frames have come whole, of a stream that is made of binary ones; nothing for those made of
  // lines.
  [[nodiscard]] virtual std::optional<std::uint64_t> frames() const noexcept { return std::nullopt; }
};

class ProviderDialect {
 public:
  virtual ~ProviderDialect() = default;
  // Errors: InvalidRequest, with `param` the field of the *caller's* dialect where it is known, for what the
  // target cannot do and must not be left out silently.
  [[nodiscard]] virtual Result<EncodedRequest> encode_request(const model::ChatRequest& request,
                                                              const model::Target& target,
                                                              Losses& losses) const = 0;
  // Errors: BadJson, StreamError (an error object inside a 200), EmptyReply. `id_seed` makes the ids of calls
  // that the provider gave none.
  [[nodiscard]] virtual Result<model::ChatAnswer> decode_answer(std::string_view body,
                                                                const model::Target& target,
                                                                std::string_view id_seed) const = 0;
  [[nodiscard]] virtual std::unique_ptr<StreamDecoder> stream_decoder(const model::Target& target,
                                                                      std::string_view id_seed) const = 0;
};

// Nothing for dialects without that side. The objects live as long as the process.
const ClientDialect* client_dialect(model::Dialect dialect) noexcept;
const ProviderDialect* provider_dialect(model::Dialect dialect) noexcept;

}  // namespace qq::dialects
