// One question to the account that holds an object, or is to hold it: asked, its answer judged, and noted as
// an attempt. Breakers and cool-downs are neither asked nor told: there is nowhere else to go, and how a
// provider keeps files says little of how its models answer.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "relay/request.h"
#include "relay/upstream_client.h"

namespace qq::relay {

struct HeldQuestion {
  UpstreamCall::Method method = UpstreamCall::Method::Get;
  std::string path;  // as it goes over the wire
  std::string_view content_type = "application/json";
  std::vector<std::string_view> pieces;  // of the body
  // It makes something: sent once, and its answer is waited for even if the client leaves, so that what was
  // made is known here.
  bool creates = false;
  std::optional<net::Scope> within{};  // nothing: the request's own
};

// The endpoint's path at the target, and what stands behind it: an id, "id/content".
std::string held_path(const RequestState& state, const model::Target& target, std::string_view below);

// The reply, whose status is good. Errors: the provider's, in the attempt too; the phase tells whether it can
// have seen the question.
Task<Result<std::unique_ptr<UpstreamReply>>> ask_target(RequestState& state, const model::Target& target,
                                                        const HeldQuestion& question);
// The same, asked again after a failure that may pass, as far as that cannot do anything twice.
Task<Result<std::unique_ptr<UpstreamReply>>> ask_holder(RequestState& state, const model::Target& target,
                                                        const HeldQuestion& question);
// The rest of the reply: a whole JSON document. Errors as of whole answers.
Task<Result<std::string>> read_document(RequestState& state, UpstreamReply& reply,
                                        const HeldQuestion& question);

// Whether a failed question that makes something has surely made nothing, so that another account may be
// asked.
bool surely_refused(const Error& error) noexcept;

// Notes how the last attempt ended.
void note_held_end(RequestState& state, const Error* error);

}  // namespace qq::relay
