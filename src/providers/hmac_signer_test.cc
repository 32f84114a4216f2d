#include "providers/hmac_signer.h"

#include <array>

#include "providers/declared_templates.h"

namespace qq::providers {
namespace {

using Scheme = model::HmacScheme;

// 2026-01-31 12:30:45.678 UTC.
constexpr WallTime kSignedAt{std::chrono::milliseconds(1769862645678)};
constexpr std::array<std::string_view, 2> kSignedBody{R"({"words":)", R"("hi"})"};

model::TextTemplate words(std::string_view text, TemplateUse use) {
  auto read = read_text_template(text, use);
  EXPECT_TRUE(read) << read.error();
  return read.value_or(model::TextTemplate());
}

Scheme scheme(std::string_view to_sign, std::string_view value = "{{signature}}") {
  Scheme made;
  made.string_to_sign = words(to_sign, TemplateUse::StringToSign);
  made.headers.push_back({"x-signature", words(value, TemplateUse::SignedHeader)});
  return made;
}

std::string lines(const Scheme& scheme, std::string credential = "secret") {
  const RequestToHmac request{
      .host = "brain.example", .path_and_query = "/v2/ask?mode=live&x=1", .body_pieces = kSignedBody};
  return hmac_header_lines(scheme, Secret(std::move(credential)), request, kSignedAt, "0011223344");
}

// RFC 4231, test case 2, and RFC 2202's for SHA-1, whose key and text are the same.
TEST(HmacSigner, MatchesTheStandardsVectors) {
  Scheme made = scheme("what do ya want for nothing?");
  EXPECT_EQ(lines(made, "Jefe"),
            "x-signature: 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843\r\n");
  made.algorithm = Scheme::Algorithm::Sha1;
  EXPECT_EQ(lines(made, "Jefe"), "x-signature: effcdf6ae5eb2fa2d27416d5f184df9c259a7c79\r\n");
}

// The expected signature was made by another implementation (Python's hmac) over the text that stands beside.
TEST(HmacSigner, SignsWhatTheTemplateSays) {
  // "POST\n/v2/ask\nmode=live&x=1\nbrain.example\n1769862645\n0011223344\n" and the body's hash.
  EXPECT_EQ(
      lines(scheme("{{method}}\n{{path}}\n{{query}}\n{{host}}\n{{timestamp}}\n{{nonce}}\n{{body_sha256}}")),
      "x-signature: a25fc4c87954f65da02b6db8c308f9440f1241881dce22b17a0fa30450efb25f\r\n");
  EXPECT_EQ(lines(scheme("{{timestamp}}.{{body}}")),
            "x-signature: a07b7fc6dbe6b59c366bb60bd6aff2c4843832c689c7d895b3987e24731354c0\r\n");
}

TEST(HmacSigner, ABodyInPiecesIsSignedLikeAWholeOne) {
  constexpr std::array<std::string_view, 1> kWhole{R"({"words":"hi"})"};
  const Scheme made = scheme("{{body_sha256}}{{body}}");
  const RequestToHmac whole{
      .host = "brain.example", .path_and_query = "/v2/ask?mode=live&x=1", .body_pieces = kWhole};
  EXPECT_EQ(lines(made), hmac_header_lines(made, Secret("secret"), whole, kSignedAt, "0011223344"));
}

TEST(HmacSigner, TellsTheKeyTheTimeAndTheNonceBesideTheSignature) {
  Scheme made = scheme("x", "Key={{key_id}}, Signature={{signature}}");
  made.has_key_id = true;
  made.encoding = Scheme::Encoding::Base64;
  made.headers.push_back({"x-time", words("{{timestamp}}", TemplateUse::SignedHeader)});
  made.headers.push_back({"x-nonce", words("n-{{nonce}}", TemplateUse::SignedHeader)});
  EXPECT_EQ(lines(made, "id-7:secret"),
            "x-signature: Key=id-7, Signature=EX7KMy9+E8y45FdOTzPaohKpIxNTZwwri0eX3wu3evo=\r\n"
            "x-time: 1769862645\r\nx-nonce: n-0011223344\r\n");
  // A secret may have colons of its own.
  EXPECT_NE(lines(made, "id-7:secret:2"), lines(made, "id-7:secret"));
}

TEST(HmacSigner, WritesTheTimeAsTheBackEndWantsIt) {
  Scheme made = scheme("x", "{{timestamp}}");
  made.clock = Scheme::Clock::Milliseconds;
  EXPECT_EQ(lines(made), "x-signature: 1769862645678\r\n");
  made.clock = Scheme::Clock::Iso;
  EXPECT_EQ(lines(made), "x-signature: 2026-01-31T12:30:45Z\r\n");
  made.clock = Scheme::Clock::IsoBasic;
  EXPECT_EQ(lines(made), "x-signature: 20260131T123045Z\r\n");
}

TEST(HmacSigner, ASecretInBase64IsDecodedFirst) {
  Scheme made = scheme("what do ya want for nothing?");
  made.secret_form = Scheme::SecretForm::Base64;
  EXPECT_EQ(lines(made, "SmVmZQ=="),
            "x-signature: 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843\r\n");
}

TEST(HmacSigner, APathWithoutAQueryHasAnEmptyOne) {
  const Scheme made = scheme("x", "[{{path}}][{{query}}]");
  const RequestToHmac request{.host = "h", .path_and_query = "/a", .body_pieces = {}};
  EXPECT_EQ(hmac_header_lines(made, Secret("s"), request, kSignedAt, "n"), "x-signature: [/a][]\r\n");
}

}  // namespace
}  // namespace qq::providers
