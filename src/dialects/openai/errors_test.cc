#include "dialects/openai/errors.h"

#include "wire/json.h"

namespace qq::dialects::openai {
namespace {

Error upstream(ErrorKind kind, int status = 0, std::string message = "their words") {
  Error error = Error::upstream(kind, AttemptPhase::ReplyBegun, std::move(message));
  error.upstream_status = static_cast<std::uint16_t>(status);
  return error;
}

std::string told_field(std::string_view body, std::string_view name) {
  EXPECT_FALSE(wire::check_json(body)) << body;
  const auto found = wire::JsonValue(body).at("error", name);
  return found ? std::string(found->text()) : "absent";
}

TEST(EncodeError, HasTheFourMembersThatSdksRead) {
  const auto encoded =
      encode_error(Error::client(ErrorKind::InvalidRequest, "say \"model\"", "model"), "01H");
  EXPECT_EQ(encoded.status, 400);
  EXPECT_EQ(
      encoded.body,
      R"({"error":{"message":"say \"model\"","type":"invalid_request_error","param":"model","code":null}})");
}

TEST(EncodeError, HasTheStatusThatSdksMakeTypedExceptionsOf) {
  const std::vector<std::pair<Error, int>> cases = {
      {Error::client(ErrorKind::Unauthorized, "no key"), 401},
      {Error::client(ErrorKind::Forbidden, "x"), 403},
      {Error::client(ErrorKind::NotFound, "x"), 404},
      {Error::client(ErrorKind::MethodNotAllowed, "x"), 405},
      {Error::client(ErrorKind::RequestTimeout, "x"), 408},
      {Error::client(ErrorKind::PayloadTooLarge, "x"), 413},
      {upstream(ErrorKind::RateLimited, 429), 429},
      {upstream(ErrorKind::QuotaExhausted, 429), 503},
      {Error::client(ErrorKind::QuotaExhausted, "your budget is spent"), 429},
      {upstream(ErrorKind::CredentialDead, 401), 503},
      {upstream(ErrorKind::CredentialDead, 400), 503},
      {upstream(ErrorKind::ModelMissing, 404), 404},
      {upstream(ErrorKind::ModelMissing, 400), 400},
      {upstream(ErrorKind::Refused, 400), 400},
      {upstream(ErrorKind::Refused, 403), 403},
      {upstream(ErrorKind::Refused, 413), 413},
      {upstream(ErrorKind::Refused, 422), 422},
      {upstream(ErrorKind::Refused, 401), 400},
      {upstream(ErrorKind::Refused, 402), 400},
      {upstream(ErrorKind::Refused, 429), 413},
      {upstream(ErrorKind::Forbidden, 403), 403},
      {upstream(ErrorKind::Refused, 200), 400},
      {upstream(ErrorKind::Overloaded, 529), 503},
      {upstream(ErrorKind::ServerError, 500), 502},
      {upstream(ErrorKind::ServerError, 504), 504},
      {upstream(ErrorKind::ConnectFailed), 503},
      {upstream(ErrorKind::ConnectTimeout), 504},
      {upstream(ErrorKind::TlsFailed), 502},
      {upstream(ErrorKind::FirstContentTimeout), 504},
      {upstream(ErrorKind::EmptyReply, 200), 502},
      {upstream(ErrorKind::StreamCut, 200), 502},
      {Error::gateway(ErrorKind::NoTarget, "x"), 503},
      {Error::gateway(ErrorKind::Saturated, "x"), 503},
      {Error::gateway(ErrorKind::ShuttingDown, "x"), 503},
      {Error::gateway(ErrorKind::Internal, "x"), 500},
  };
  for (const auto& [error, status] : cases) {
    EXPECT_EQ(status_of(error), status) << to_string(error.kind);
    EXPECT_EQ(encode_error(error, "id").status, status) << to_string(error.kind);
  }
}

TEST(EncodeError, EveryKindHasAStatusATypeAndAValidBody) {
  for (int i = 0; i <= static_cast<int>(ErrorKind::Internal); ++i) {
    const auto encoded = encode_error(upstream(static_cast<ErrorKind>(i)), "id");
    EXPECT_GE(encoded.status, 400);
    EXPECT_LT(encoded.status, 600);
    EXPECT_NE(told_field(encoded.body, "type"), "null") << i;
    EXPECT_NE(told_field(encoded.body, "message"), "absent") << i;
  }
}

TEST(EncodeError, CodesAreTheOnesThatClientsLookFor) {
  EXPECT_EQ(told_field(encode_error(Error::client(ErrorKind::Unauthorized, "x"), "").body, "code"),
            "\"invalid_api_key\"");
  EXPECT_EQ(told_field(encode_error(Error::client(ErrorKind::NotFound, "x", "model"), "").body, "code"),
            "\"model_not_found\"");
  EXPECT_EQ(told_field(encode_error(Error::client(ErrorKind::NotFound, "x"), "").body, "code"), "\"unknown_url\"");
  EXPECT_EQ(told_field(encode_error(upstream(ErrorKind::RateLimited, 429), "").body, "code"),
            "\"rate_limit_exceeded\"");
  EXPECT_EQ(told_field(encode_error(Error::client(ErrorKind::QuotaExhausted, "x"), "").body, "code"),
            "\"insufficient_quota\"");
  EXPECT_EQ(told_field(encode_error(upstream(ErrorKind::TlsFailed), "").body, "code"), "\"upstream_tls\"");
}

