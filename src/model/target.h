// A target: provider + account (credential) + model. Everything that can fail is keyed by target.
// Immutable; owned by the configuration snapshot, which requests pin.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "model/declared_adapter.h"
#include "model/endpoint.h"

namespace qq::model {

// Where an HTTP request goes; a provider's base URL taken apart.
struct Origin {
  bool tls = true;
  std::string host;  // name or numeric address, no brackets
  std::uint16_t port = 443;
  std::string
      authority;  // what the Host header says: "example.com", "[::1]:8000"; no port that goes without saying
  bool allow_private_address = false;
  // A request's caller named it, not the operator: it is judged here and asked at the address that was
  // judged, also through an outbound proxy, and nothing is kept of it: no connection, answer of DNS or
  // session.
  bool is_strangers = false;
  // Identity for pools: equal keys share connections, e.g. "https://api.openai.com:443".
  std::string pool_key;
};

// How this target is spoken to at one endpoint; empty path: it does not offer the endpoint.
struct TargetEndpoint {
  std::string path_and_query;  // "/v1/chat/completions"
  std::string stream_path{};   // of requests that stream, where it is another one (Gemini, Bedrock)

  [[nodiscard]] const std::string& path(bool stream) const noexcept {
    return stream && !stream_path.empty() ? stream_path : path_and_query;
  }
};

// What authenticates a request beyond the target's fixed header lines, made anew for each.
enum class RequestAuth : std::uint8_t {
  Fixed,        // nothing: the target's header lines say it all
  AwsSigV4,     // a signature over the request (Bedrock)
  GoogleToken,  // an access token that is fetched for a service account and expires (Vertex)
  Hmac,         // a signature over the body (declared back ends)
};

// How a request that was said in another dialect is put into OpenAI's chat dialect for this kind of provider.
// Nothing here touches requests that pass through. The defaults are what most compatible servers take.
struct ChatQuirks {
  // The words for "how much to think".
  enum class Thinking : std::uint8_t {
    Effort,           // reasoning_effort, in the words that the model takes
    Object,           // OpenRouter: reasoning {effort | max_tokens, exclude}
    Switch,           // Moonshot: thinking {type: enabled | disabled}
    SwitchAndEffort,  // DeepSeek, Zhipu: both
    Budget,           // Qwen: enable_thinking, thinking_budget
  };
  // Where the thoughts of earlier turns go.
  enum class Thoughts : std::uint8_t {
    Dropped,      // no place for them
    Content,      // reasoning_content
    WithCalls,    // the same, and every turn with calls must have it, if only "" (DeepSeek)
    FilledCalls,  // the same, but "" does not count (Moonshot)
    Details,      // OpenRouter: reasoning_details
    Parts,        // Mistral: parts of `content`
  };
  enum class MustCall : std::uint8_t { Required, Any /* Mistral */, Never /* Zhipu: only auto */ };
  enum class Prefill : std::uint8_t { None, Plain, Prefix /* Mistral */, Partial /* Moonshot */ };

  Thinking thinking = Thinking::Effort;
  Thoughts thoughts = Thoughts::Dropped;
  MustCall must_call = MustCall::Required;
  Prefill prefill = Prefill::None;  // how a last turn of the assistant's is marked as to be gone on with
  bool openai_words = false;        // max_completion_tokens, the developer role, allowed_tools, refusal
  bool takes_top_k = false;
  bool takes_cache_control = false;
  bool takes_file_urls = false;  // a file's URL in the place of its data (OpenRouter)
  bool nine_letter_ids = false;  // a tool call's id is nine letters and digits (Mistral)
  bool strict_fields = false;    // an unknown member is an error, and the seed is random_seed (Mistral)
  double temperature_max = 2;
};

// The envelope of Anthropic's messages (dialects/anthropic).
enum class MessagesForm : std::uint8_t {
  Direct,         // Anthropic's own API and its imitators
  Vertex,         // rawPredict: the model in the URL, anthropic_version in the body
  BedrockInvoke,  // the same, the stream in AWS's frames, betas in the body
};

// What relays need to know about a provider kind's habits (spec: the providers' catalogue).
struct Quirks {
  bool force_include_usage = true;              // ask for stream usage even if the client did not
  bool sends_model_in_body = true;              // false: the deployment is in the URL (Azure's classic form)
  bool reasoning_excluded_from_output = false;  // completion_tokens leaves reasoning tokens out (xAI chat)
  bool refuses_include_usage = false;           // stream_options.include_usage is an error there (Mistral)
  bool prefers_responses = false;               // asked in another dialect, it says more there than in chat
  bool seals_thoughts = false;  // takes back only thoughts that it has sealed itself (responses)
  ChatQuirks chat{};
  MessagesForm messages_form = MessagesForm::Direct;
};

struct Target {
  std::uint32_t index = 0;  // in the snapshot's target list
  std::string name;         // "provider/account/model", the identity across reloads
  std::string provider;
  std::string account;
  std::string account_name;      // "provider/account"; with its credential the identity of its cool-down
  std::string limit_group_name;  // "provider/group" or account_name; "/model" behind if limits are a model's
  std::string kind;              // entry of the providers' catalogue
  std::string model;             // our name of the model
  std::string upstream_model;    // what the provider calls it
  Origin origin;
  Quirks quirks;
  std::optional<std::int64_t> context_tokens;  // what fits into it; nothing: not said
  std::vector<std::string> can;                // the configuration's words; empty: not said
  bool reasons = false;                        // thinks before it speaks: longer limits for its first content
  bool drain_for_usage = false;                // its provider bills on when a client has left
  bool joins_line_breaks = false;  // those that it splits between two deltas are put together (Claude)
  // Header lines of the credential and fixed headers, each ending in CRLF: "authorization: Bearer …\r\n".
  Secret auth_header_lines;
  // Sent unless the request itself has a header of that name: "anthropic-version: …\r\n". Each ends in CRLF.
  std::string default_header_lines;
  RequestAuth request_auth = RequestAuth::Fixed;
  Secret signing_credential;                        // of `request_auth`, in the form that providers/ says
  std::string signing_region;                       // of AwsSigV4
  std::shared_ptr<const DeclaredAdapter> declared;  // of a declared back end; null for all others
  std::array<TargetEndpoint, kEndpointCount> endpoints;

  [[nodiscard]] const TargetEndpoint& endpoint(Endpoint which) const {
    return endpoints[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] bool offers(Endpoint which) const { return !endpoint(which).path_and_query.empty(); }

  // The endpoint at which this target answers what was asked at `asked`: the same one if it has it, for a
  // conversation and for embeddings also one in another dialect, into which it is translated. Nothing: it
  // can't.
  [[nodiscard]] std::optional<Endpoint> endpoint_for(Endpoint asked) const noexcept;
};

}  // namespace qq::model
