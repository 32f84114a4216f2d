// What requests to providers of all kinds look like on the wire: path, host, credential, default lines.
#include <fakes/http_script.h>
#include <fakes/service_account.h>

#include "net/simulated_loop.h"
#include "providers/catalogue.h"
#include "providers/hmac_signer.h"
#include "providers/sigv4.h"
#include "upstream/http_client.h"
#include "upstream/request_authorizer.h"

namespace qq::upstream {
namespace {

using namespace std::chrono_literals;

class RequestHeadTest : public ::testing::Test {
 protected:
  RequestHeadTest() { server_.replies = {{.body = "{}"}}; }
  ~RequestHeadTest() override {
    tasks_.spawn(close(&authorizer_));
    loop_.run();
    client_.close_idle();
    loop_.run();
  }

  static model::Target target_of(std::string_view kind, std::string_view model, std::string credential) {
    providers::ProviderConfig provider;
    provider.name = "p";
    provider.kind = kind;
    provider.base_url = "http://127.0.0.1:9300";
    provider.allow_private_address = true;
    if (kind.starts_with("bedrock")) provider.region = "eu-central-1";
    if (kind.starts_with("vertex")) {
      provider.project = "project";
      provider.location = "global";
    }
    providers::AccountConfig account;
    account.name = "main";
    account.credential = Secret(std::move(credential));
    auto target = providers::make_target(provider, account, model, "");
    EXPECT_TRUE(target) << target.error().message;
    return *std::move(target);
  }

  // Sends the call with what authorizes it, and lets everything happen that happens now.
  void start(relay::UpstreamCall call) {
    call.request_id = "req-1";
    call.body_pieces = body_;
    call.body_bytes = 15;
    tasks_.spawn(send(&client_, &authorizer_, call));
    loop_.run_for(0ns);
  }
  // The same until all is quiet; the last request that the server has seen.
  std::string sent(const relay::UpstreamCall& call) {
    start(call);
    loop_.run();
    return server_.requests.empty() ? "nothing" : server_.requests.back();
  }

  net::SimulatedLoop loop_;
  relay::LoopCounters counters_;
  HttpUpstreamClient client_{loop_, counters_, nullptr, {}};
  RequestAuthorizer authorizer_{loop_, client_};
  fakes::HttpScript server_{loop_, "127.0.0.1:9300"};
  std::array<std::string_view, 2> body_ = {R"({"mess)", R"(ages":[]})"};
  TaskGroup tasks_;

