// Pieces of a request's head that are not the same for every target.
#pragma once
#include <string>
#include <string_view>

#include "model/target.h"
#include "relay/upstream_client.h"

namespace qq::upstream {

// Those of the default lines whose header is not among `lines`. Both hold whole lines with CRLF.
void append_missing_lines(std::string& out, std::string_view default_lines, std::string_view lines);

std::string_view method_word(relay::UpstreamCall::Method method) noexcept;  // "POST"

// The Accept header: what an answer to this call looks like.
std::string_view accepted(const relay::UpstreamCall& call) noexcept;

}  // namespace qq::upstream
