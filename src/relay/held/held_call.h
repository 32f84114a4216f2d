// What a request's head asks about files and batches, which providers keep for their callers.
//
//   OpenAI's     POST, GET /v1/files      GET, DELETE /v1/files/{id}       GET /v1/files/{id}/content
//                POST, GET /v1/batches    GET /v1/batches/{id}             POST /v1/batches/{id}/cancel
//   Anthropic's  the same /v1/files, for clients that say their anthropic-version or anthropic-beta
//                POST, GET /v1/messages/batches                            GET, DELETE …/{id}
//                POST …/{id}/cancel       GET …/{id}/results
//
// Source: openai-openapi openapi.yaml, "Files" and "Batch"; platform.claude.com, "Files" and "Message
// Batches".
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/part.h"
#include "relay/held/holding_store.h"
#include "wire/http_head.h"

namespace qq::relay {

struct HeldCall {
  enum class Verb : std::uint8_t { Create, List, Get, Content, Delete, Cancel };

  Verb verb = Verb::Get;
  HoldingKind kind = HoldingKind::File;
  std::string_view method;  // static texts, for logs
  std::string_view path;
  std::string id;
  std::string model;       // of the header x-queqiao-model: whose account is meant
  std::string form_type;   // the content type of a form, empty for other bodies
  HoldingQuery query{};    // of lists
  bool backwards = false;  // Anthropic's before_id: the page in front of `query.after`
};

// The dialect in which errors about a path are told to whoever sent this head.
model::Dialect dialect_of_head(const wire::RequestHead& head) noexcept;

// Whether a path is one of these, and with which methods it is asked: "GET, DELETE"; empty for other paths.
std::string_view held_methods(std::string_view path) noexcept;
// Nothing for other paths and methods. Errors: InvalidRequest for a query or header that says nothing we
// know.
std::optional<Result<HeldCall>> held_call(const wire::RequestHead& head);

}  // namespace qq::relay
