// Every client's dialect against every kind of provider, through the whole gateway: what is said arrives,
// whole and streamed, tools are called and their results understood, and what it cost is known.
#include <fmt/format.h>

#include "dialects/dialect.h"
#include "model/answer_builder.h"
#include "simulation/fault_case.h"
#include "wire/json.h"

namespace qq::simulation::matrix {
namespace {

using model::Dialect;

struct ProviderForm {
  std::string_view name;
  std::string_view more;  // members of its configuration
};
constexpr ProviderForm kProviders[] = {
    {"chat", R"(kind: zhipu, base_url: "http://127.0.0.1:9001/v1")"},
    {"mistral", R"(kind: mistral, base_url: "http://127.0.0.1:9001/mistral/v1")"},
    {"deepseek", R"(kind: deepseek, base_url: "http://127.0.0.1:9001/deepseek/v1")"},
    {"responses", R"(kind: openai, base_url: "http://127.0.0.1:9001/v1")"},
    {"anthropic", R"(kind: anthropic, base_url: "http://127.0.0.1:9001/v1")"},
    {"gemini", R"(kind: gemini, base_url: "http://127.0.0.1:9001/v1beta")"},
    {"bedrock", R"(kind: bedrock, base_url: "http://127.0.0.1:9001", region: eu-central-1)"},
    {"bedrock_claude", R"(kind: bedrock_anthropic, base_url: "http://127.0.0.1:9001", region: eu-central-1)"},
    {"cohere", R"(kind: cohere, base_url: "http://127.0.0.1:9001/v2")"},
    {"ollama", R"(kind: ollama_native, base_url: "http://127.0.0.1:9001")"},
};

struct ClientForm {
  std::string_view name;
  Dialect dialect;
  std::string_view path;
  std::string_view stream_path;
  std::string_view question;  // with {} for more members
  std::string_view tools;
};
constexpr std::string_view kSchema =
    R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})";

const ClientForm kClients[] = {
    {"chat", Dialect::OpenAiChat, "/v1/chat/completions", "",
     R"({{"model":"m","max_tokens":300,"messages":[{{"role":"user","content":"Tell me of the weather in Paris."}}]{}}})",
     R"(,"tools":[{{"type":"function","function":{{"name":"get_weather","description":"of a city","parameters":{}}}}}])"},
    {"responses", Dialect::OpenAiResponses, "/v1/responses", "",
     R"({{"model":"m","max_output_tokens":300,"input":"Tell me of the weather in Paris."{}}})",
     R"(,"tools":[{{"type":"function","name":"get_weather","description":"of a city","parameters":{}}}])"},
    {"anthropic", Dialect::Anthropic, "/v1/messages", "",
     R"({{"model":"m","max_tokens":300,"messages":[{{"role":"user","content":"Tell me of the weather in Paris."}}]{}}})",
     R"(,"tools":[{{"name":"get_weather","description":"of a city","input_schema":{}}}])"},
    {"gemini", Dialect::Gemini, "/v1beta/models/m:generateContent",
     "/v1beta/models/m:streamGenerateContent?alt=sse",
     R"({{"contents":[{{"role":"user","parts":[{{"text":"Tell me of the weather in Paris."}}]}}]{}}})",
     R"(,"tools":[{{"functionDeclarations":[{{"name":"get_weather","description":"of a city","parametersJsonSchema":{}}}]}}])"},
};

WorldSetup setup_of(const ProviderForm& provider) {
  WorldSetup setup;
  setup.providers = 1;
  const bool is_aws = provider.name.starts_with("bedrock");
  setup.config = fmt::format(
      "listeners: [{{address: \"127.0.0.1:8080\", serve: [api]}}]\n"
      "providers:\n  - {{name: p0, {}, allow_private_address: true, accounts: [{{name: main, credential: "
      "\"{}\"}}]}}\n"
      "models: [{{name: m, provider: p0, upstream_name: \"{}\"}}]\n",
      provider.more, is_aws ? "AKIAEXAMPLE000000001:secret/of+the+tests" : "sk-upstream",
      is_aws ? "anthropic.sim-claude-v1:0" : "sim-gpt");
  return setup;
}

Ask ask_of(const ClientForm& client, bool stream, bool tools) {
  Ask ask;
  const std::string more = tools ? fmt::format(fmt::runtime(client.tools), kSchema) : std::string();
  ask.body = fmt::format(fmt::runtime(client.question), more);
  ask.path = stream && !client.stream_path.empty() ? client.stream_path : client.path;
  return stream && client.stream_path.empty() ? ask.streamed() : ask;
}

// What a client of the dialect reads of a reply: its own provider's side is the reader.
model::ChatAnswer read(const ClientForm& client, const Exchange& heard, bool stream) {
  const model::Target target;
  const auto* reader = dialects::provider_dialect(client.dialect);
  if (!stream) {
    auto answer = reader->decode_answer(heard.reply.body, target, "seed");
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message) << heard.reply.body;
    return answer ? *std::move(answer) : model::ChatAnswer{};
  }
  class Sink final : public dialects::EventSink {
   public:
    explicit Sink(Dialect dialect) : builder(dialect) {}
    void on_event(const model::StreamEvent& event) override { builder.take(event); }
    model::AnswerBuilder builder;
  };
  Sink sink(client.dialect);
  const auto decoder = reader->stream_decoder(target, "seed");
  decoder->feed(heard.reply.body, sink);
  decoder->finish(sink);
  EXPECT_FALSE(sink.builder.error()) << (sink.builder.error() ? sink.builder.error()->message : "")
                                     << heard.reply.body;
  return sink.builder.release();
}

std::string text_of(const model::ChatAnswer& answer) {
  std::string text;
  for (const model::Choice& choice : answer.choices) {
    for (const model::Part& part : choice.parts) {
      if (const auto* piece = part.as<model::TextPart>()) text += piece->text;
    }
  }
  return text;
}

const model::ToolCallPart* call_of(const model::ChatAnswer& answer) {
  for (const model::Choice& choice : answer.choices) {
    for (const model::Part& part : choice.parts) {
      if (const auto* call = part.as<model::ToolCallPart>()) return call;
    }
  }
  return nullptr;
}

using Param = std::tuple<std::size_t, std::size_t>;
class Matrix : public ::testing::TestWithParam<Param> {
 protected:
  const ClientForm& client() const { return kClients[std::get<0>(GetParam())]; }
  const ProviderForm& provider() const { return kProviders[std::get<1>(GetParam())]; }
};

TEST_P(Matrix, TextIsTheSameWholeAndStreamed) {
  World world(setup_of(provider()));
  const Exchange whole = world.ask(ask_of(client(), false, false));
  ASSERT_EQ(whole.reply.status, 200) << whole.reply.body;
  const model::ChatAnswer first = read(client(), whole, false);
  EXPECT_FALSE(text_of(first).empty()) << whole.reply.body;
  EXPECT_GT(first.usage.output_total(), 0) << whole.reply.body;
  ASSERT_TRUE(whole.record);
  EXPECT_EQ(whole.record->usage.source, model::UsageSource::Provider);
  EXPECT_EQ(first.usage.output_total(), whole.record->usage.output_total());
  const Exchange streamed = world.ask(ask_of(client(), true, false));
  ASSERT_EQ(streamed.reply.status, 200) << streamed.reply.body;
  EXPECT_TRUE(streamed.reply.complete);
  const model::ChatAnswer second = read(client(), streamed, true);
  EXPECT_EQ(text_of(second), text_of(first)) << streamed.reply.body;
  EXPECT_EQ(second.choices.at(0).finish, first.choices.at(0).finish);
  ASSERT_TRUE(streamed.record);
  // These send a stream's usage unasked, so that they are not asked; the simulated provider wants to be.
  const bool is_unasked =
      provider().name == "mistral" || (provider().name == "chat" && client().name == "chat");
  EXPECT_EQ(streamed.record->usage.source,
            is_unasked ? model::UsageSource::None : model::UsageSource::Provider)
      << streamed.reply.body;
  world.expect_rest();
}

TEST_P(Matrix, AToolIsCalled) {
  World world(setup_of(provider()));
  for (const bool stream : {false, true}) {
    const Exchange heard = world.ask(ask_of(client(), stream, true));
    ASSERT_EQ(heard.reply.status, 200) << heard.reply.body;
    const model::ChatAnswer answer = read(client(), heard, stream);
    const model::ToolCallPart* call = call_of(answer);
    ASSERT_NE(call, nullptr) << heard.reply.body;
    EXPECT_EQ(call->name, "get_weather");
    ASSERT_FALSE(wire::check_json(call->arguments)) << call->arguments;
    EXPECT_TRUE(wire::JsonValue(call->arguments).member("city")) << call->arguments;
    EXPECT_EQ(answer.choices.at(0).finish, model::Finish::ToolCalls) << heard.reply.body;
  }
  world.expect_rest();
}

TEST_P(Matrix, AStreamThatBreaksIsAPrefixAndAnError) {
  World world(setup_of(provider()));
  const std::string whole = world.ask(ask_of(client(), true, false)).reply.body;
  world.provider(0).misbehave("fault=reset_mid_body; at=6; gap=20");
  const Exchange heard = world.ask(ask_of(client(), true, false));
  ASSERT_TRUE(heard.record);
  if (heard.reply.status != 200) return;  // it broke before the first content
  EXPECT_TRUE(heard.record->interrupted);
  const model::Target target;
  class Sink final : public dialects::EventSink {
   public:
    void on_event(const model::StreamEvent& event) override {
      failed = failed || event.kind == model::StreamEvent::Kind::Failed;
    }
    bool failed = false;
  } sink;
  const auto decoder = dialects::provider_dialect(client().dialect)->stream_decoder(target, "seed");
  decoder->feed(heard.reply.body, sink);
  EXPECT_TRUE(sink.failed) << heard.reply.body;
}

TEST_P(Matrix, ABusyProviderIsToldInTheClientsWords) {
  World world(setup_of(provider()));
  world.provider(0).misbehave("fault=429; retry_after=7");
  const Exchange heard = world.ask(ask_of(client(), false, false));
  EXPECT_EQ(heard.reply.status, 429) << heard.reply.body;
  EXPECT_TRUE(heard.reply.header("retry-after"));
  EXPECT_EQ(heard.story(), "rate_limited");
}

std::string name_of(const ::testing::TestParamInfo<Param>& info) {
  return fmt::format("{}_at_{}", kClients[std::get<0>(info.param)].name,
                     kProviders[std::get<1>(info.param)].name);
}
INSTANTIATE_TEST_SUITE_P(All, Matrix,
                         ::testing::Combine(::testing::Range<std::size_t>(0, std::size(kClients)),
                                            ::testing::Range<std::size_t>(0, std::size(kProviders))),
                         name_of);

}  // namespace
}  // namespace qq::simulation::matrix
