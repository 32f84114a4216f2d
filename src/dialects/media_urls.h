// The URLs by which a request names pictures, sounds and files, before a provider of another dialect is given
// them. What a provider fetches by its own rights (a bucket of its cloud, a file of its machine) is not for a
// caller to name: it would be read with the rights of the operator's account. So only the web is left.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/chat_request.h"
#include "wire/json.h"

namespace qq::dialects {

// Writes the scheme of a web URL as providers and our own fetching expect it ("HTTPS://" as "https://").
void tidy_media_urls(model::ChatRequest& request);

// Errors: InvalidRequest, naming the caller's field, for a URL that is neither http nor https: another
// scheme, a part of a URL, a data URL that is no base64.
Result<> check_media_urls(const model::ChatRequest& request);

// Where `request`, the caller's JSON, names this URL first: "messages[1].content[0].image_url.url". Of one
// that was tidied, too. Empty if it does not, since a part of another form was read. For errors: it reads all
// of it.
std::string place_of_url(wire::JsonValue request, std::string_view url);

}  // namespace qq::dialects