 private:
  static Task<void> send(HttpUpstreamClient* client, RequestAuthorizer* authorizer,
                         relay::UpstreamCall call) {
    const relay::Timers timers;
    const net::Scope scope;
    Result<std::string> lines = co_await authorizer->header_lines(call, timers, scope);
    EXPECT_TRUE(lines) << lines.error().message;
    if (!lines) co_return;
    call.auth_lines = *lines;
    auto reply = co_await client->send(call, timers, scope);
    EXPECT_TRUE(reply) << reply.error().message;
    if (reply) EXPECT_EQ((*reply)->try_read().bytes, "{}");
  }
  static Task<void> close(RequestAuthorizer* authorizer) { co_await authorizer->close(); }
};

TEST_F(RequestHeadTest, SignsARequestToBedrockAsItGoesOut) {
  const model::Target target = target_of("bedrock", "anthropic.claude-v1:0", "AKIA1:secret:token");
  relay::UpstreamCall call;
  call.target = &target;
  call.endpoint = model::Endpoint::Converse;
  call.stream = true;
  providers::RequestToSign to_sign{.host = "127.0.0.1:9300",
                                   .path = "/model/anthropic.claude-v1%3A0/converse-stream",
                                   .content_type = "application/json",
                                   .body_pieces = body_,
                                   .region = "eu-central-1"};
  const std::string lines =
      providers::sigv4_header_lines({"AKIA1", "secret", "token"}, to_sign, loop_.wall_now());
  EXPECT_EQ(sent(call),
            "POST /model/anthropic.claude-v1%3A0/converse-stream HTTP/1.1\r\nhost: 127.0.0.1:9300\r\n" +
                lines +
                "content-type: application/json\r\naccept-encoding: identity\r\nuser-agent: queqiao\r\n"
                "accept: application/vnd.amazon.eventstream\r\nx-request-id: req-1\r\n"
                "content-length: 15\r\n\r\n{\"messages\":[]}");
}

// The nonce of a request to a declared back end.
std::string nonce_of(const std::string& request) {
  return request.substr(request.find("x-nonce: ") + 9, 32);
}

Result<model::Target> signed_target() {
  providers::ProviderConfig provider;
  provider.name = "p";
  provider.kind = "declared";
  provider.base_url = "http://127.0.0.1:9300/api";
  provider.allow_private_address = true;
  provider.adapter.emplace();
  provider.adapter->path = "/ask?v=2";
  provider.adapter->request.body = R"({"turns": "{{messages}}"})";
  provider.adapter->request.message = R"({"words": "{{text}}"})";
  provider.adapter->answer.text = "/words";
  provider.adapter->auth.hmac.emplace();
  provider.adapter->auth.hmac->header = "x-sig";
  provider.adapter->auth.hmac->string_to_sign = "{{timestamp}} {{host}}{{path}}?{{query}} {{body}}";
  provider.adapter->auth.hmac->headers = {{"x-time", "{{timestamp}}"}, {"x-nonce", "{{nonce}}"}};
  providers::AccountConfig account;
  account.name = "a";
  account.credential = Secret("secret");
  return providers::make_target(provider, account, "m", "");
}

TEST_F(RequestHeadTest, SignsARequestToADeclaredBackEndAsItsDescriptionSays) {
  const auto target = signed_target();
  ASSERT_TRUE(target) << target.error().message;
  relay::UpstreamCall call;
  call.target = &*target;
  call.endpoint = model::Endpoint::Declared;
  const WallTime now = loop_.wall_now();  // the loop goes on until its idle connection is closed
  const std::string request = sent(call);
  const std::string nonce = nonce_of(request);
  EXPECT_EQ(nonce.find_first_not_of("0123456789abcdef"), std::string::npos) << request;
  const std::string lines = providers::hmac_header_lines(
      *target->declared->hmac, Secret("secret"),
      {.host = "127.0.0.1:9300", .path_and_query = "/api/ask?v=2", .body_pieces = body_}, now, nonce);
  EXPECT_TRUE(request.starts_with("POST /api/ask?v=2 HTTP/1.1\r\nhost: 127.0.0.1:9300\r\n" + lines))
      << request;
  EXPECT_NE(nonce_of(sent(call)), nonce) << "each attempt has one of its own";
}

TEST_F(RequestHeadTest, SignsAnewWhatItSendsOnceMoreAsAPooledConnectionWasClosed) {
  const auto target = signed_target();
  ASSERT_TRUE(target) << target.error().message;
  relay::UpstreamCall call;
  call.target = &*target;
  call.endpoint = model::Endpoint::Declared;
  server_.replies = {{.body = "{}"}, {.closes = true}, {.body = "{}"}};
  start(call);
  start(call);
  ASSERT_EQ(server_.requests.size(), 3U);
  EXPECT_EQ(counters_.upstream_resends.get(), 1);
  EXPECT_NE(nonce_of(server_.requests[2]), nonce_of(server_.requests[1]));
  EXPECT_TRUE(server_.requests[2].ends_with("{\"messages\":[]}"));
}

TEST_F(RequestHeadTest, SaysTheVersionOfMessagesUnlessTheRequestDoes) {
  const model::Target target = target_of("anthropic", "claude-x", "sk-ant-1");
  relay::UpstreamCall call;
  call.target = &target;
  call.endpoint = model::Endpoint::Messages;
  const std::string without = sent(call);
  EXPECT_TRUE(
      without.starts_with("POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:9300\r\nx-api-key: sk-ant-1\r\n"
                          "anthropic-version: 2023-06-01\r\n"))
      << without;
  call.header_lines = "anthropic-beta: a\r\nAnthropic-Version: 2024-01-01\r\n";
  const std::string with = sent(call);
  EXPECT_EQ(with.find("2023-06-01"), std::string::npos) << with;
  EXPECT_NE(with.find("\r\nAnthropic-Version: 2024-01-01\r\n"), std::string::npos) << with;
}

TEST_F(RequestHeadTest, AsksForAStreamAtItsOwnPath) {
  const model::Target target = target_of("gemini", "gemini-3-pro", "AIza-1");
  relay::UpstreamCall call;
  call.target = &target;
  call.endpoint = model::Endpoint::GenerateContent;
  EXPECT_TRUE(sent(call).starts_with("POST /models/gemini-3-pro:generateContent HTTP/1.1\r\n"));
  call.stream = true;
  const std::string stream = sent(call);
  EXPECT_TRUE(stream.starts_with("POST /models/gemini-3-pro:streamGenerateContent?alt=sse HTTP/1.1\r\n"))
      << stream;
  EXPECT_NE(stream.find("\r\nx-goog-api-key: AIza-1\r\n"), std::string::npos);
  EXPECT_NE(stream.find("\r\naccept: text/event-stream\r\n"), std::string::npos);
}

TEST_F(RequestHeadTest, SendsATokenToVertex) {
  const fakes::RsaPair pair;
  const model::Target target = target_of("vertex_anthropic", "claude-x",
                                         fakes::service_account_json(pair, "http://127.0.0.1:9300/token"));
  server_.replies = {{.body = R"({"access_token":"ya29.one","expires_in":3599})"}, {.body = "{}"}};
  relay::UpstreamCall call;
  call.target = &target;
  call.endpoint = model::Endpoint::Messages;
  const std::string request = sent(call);
  EXPECT_TRUE(request.starts_with(
      "POST /projects/project/locations/global/publishers/anthropic/models/claude-x:rawPredict HTTP/1.1\r\n"))
      << request;
  EXPECT_NE(request.find("\r\nauthorization: Bearer ya29.one\r\n"), std::string::npos) << request;
  EXPECT_EQ(server_.requests.size(), 2U);
}

}  // namespace
}  // namespace qq::upstream
