// A request and its answer between two dialects, or within one where the bytes cannot pass through as they
// are. What passes through never comes here.
#pragma once
#include <memory>
#include <string>

#include "dialects/dialect.h"
#include "dialects/tool_names.h"
#include "relay/body_budget.h"
#include "relay/request.h"

namespace qq::relay {

// One request in no dialect's words, decoded when the first target needs it and kept for the others.
class Translation {
 public:
  // Errors: InvalidRequest in the client's own words.
  static Result<std::unique_ptr<Translation>> decode(const RequestState& state);

  // The request for one target; what it will not hear is noted. Errors: InvalidRequest, naming the caller's
  // field, for what the target cannot do.
  Result<dialects::EncodedRequest> encode_for(const model::Target& target, model::Endpoint endpoint);

  // A whole answer of `target`'s in the client's words.
  struct Answer {
    std::string body;
    model::Usage usage;
    std::string finish_reason;
  };
  // Errors as of ProviderDialect::decode_answer; EmptyReply. Of those as well: `used`, if it is told, and
  // `blank`, whether white space was said.
  Result<Answer> translate_answer(std::string_view body, const model::Target& target,
                                  model::Endpoint endpoint, model::Usage& used, bool& blank);

  // A new one for each attempt; it stays until the client's stream has been ended.
  dialects::StreamEncoder& new_encoder();
  // An error behind what was streamed, in the form that fits to it. False: nothing has been encoded that it
  // would have to fit to.
  bool encode_stream_error(const Error& error, std::string& out);

  // How many choices the caller wants, and a provider is asked for whose dialect can be.
  [[nodiscard]] std::uint32_t choices_asked() const noexcept;
  // To be completed by what has to be fetched.
  [[nodiscard]] model::ChatRequest& request() noexcept { return request_; }
  // Of what was fetched: it is kept as long as the request in no dialect's words, and that outlives the body.
  [[nodiscard]] BodyBudget& fetched() noexcept { return fetched_; }
  // "messages[2].cache_control; top_k": the fields that did not survive so far, of the request and of what
  // was answered, for a header and the log. Empty: all did.
  [[nodiscard]] std::string losses_text() const;

 private:
  Translation(const RequestState& state, const dialects::ClientDialect& client, model::ChatRequest request);

  const dialects::ClientDialect& client_;
  model::ChatRequest request_;
  BodyBudget fetched_;
  std::string id_seed_;
  dialects::AnswerHead head_;
  dialects::Losses losses_;    // of the attempt that runs
  dialects::ToolNames names_;  // of its target
  std::unique_ptr<dialects::StreamEncoder> encoder_;
};

// For a header and the log; `more`, if there are any, come behind.
std::string shown_losses(const dialects::Losses& losses, const dialects::Losses* more);
// What the translation that the running attempt needed has lost so far.
std::string losses_text_of(const RequestState& state);

// Whether `target` is asked in another form than the client's, or the request carries state that is not the
// target's, so that bytes cannot pass through.
bool is_translated(const RequestState& state, const model::Target& target, model::Endpoint asked_there);

// Decodes on first use.
Result<Translation*> translation_of(RequestState& state);

}  // namespace qq::relay
