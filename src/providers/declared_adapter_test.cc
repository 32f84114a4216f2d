#include "providers/declared_adapter.h"

#include <algorithm>

#include "providers/catalogue.h"
#include "providers/declared_templates.h"
#include "providers/upstream_error.h"

namespace qq::providers {
namespace {

using model::JsonTemplate;
using model::Placeholder;

DeclaredConfig least() {
  DeclaredConfig config;
  config.path = "/ask";
  config.request.body = R"({"turns": "{{messages}}"})";
  config.request.message = R"({"from": "{{role}}", "words": "{{text}}"})";
  config.answer.text = "/words";
  return config;
}

// "field: message" a line.
std::string problems(const DeclaredConfig& config) {
  const auto made = make_declared_adapter(config);
  std::string out;
  if (made) return out;
  for (const DeclaredProblem& problem : made.error()) out += problem.field + ": " + problem.message + "\n";
  return out;
}

std::string problem_of(std::string_view json, TemplateUse use = TemplateUse::Body) {
  const auto read = read_json_template(json, use);
  return read ? "" : read.error();
}

TEST(DeclaredTemplates, TellWholePlaceholdersFromTextsAndLiterals) {
  const auto read = read_json_template(
      R"({"a": "{{model}}", "b": "to {{model}} v2", "c": [1, "{{ seed | 7 }}"], "d": "{{stop!}}", "e": "{x}"})",
      TemplateUse::Body);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->keys, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(read->inside[0].kind, JsonTemplate::Kind::Placeholder);
  EXPECT_EQ(read->inside[1].kind, JsonTemplate::Kind::Text);
  EXPECT_EQ(read->inside[2].inside[0].json, "1");
  EXPECT_EQ(read->inside[2].inside[1].placeholder, Placeholder::Seed);
  EXPECT_EQ(read->inside[2].inside[1].json, "7");
  EXPECT_TRUE(read->inside[3].takes_along);
  EXPECT_EQ(read->inside[4].json, "\"{x}\"");
}

TEST(DeclaredTemplates, AFallbackMayEndInBraces) {
  const auto read = read_json_template(R"({"a": "{{schema|{\"b\":{}}}}"})", TemplateUse::Tool);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->inside[0].json, R"({"b":{}})");
}

TEST(DeclaredTemplates, SayWhatIsWrongWithThem) {
  EXPECT_EQ(problem_of("{\"a\": 1,\n  \"b\" 2}").substr(0, 29), "is not JSON in line 2, column");
  EXPECT_EQ(problem_of("[1]"), "must be a JSON object");
  EXPECT_TRUE(problem_of(R"({"a": "{{modle}}"})")
                  .starts_with("unknown placeholder {{modle}}: known here are model,"));
  EXPECT_EQ(problem_of(R"({"a": "{{messages}}"})", TemplateUse::TextPart),
            "the placeholder {{messages}} has no meaning here: known here are text");
  EXPECT_EQ(problem_of(R"({"a": "now {{messages}}"})"),
            "{{messages}} is no text: it must be all that its string holds");
  EXPECT_EQ(problem_of(R"({"a": "{{seed|x}}"})"), "what stands behind '|' in a placeholder must be JSON");
  EXPECT_EQ(problem_of(R"({"a": "v {{seed|1}}"})"),
            "'!' and '|' belong to placeholders that are all that their JSON string holds");
  EXPECT_EQ(problem_of(R"({"a": "x {{seed"})"), "opens a placeholder with {{ and no }} follows");
}

TEST(DeclaredAdapter, TheLeastDescriptionIsGood) {
  EXPECT_EQ(problems(least()), "");
}

TEST(DeclaredAdapter, SaysAllThatIsWrongAndWhere) {
  DeclaredConfig config = least();
  config.path = "ask";
  config.stream_path = "/a b";
  config.headers = {{"content-length", "1"}, {"x y", "a\nb"}};
  config.request.body = "{}";
  config.request.message = R"({"from": "{{role}}"})";
  config.answer.text = "words";
  config.answer.usage.input = "/a~b";
  config.errors.kinds = {{{}, "", "refused"}, {{}, "E1", "refused"}};
  EXPECT_EQ(
      problems(config),
      "path: expected a path that begins with '/', without spaces and '#'\n"
      "stream_path: expected a path that begins with '/', without spaces and '#'\n"
      "headers[0].name: this header is written by the gateway\n"
      "headers[1].name: expected the name of an HTTP header\n"
      "headers[1].value: holds a line break or another control character\n"
      "request.body: holds no {{messages}}, so the conversation would not be sent\n"
      "request.message: holds neither {{text}} nor {{parts}}, so nothing would be said\n"
      "answer.text: expected a JSON pointer such as /choices/0/text; '~' is written ~0 in it, and '/' in a "
      "name ~1\n"
      "answer.usage.input: expected a JSON pointer such as /choices/0/text; '~' is written ~0 in it, and "
      "'/' in a name ~1\n"
      "stream_path: is not used: `stream.format` is `none`\n"
      "errors.kinds[0]: `status` or `code` is required\n"
      "errors.kinds[1].code: there is no `errors.code`, the pointer to codes\n");
}

TEST(DeclaredAdapter, AStreamMustTellItsEnd) {
  DeclaredConfig config = least();
  config.stream.format = "sse";
  config.stream.text = "/piece";
  EXPECT_EQ(
      problems(config),
      "stream: nothing tells the stream's end: give `done`, `done_data`, `done_in` or `finish`, so that one "
      "that breaks off is not taken for a whole one\n");
  config.stream.done_data = "[DONE]";
  EXPECT_EQ(problems(config), "");
  config.stream.format = "ndjson";
  config.stream.text_in = {"words"};
  EXPECT_EQ(problems(config),
            "stream.text_in: lines of JSON have no words without `type`, the pointer to them\n");
}

TEST(DeclaredAdapter, ToolsNeedAllOfTheirTemplates) {
  DeclaredConfig config = least();
  config.request.tool = R"({"name": "{{name}}"})";
  EXPECT_EQ(problems(config), "request.tool: is not used: `body` has no {{tools}}\n");
  config.request.body = R"({"turns": "{{messages}}", "tools": "{{tools}}"})";
  EXPECT_EQ(problems(config),
            "request: `tool_call` is required, since `body` has {{tools}}\n"
            "request: `tool_result` is required, since `body` has {{tools}}\n"
            "request.message: holds no {{tool_calls}}, which a `body` with {{tools}} needs\n"
            "answer: `calls` is required, since `request.body` has {{tools}}\n");
}

TEST(DeclaredAdapter, ASignatureMustBeSentWithWhatWasSigned) {
  DeclaredConfig config = least();
  config.auth.hmac.emplace();
  config.auth.hmac->header = "x-sig";
  config.auth.hmac->value = "v1";
  config.auth.hmac->string_to_sign = "{{timestamp}}{{nonce}}";
  EXPECT_EQ(problems(config),
            "auth.hmac: no header holds {{signature}}, so the signature would not be sent\n"
            "auth.hmac.headers: no header holds {{timestamp}}, which is signed\n"
            "auth.hmac.headers: no header holds {{nonce}}, which is signed\n");
  config.auth.bearer = true;
  EXPECT_TRUE(problems(config).starts_with("auth: expected one of `bearer`, `header` and `hmac`\n"));
}

// ---- targets

ProviderConfig provider(DeclaredConfig adapter) {
  ProviderConfig made;
  made.name = "own";
  made.kind = "declared";
  made.base_url = "https://brain.example/api";
  made.adapter = std::move(adapter);
  return made;
}
AccountConfig declared_account(std::string credential) {
  AccountConfig made;
  made.name = "team";
  made.credential = Secret(std::move(credential));
  return made;
}

TEST(DeclaredTarget, HasItsPathsWithTheModelInThem) {
  DeclaredConfig config = least();
  config.path = "/v2/{{model}}/ask";
  config.stream_path = "/v2/{{model}}/live?x=1";
  config.stream.format = "sse";
  config.stream.text = "/t";
  config.stream.done_data = "END";
  const auto target = make_target(provider(config), declared_account("k-123"), "mine", "large:v 1");
  ASSERT_TRUE(target) << target.error().message;
  const model::TargetEndpoint& endpoint = target->endpoint(model::Endpoint::Declared);
  EXPECT_EQ(endpoint.path_and_query, "/api/v2/large%3Av%201/ask");
  EXPECT_EQ(endpoint.stream_path, "/api/v2/large%3Av%201/live?x=1");
  EXPECT_EQ(target->auth_header_lines.reveal(), "authorization: Bearer k-123\r\n");
  EXPECT_EQ(target->request_auth, model::RequestAuth::Fixed);
  ASSERT_NE(target->declared, nullptr);
  EXPECT_EQ(target->endpoint_for(model::Endpoint::ChatCompletions), model::Endpoint::Declared);
}

TEST(DeclaredTarget, SendsItsCredentialAsTheDescriptionSays) {
  DeclaredConfig config = least();
  config.auth.header = {"X-Api-Key", "Token "};
  EXPECT_EQ(make_target(provider(config), declared_account("k-1"), "m", "m")->auth_header_lines.reveal(),
            "X-Api-Key: Token k-1\r\n");
  EXPECT_TRUE(make_target(provider(config), declared_account(""), "m", "m")->auth_header_lines.empty());

  config.auth.header.reset();
  config.auth.hmac.emplace();
  config.auth.hmac->header = "x-sig";
  config.auth.hmac->value = "{{key_id}}:{{signature}}";
  config.auth.hmac->string_to_sign = "{{body}}";
  const auto signing = make_target(provider(config), declared_account("id:secret"), "m", "m");
  ASSERT_TRUE(signing) << signing.error().message;
  EXPECT_EQ(signing->request_auth, model::RequestAuth::Hmac);
  EXPECT_TRUE(signing->auth_header_lines.empty()) << "the secret is never sent";
  EXPECT_EQ(signing->signing_credential.reveal(), "id:secret");
  EXPECT_EQ(make_target(provider(config), declared_account("secret"), "m", "m").error().message,
            "provider \"own\": the credential of account \"team\" must be ID:SECRET, since the signature's "
            "headers name a key");
  config.auth.hmac->secret_form = "base64";
  EXPECT_FALSE(make_target(provider(config), declared_account("id:no base64"), "m", "m"));
}

TEST(DeclaredTarget, OnlyThisKindHasADescription) {
  ProviderConfig none = provider(least());
  none.adapter.reset();
  EXPECT_EQ(make_target(none, declared_account("k"), "m", "m").error().message,
            "provider \"own\": `adapter` is missing, which describes how this kind is spoken to");
  ProviderConfig other = provider(least());
  other.kind = "openai_compatible";
  EXPECT_EQ(make_target(other, declared_account("k"), "m", "m").error().message,
            "provider \"own\": `adapter` belongs to the kind declared, not to this one");
}

// ---- errors

TEST(DeclaredErrors, MeanWhatTheDescriptionSaysBeforeWhatTheirStatusSays) {
  DeclaredConfig config = least();
  config.errors.code = "/fault/code";
  config.errors.message = "/fault/text";
  config.errors.kinds = {{{}, "42", "rate_limited"}, {400, "7", "quota_exhausted"}, {418, "", "overloaded"}};
  const auto target = make_target(provider(config), declared_account("k-123456789"), "m", "m");
  ASSERT_TRUE(target);
  const wire::Fields none;
  const auto classified = [&](int status, std::string_view body) {
    return classify_reply(*target, status, none, body, WallTime{}, "k-123456789");
  };
  const Error slow = classified(400, R"({"fault": {"code": 42, "text": "slow down, k-123456789"}})");
  EXPECT_EQ(slow.kind, ErrorKind::RateLimited) << "a number is compared as text";
  EXPECT_EQ(slow.code, "42");
  EXPECT_EQ(slow.message, "slow down, ****");
  EXPECT_EQ(slow.upstream_status, 400);
  EXPECT_EQ(classified(400, R"({"fault": {"code": "7"}})").kind, ErrorKind::QuotaExhausted);
  EXPECT_EQ(classified(401, R"({"fault": {"code": "7"}})").kind, ErrorKind::CredentialDead);
  EXPECT_EQ(classified(418, "I am a teapot").kind, ErrorKind::Overloaded);
  EXPECT_EQ(classified(500, "{}").kind, ErrorKind::ServerError);
  EXPECT_EQ(classified(429, "{").kind, ErrorKind::RateLimited)
      << "a body that was cut is judged by its status";
}

TEST(DeclaredPoll, SaysWhatIsWrongWithIt) {
  DeclaredConfig config = least();
  config.poll = DeclaredPollConfig{.id = "/id", .path = "/jobs/{{operation}}", .done = "/done"};
  EXPECT_EQ(problems(config), "");
  config.poll->path = "/jobs";
  config.poll->cancel_path = "jobs/{{operation}}";
  config.poll->done = "done";
  config.poll->done_in = {"ready", "dead"};
  config.poll->failed_in = {"dead"};
  config.stream.format = "sse";
  config.stream.text = "/piece";
  config.stream.done_data = "END";
  EXPECT_EQ(problems(config),
            "poll.path: holds no {{operation}}, so nobody could tell which one is meant\n"
            "poll.done: expected a JSON pointer such as /choices/0/text; '~' is written ~0 in it, and '/' in "
            "a name ~1\n"
            "poll.cancel_path: expected a path that begins with '/', without spaces and '#'\n"
            "poll.failed_in: one of its words stands in `done_in`, too\n"
            "stream.format: expected `none`: a back end that is polled does not stream\n");
  config = least();
  config.path = "/ask/{{operation}}";
  EXPECT_EQ(problems(config),
            "path: the placeholder {{operation}} has no meaning here: known here are model\n");
}

TEST(DeclaredPoll, ItsPathsAreThoseOfTheOperation) {
  ProviderConfig provider;
  provider.name = "own";
  provider.kind = "declared";
  provider.base_url = "https://own.example/api";
  provider.adapter = least();
  provider.adapter->poll = DeclaredPollConfig{.id = "/id",
                                              .path = "/{{model}}/{{operation}}?of={{operation}}",
                                              .done = "/done",
                                              .cancel_path = "/{{operation}}/stop"};
  const auto target = make_target(provider, {.name = "a", .credential = {}, .limit_group = {}}, "m", "big/1");
  ASSERT_TRUE(target) << target.error().message;
  const model::DeclaredPoll& poll = *target->declared->poll;
  EXPECT_EQ(operation_path(poll.path, "ops/7:x y"), "/api/big%2F1/ops/7:x%20y?of=ops/7:x%20y");
  EXPECT_EQ(operation_path(poll.cancel_path, "a?b#c"), "/api/a%3Fb%23c/stop");
  for (const std::string_view id : {"", "..", "a/../b", "./a", "a/."})
    EXPECT_EQ(operation_path(poll.path, id), std::nullopt) << id;
  EXPECT_EQ(operation_path(poll.path, std::string(2'001, 'a')), std::nullopt);
  provider.drain_for_usage = true;
  EXPECT_FALSE(make_target(provider, {.name = "a", .credential = {}, .limit_group = {}}, "m", ""));
}

}  // namespace
}  // namespace qq::providers
