#include "providers/masking.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "providers/percent.h"
#include "wire/json.h"

namespace qq::providers {
namespace {

constexpr std::size_t kTailMin = 8;  // shorter is no key, and words like "hf_hub" exist
constexpr std::string_view kHidden = "****";
constexpr std::size_t kRunMin = 32;  // the shortest bare keys in use: 32 hexadecimal digits (Azure, Zhipu)

struct Prefix {
  std::string_view text;
  bool needs_digit;  // for prefixes that ordinary identifiers have too
};
constexpr std::array kPrefixes = {
    Prefix{"sk-", false},          Prefix{"sk_", false},
    Prefix{"gsk_", false},         Prefix{"xai-", false},
    Prefix{"pplx-", false},        Prefix{"AIza", false},
    Prefix{"nvapi-", false},       Prefix{"hf_", true},
    Prefix{"fw_", true},           Prefix{"tgp_", true},
    Prefix{"csk-", true},          Prefix{"r8_", true},
    Prefix{"ark-", true},          Prefix{"key-", true},
    Prefix{"Bearer ", true},       Prefix{"bearer ", true},
    Prefix{"AKIA", true},          Prefix{"ASIA", true},
    Prefix{"ABSK", false},         Prefix{"ya29.", false},
    Prefix{"jina_", true},         Prefix{"bedrock-api-key-", false},
    Prefix{"org-", true},          Prefix{"proj_", true},  // no keys, but names of our account at OpenAI
    Prefix{"arn:aws:iam::", true}, Prefix{"arn:aws:sts::", true},  // the same at AWS: its number stands next
};

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_key_char(char c) noexcept {
  return is_alnum(c) || c == '-' || c == '_' || c == '.';
}

// Behind the last character of a key that begins at `at`; a full stop at the end belongs to the sentence.
std::size_t key_end(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at;
  while (end < text.size() && is_key_char(text[end])) ++end;
  while (end > at && text[end - 1] == '.') --end;
  return end;
}

// How much of a key stays readable: its prefix. 0: no prefixed key begins here.
std::size_t prefix_at(std::string_view text, std::size_t at) noexcept {
  for (const Prefix& prefix : kPrefixes) {
    if (!text.substr(at).starts_with(prefix.text)) continue;
    const std::size_t begin = at + prefix.text.size();
    const std::string_view tail = text.substr(begin, key_end(text, begin) - begin);
    if (tail.size() >= kTailMin && (!prefix.needs_digit || std::ranges::any_of(tail, is_digit))) {
      return prefix.text.size();
    }
  }
  return 0;
}

bool is_bare_key(std::string_view run) noexcept {
  return run.size() >= kRunMin && std::ranges::any_of(run, is_digit) && !std::ranges::all_of(run, is_digit);
}

// The length of the JSON escape at a backslash, so that "\nsk-…" is seen to begin a key behind the n.
std::size_t escape_length(std::string_view text, std::size_t at) noexcept {
  const std::size_t length = at + 1 < text.size() && text[at + 1] == 'u' ? 6 : 2;
  return std::min(length, text.size() - at);
}

// Whether a string of the JSON text that has escapes is, once it is decoded, one that `is_wanted`.
template <typename Predicate>
bool any_escaped_string(std::string_view json, Predicate is_wanted) {
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    const std::size_t begin = at++;
    bool escapes = false;
    while (at < json.size() && json[at] != '"') {
      escapes = escapes || json[at] == '\\';
      at += json[at] == '\\' ? 2 : 1;
    }
    if (at >= json.size()) return false;
    ++at;
    if (escapes && is_wanted(wire::JsonValue(json.substr(begin, at - begin)).string())) return true;
  }
  return false;
}

// "authorization: Bearer KEY\r\n", "api-key: KEY\r\n".
std::string_view credential_in(std::string_view header_lines) noexcept {
  std::string_view line = header_lines.substr(0, header_lines.find("\r\n"));
  line.remove_prefix(std::min(line.size(), line.find(": ") + 2));
  constexpr std::string_view kBearer = "Bearer ";
  if (line.starts_with(kBearer)) line.remove_prefix(kBearer.size());
  return line;
}

// How many characters at the text's end are a beginning of the credential; fewer than kTailMin are none.
std::size_t beginning_at_end(std::string_view text, std::string_view credential) noexcept {
  for (std::size_t length = std::min(text.size(), credential.size() - 1); length >= kTailMin; --length) {
    if (text.ends_with(credential.substr(0, length))) return length;
  }
  return 0;
}

std::size_t find_in_any_case(std::string_view text, std::string_view wanted, std::size_t from) noexcept {
  const auto same = [](char a, char b) noexcept { return ascii_lower(a) == ascii_lower(b); };
  const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), wanted.begin(),
                                 wanted.end(), same);
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = find_in_any_case(text, from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string mask_keys(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\\') {
      const std::size_t length = escape_length(text, at);
      out.append(text.substr(at, length));
      at += length;
      continue;
    }
    if (!is_alnum(text[at])) {
      out += text[at++];
      continue;
    }
    if (const std::size_t shown = prefix_at(text, at); shown != 0) {
      out.append(text.substr(at, shown)).append("****");
      at = key_end(text, at + shown);
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_alnum(text[end])) ++end;
    const std::string_view run = text.substr(at, end - at);
    const bool is_tail = at > 0 && (text[at - 1] == '_' || text[at - 1] == '-');
    if (!is_tail && is_bare_key(run)) {
      out.append("****");
      end = key_end(text, end);  // Zhipu's keys go on behind a full stop
    } else {
      out.append(run);
    }
    at = end;
  }
  return out;
}

