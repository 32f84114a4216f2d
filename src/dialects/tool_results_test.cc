// Tools' results hold more than texts in some dialects: what of them other targets get.
#include <fakes/asking.h>

namespace qq::dialects {
namespace {

using namespace qq::testing::asking;
using model::Dialect;

// A tool that searched, as Anthropic documents it for retrieval.
constexpr std::string_view kSearched =
    R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"},)"
    R"({"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},)"
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[)"
    R"({"type":"search_result","source":"https://a.example","title":"Tides","content":[{"type":"text","text":"High at noon."}]},)"
    R"({"type":"tool_reference","tool_name":"g"}]}]}]})";

TEST(ToolResults, SearchResultsAreTextForOtherDialects) {
  const auto request = client_dialect(Dialect::Anthropic)->decode_request(kSearched, {});
  ASSERT_TRUE(request);
  for (const Dialect dialect : {Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Gemini,
                                Dialect::Bedrock, Dialect::Cohere, Dialect::Ollama}) {
    model::Target target;
    target.upstream_model = "claude-sonnet-4-5";
    const Sent out = sent(*provider_dialect(dialect), *request, target);
    EXPECT_NE(out.body.find(R"(Tides\nhttps://a.example\nHigh at noon.)"), std::string::npos) << out.body;
    EXPECT_NE(out.losses.find("messages: a part that only its own dialect has\n"), std::string::npos)
        << to_string(dialect) << ": " << out.losses;
  }
  const Sent own = sent(*provider_dialect(Dialect::Anthropic), *request, {});
  EXPECT_NE(own.body.find(R"({"type":"search_result")"), std::string::npos);
  EXPECT_EQ(own.losses, "");
}

}  // namespace
}  // namespace qq::dialects