TEST(EncodeError, HandsOnTheProvidersOwnObject) {
  Error error = upstream(ErrorKind::Refused, 400);
  error.type = "invalid_request_error";
  error.code = "content_filter";
  error.object = R"({"message":"filtered","code":"content_filter","innererror":{"code":"Responsible"}})";
  EXPECT_EQ(encode_error(error, "id").body, "{\"error\":" + error.object + "}");
}

TEST(EncodeError, KeepsTheProvidersWordsWhenThereIsNoObject) {
  Error error = upstream(ErrorKind::Refused, 400, "too long");
  error.type = "invalid_request_error";
  error.code = "context_length_exceeded";
  error.param = "messages";
  EXPECT_EQ(
      encode_error(error, "id").body,
      R"({"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})");
}

TEST(EncodeError, WritesItsOwnObjectWhenTheProvidersHasNoMessage) {
  Error error = upstream(ErrorKind::Refused, 400, "the provider answered with status 400 and no message");
  error.object = R"({"code":7})";
  EXPECT_EQ(told_field(encode_error(error, "id").body, "message"),
            "\"the provider answered with status 400 and no message\"");
}

TEST(EncodeError, SaysNothingOfOurStandingWithAProvider) {
  for (const ErrorKind kind : {ErrorKind::CredentialDead, ErrorKind::QuotaExhausted}) {
    Error error = upstream(kind, 401, "Incorrect API key provided: sk-****");
    error.type = "invalid_request_error";
    error.code = "invalid_api_key";
    error.object = R"({"message":"Incorrect API key provided: sk-****"})";
    const auto encoded = encode_error(error, "id");
    EXPECT_EQ(encoded.status, 503);
    EXPECT_EQ(encoded.body.find("API key"), std::string::npos) << encoded.body;
    EXPECT_EQ(told_field(encoded.body, "code"), "\"upstream_unavailable\"");
  }
}

TEST(EncodeError, ALimitIsToldInOurWords) {
  Error error =
      upstream(ErrorKind::RateLimited, 429,
               "Rate limit reached for gpt-4o in organization org-Ab3 on tokens per min: Limit 30000");
  error.type = "tokens";
  error.code = "rate_limit_exceeded";
  error.object = R"({"message":"Rate limit reached for gpt-4o in organization org-Ab3: Limit 30000"})";
  for (const std::string& told :
       {encode_error(error, "id").body, encode_stream_error(error, model::Endpoint::ChatCompletions, "id"),
        encode_stream_error(error, model::Endpoint::Responses, "id")}) {
    EXPECT_EQ(told.find("org-"), std::string::npos) << told;
    EXPECT_EQ(told.find("30000"), std::string::npos) << told;
    EXPECT_NE(told.find("\"code\":\"rate_limit_exceeded\""), std::string::npos) << told;
  }
  error.origin = ErrorOrigin::Client;
  error.object.clear();
  EXPECT_NE(encode_error(error, "id").body.find("30000"), std::string::npos) << "a limit of the client's own";
}

TEST(EncodeError, NamesTheRequestWhereSupportWillAskForIt) {
  EXPECT_EQ(told_field(encode_error(Error::gateway(ErrorKind::Internal, "broken"), "01HX").body, "message"),
            "\"broken (request 01HX)\"");
  EXPECT_EQ(told_field(encode_error(Error::client(ErrorKind::InvalidRequest, "bad"), "01HX").body, "message"),
            "\"bad\"");
}

TEST(EncodeStreamError, IsOneEventWithoutDone) {
  Error error = upstream(ErrorKind::StreamCut, 200, "cut");
  EXPECT_EQ(
      encode_stream_error(error, model::Endpoint::ChatCompletions, ""),
      "data: "
      "{\"error\":{\"message\":\"cut\",\"type\":\"server_error\",\"param\":null,\"code\":\"upstream_stream_"
      "cut\"}}\n\n");
  EXPECT_EQ(encode_stream_error(error, model::Endpoint::Responses, ""),
            "event: error\ndata: "
            "{\"type\":\"error\",\"code\":\"upstream_stream_cut\",\"message\":\"cut\",\"param\":null}"
            "\n\n");
}

TEST(EncodeStreamError, StaysOnOneLineWhateverTheProviderSent) {
  Error error = upstream(ErrorKind::StreamError, 200, "a\nb");
  error.object = "{\n  \"message\": \"a\\nb\",\r\n  \"code\": 503\n}";
  const std::string event = encode_stream_error(error, model::Endpoint::ChatCompletions, "");
  EXPECT_EQ(std::ranges::count(event, '\n'), 2);
  EXPECT_EQ(std::ranges::count(event, '\r'), 0);
  EXPECT_THAT(event, ::testing::HasSubstr("\"code\": 503"));
}

}  // namespace
}  // namespace qq::dialects::openai
