#include "providers/sigv4.h"

#include <fmt/format.h>

#include <array>

#include "base/sha256.h"
#include "providers/percent.h"

namespace qq::providers {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

struct Stamp {
  std::string day;   // "20150830"
  std::string time;  // "20150830T123600Z"
};

Stamp stamp_of(WallTime now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  Stamp stamp;
  stamp.day = fmt::format("{:04}{:02}{:02}", static_cast<int>(date.year()),
                          static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  stamp.time = fmt::format("{}T{:02}{:02}{:02}Z", stamp.day, clock.hours().count(), clock.minutes().count(),
                           clock.seconds().count());
  return stamp;
}

// The headers that are signed, in the order of their names.
struct SignedHeaders {
  std::string lines;  // "host:example.com\n"
  std::string names;  // "host;x-amz-date"

  void add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    lines.append(name).append(":").append(value).append("\n");
    names.append(names.empty() ? "" : ";").append(name);
  }
};

std::string canonical_request(const RequestToSign& request, const SignedHeaders& headers) {
  const std::size_t query_at = std::min(request.path.find('?'), request.path.size());
  std::string_view query = request.path.substr(query_at);
  if (!query.empty()) query.remove_prefix(1);
  std::string out(request.method);
  out += '\n';
  out += percent_encoded(request.path.substr(0, query_at), "/");
  out.append("\n")
      .append(query)
      .append("\n")
      .append(headers.lines)
      .append("\n")
      .append(headers.names)
      .append("\n");
  out += to_hex(sha256(request.body_pieces));
  return out;
}

Sha256Digest signing_key(std::string_view secret, std::string_view day, std::string_view region,
                         std::string_view service) {
  const Sha256Digest of_day = hmac_sha256("AWS4" + std::string(secret), day);
  const Sha256Digest of_region = hmac_sha256(bytes_of(of_day), region);
  const Sha256Digest of_service = hmac_sha256(bytes_of(of_region), service);
  return hmac_sha256(bytes_of(of_service), "aws4_request");
}

}  // namespace

std::optional<AwsCredential> parse_aws_credential(std::string_view text) noexcept {
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  AwsCredential credential;
  credential.access_key_id = text.substr(0, first);
  text.remove_prefix(first + 1);
  const std::size_t second = std::min(text.find(':'), text.size());
  credential.secret_access_key = text.substr(0, second);
  text.remove_prefix(second);
  if (!text.empty()) credential.session_token = text.substr(1);
  const bool whole = !credential.access_key_id.empty() && !credential.secret_access_key.empty() &&
                     credential.session_token.find(':') == std::string_view::npos;
  return whole ? std::optional(credential) : std::nullopt;
}

std::string sigv4_header_lines(const AwsCredential& credential, const RequestToSign& request, WallTime now) {
  const Stamp stamp = stamp_of(now);
  SignedHeaders headers;
  headers.add("content-type", request.content_type);
  headers.add("host", request.host);
  headers.add("x-amz-date", stamp.time);
  headers.add("x-amz-security-token", credential.session_token);
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", stamp.day, request.region, request.service);
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, stamp.time, scope,
                                          to_hex(sha256(canonical_request(request, headers))));
  const Sha256Digest key =
      signing_key(credential.secret_access_key, stamp.day, request.region, request.service);
  std::string lines =
      fmt::format("authorization: {} Credential={}/{}, SignedHeaders={}, Signature={}\r\nx-amz-date: {}\r\n",
                  kAlgorithm, credential.access_key_id, scope, headers.names,
                  to_hex(hmac_sha256(bytes_of(key), to_sign)), stamp.time);
  if (!credential.session_token.empty()) {
    lines.append("x-amz-security-token: ").append(credential.session_token).append("\r\n");
  }
  return lines;
}

}  // namespace qq::providers
