#include "providers/hmac_signer.h"

#include <fmt/chrono.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/assert.h"
#include "base/base64.h"
#include "base/hex.h"
#include "base/sha256.h"

namespace qq::providers {
namespace {

using model::HmacScheme;
using model::Placeholder;

std::string hmac_sha1(std::string_view secret, std::string_view text) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  const auto* const done =
      HMAC(EVP_sha1(), secret.empty() ? "" : secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           reinterpret_cast<unsigned char*>(digest.data()), &size);
  QQ_ASSERT(done != nullptr);
  digest.resize(size);
  return digest;
}

std::string hmac(HmacScheme::Algorithm algorithm, std::string_view secret, std::string_view text) {
  if (algorithm == HmacScheme::Algorithm::Sha1) return hmac_sha1(secret, text);
  return std::string(bytes_of(hmac_sha256(secret, text)));
}

std::string told(HmacScheme::Clock clock, WallTime now) {
  using namespace std::chrono;
  const auto time = now.time_since_epoch();
  const auto seconds_in = floor<seconds>(now);
  switch (clock) {
    case HmacScheme::Clock::Seconds: return std::to_string(floor<seconds>(time).count());
    case HmacScheme::Clock::Milliseconds: return std::to_string(floor<milliseconds>(time).count());
    case HmacScheme::Clock::Iso: return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", seconds_in);
    case HmacScheme::Clock::IsoBasic: return fmt::format("{:%Y%m%dT%H%M%SZ}", seconds_in);
  }
  return {};
}

class Signer {
 public:
  Signer(const HmacScheme& scheme, std::string_view credential, const RequestToHmac& request, WallTime now,
         std::string_view nonce)
      : scheme_(scheme), request_(request), timestamp_(told(scheme.clock, now)), nonce_(nonce) {
    const std::size_t colon = scheme.has_key_id ? credential.find(':') : std::string_view::npos;
    if (colon == std::string_view::npos) {
      secret_ = credential;
    } else {
      key_id_ = credential.substr(0, colon);
      secret_ = credential.substr(colon + 1);
    }
  }

  std::string header_lines() {
    const std::string text = filled(scheme_.string_to_sign);
    std::string signature;
    if (scheme_.secret_form == HmacScheme::SecretForm::Base64) {
      std::string key = from_base64(secret_).value_or(std::string());
      signature = hmac(scheme_.algorithm, key, text);
      OPENSSL_cleanse(key.data(), key.size());
    } else {
      signature = hmac(scheme_.algorithm, secret_, text);
    }
    signature_ = scheme_.encoding == HmacScheme::Encoding::Base64 ? to_base64(signature) : to_hex(signature);
    std::string lines;
    for (const model::DeclaredHeader& header : scheme_.headers)
      lines.append(header.name).append(": ").append(filled(header.value)).append("\r\n");
    return lines;
  }

 private:
  std::string filled(const model::TextTemplate& words) {
    std::string out;
    for (const model::TextTemplate::Piece& piece : words.pieces) {
      out += piece.text;
      if (piece.placeholder) append(*piece.placeholder, out);
    }
    return out;
  }

  void append(Placeholder placeholder, std::string& out) {
    const std::size_t query = std::min(request_.path_and_query.find('?'), request_.path_and_query.size());
    switch (placeholder) {
      case Placeholder::Timestamp: out += timestamp_; break;
      case Placeholder::Nonce: out += nonce_; break;
      case Placeholder::Method: out += request_.method; break;
      case Placeholder::Host: out += request_.host; break;
      case Placeholder::Path: out += request_.path_and_query.substr(0, query); break;
      case Placeholder::Query:
        out += request_.path_and_query.substr(std::min(query + 1, request_.path_and_query.size()));
        break;
      case Placeholder::Body:
        for (const std::string_view piece : request_.body_pieces) out += piece;
        break;
      case Placeholder::BodySha256:
        if (body_sha256_.empty()) body_sha256_ = to_hex(sha256(request_.body_pieces));
        out += body_sha256_;
        break;
      case Placeholder::KeyId: out += key_id_; break;
      case Placeholder::Signature: out += signature_; break;
      default: break;  // not in these templates
    }
  }

  const HmacScheme& scheme_;
  const RequestToHmac& request_;
  std::string timestamp_;
  std::string_view nonce_;
  std::string_view key_id_;
  std::string_view secret_;
  std::string body_sha256_;
  std::string signature_;
};

}  // namespace

std::string hmac_header_lines(const HmacScheme& scheme, const Secret& credential,
                              const RequestToHmac& request, WallTime now, std::string_view nonce) {
  return Signer(scheme, credential.reveal(), request, now, nonce).header_lines();
}

}  // namespace qq::providers