std::string mask_keys_in_json(std::string_view json) {
  std::string masked = mask_keys(json);
  if (any_escaped_string(masked, [](const std::string& text) { return mask_keys(text) != text; })) return {};
  return masked;
}

std::string_view credential_of(const model::Target& target) noexcept {
  std::string_view credential = credential_in(target.auth_header_lines.reveal());
  // Of AWS's keys only the name goes out. Google's tokens are known by their form (mask_keys).
  if (target.request_auth == model::RequestAuth::AwsSigV4) {
    credential = target.signing_credential.reveal();
    credential = credential.substr(0, credential.find(':'));
  }
  return credential.size() < kTailMin ? std::string_view() : credential;
}

bool shows_credential(std::string_view text, std::string_view credential) {
  if (credential.empty()) return false;
  if (find_in_any_case(text, credential, 0) != std::string_view::npos) return true;
  if (!text.contains('%')) return false;
  return find_in_any_case(text, percent_encoded(credential), 0) != std::string_view::npos;
}

void hide_credential(std::string& text, std::string_view credential) {
  if (credential.empty()) return;
  replace_all(text, credential, kHidden);
  if (text.contains('%')) replace_all(text, percent_encoded(credential), kHidden);
  if (const std::size_t cut = beginning_at_end(text, credential); cut != 0) {
    text.resize(text.size() - cut);
    text.append(kHidden);
  }
}

void hide_credential_in_json(std::string& json, std::string_view credential) {
  if (credential.empty()) return;
  if (any_escaped_string(json, [&](const std::string& text) { return shows_credential(text, credential); })) {
    json.clear();
  }
  if (json.empty()) return;
  replace_all(json, credential, kHidden);
  if (json.contains('%')) replace_all(json, percent_encoded(credential), kHidden);
}

void hide_credential(Error& error, const model::Target& target) {
  const std::string_view credential = credential_of(target);
  for (std::string* text : {&error.message, &error.type, &error.code, &error.param}) {
    hide_credential(*text, credential);
  }
  hide_credential_in_json(error.object, credential);
}

}  // namespace qq::providers
