// Files and batches: made at one account, found there ever after, and only by whoever made them.
#include <fmt/format.h>

#include "admission/key_hash.h"
#include "base/secret.h"
#include "fakes/http_script.h"
#include "simulation/world.h"
#include "storage/memory/memory_holding_store.h"
#include "wire/json.h"

namespace qq::simulation::held {
namespace {

constexpr std::string_view kAnthropic = "anthropic-version: 2023-06-01\r\n";

// Two accounts at one provider of OpenAI's kind (each key sees its own there), one at another, and
// Anthropic's.
WorldSetup shop() {
  WorldSetup setup;
  setup.config = R"(
listeners: [{address: "127.0.0.1:8080", serve: [api]}]
providers:
  - {name: p0, kind: openai, base_url: "http://127.0.0.1:9001/v1", allow_private_address: true, accounts: [{name: a, credential: sk-account-a}]}
  - {name: p1, kind: openai, base_url: "http://127.0.0.1:9002/v1", allow_private_address: true, accounts: [{name: b, credential: sk-account-b}]}
  - {name: p2, kind: anthropic, base_url: "http://127.0.0.1:9003/v1", allow_private_address: true, accounts: [{name: c, credential: sk-account-c}]}
models:
  - {name: gpt, provider: p0, upstream_name: sim-gpt}
  - {name: mini, provider: p0, upstream_name: sim-mini}
  - {name: other, provider: p1, upstream_name: sim-gpt}
  - {name: claude, provider: p2, upstream_name: sim-claude}
routes:
  - {name: either, candidates: [{model: gpt}], fallback: [{model: other}]}
)";
  return setup;
}

// A store that may refuse to note anything.
class BrokenHoldings final : public relay::HoldingStore {
 public:
  bool broken = false;

  Task<Result<bool>> has_room(relay::StoreCall call) override { return inner_.has_room(std::move(call)); }
  Task<Result<>> put(relay::StoreCall call, relay::Holding holding) override {
    if (broken) return refused();
    return inner_.put(std::move(call), std::move(holding));
  }
  Task<Result<>> update(relay::StoreCall call, relay::Holding holding) override {
    if (broken) return refused();
    return inner_.update(std::move(call), std::move(holding));
  }
  Task<Result<relay::Holding>> get(relay::StoreCall call, relay::HoldingKind kind, std::string id) override {
    return inner_.get(std::move(call), kind, std::move(id));
  }
  Task<Result<>> remove(relay::StoreCall call, relay::HoldingKind kind, std::string id) override {
    if (broken) return refused();
    return inner_.remove(std::move(call), kind, std::move(id));
  }
  Task<Result<relay::HoldingPage>> list(relay::StoreCall call, relay::HoldingQuery query) override {
    return inner_.list(std::move(call), std::move(query));
  }
  Task<Result<relay::Holder>> holder(relay::StoreCall call, relay::HoldingKind kind,
                                     std::string id) override {
    return inner_.holder(std::move(call), kind, std::move(id));
  }
  Task<Result<bool>> settle(relay::StoreCall call, relay::HoldingKind kind, std::string id) override {
    return inner_.settle(std::move(call), kind, std::move(id));
  }
  Task<Result<std::size_t>> remove_expired(relay::StoreCall call, std::size_t most) override {
    return inner_.remove_expired(std::move(call), most);
  }
  [[nodiscard]] bool may_hold_any() const noexcept override { return inner_.may_hold_any(); }

 private:
  static Task<Result<>> refused() {
    co_return fail(Error::gateway(ErrorKind::Saturated, "the store of files and batches is full"));
  }
  storage::MemoryHoldingStore inner_{{.ttl = std::chrono::hours(24), .owner_entries_max = 100}};
};

struct Caller {
  World& world;
  std::string_view key = kKeyLine;
  std::string_view lines = "";

  Exchange call(std::string_view method, std::string_view path, std::string_view body = "",
                std::string_view type = "application/json") const {
    return world.say(text(method, path, body, type));
  }
  Exchange upload(std::string_view content, std::string_view purpose = "user_data",
                  std::string_view model = "gpt") const {
    const std::string body = form(content, purpose, model);
    return call("POST", "/v1/files", body, "multipart/form-data; boundary=b");
  }
  [[nodiscard]] std::string text(std::string_view method, std::string_view path, std::string_view body,
                                 std::string_view type) const {
    return fmt::format("{} {} HTTP/1.1\r\nhost: x\r\n{}{}content-type: {}\r\ncontent-length: {}\r\n\r\n{}",
                       method, path, key, lines, type, body.size(), body);
  }
  static std::string form(std::string_view content, std::string_view purpose, std::string_view model) {
    std::string out;
    const auto add = [&](std::string_view head, std::string_view value) {
      out += fmt::format("--b\r\ncontent-disposition: form-data; {}\r\n\r\n{}\r\n", head, value);
    };
    if (!purpose.empty()) add("name=\"purpose\"", purpose);
    if (!model.empty()) add("name=\"model\"", model);
    add("name=\"file\"; filename=\"x\"", content);
    return out + "--b--\r\n";
  }
};

std::string member(const Exchange& heard, std::string_view key) {
  const auto value = wire::JsonValue(heard.reply.body).member(key);
  return value ? (value->is_string() ? value->string() : std::string(value->text())) : "";
}
std::string id_of(const Exchange& heard) {
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  return member(heard, "id");
}
std::string error_of(const Exchange& heard) {
  const auto message = wire::JsonValue(heard.reply.body).at("error", "message");
  return message ? message->string() : heard.reply.body;
}
std::string ids_of(const Exchange& heard) {
  std::string out;
  const auto data = wire::JsonValue(heard.reply.body).member("data");
  if (!data) return heard.reply.body;
  for (wire::JsonElements elements(*data); elements.next();) {
    out += elements.value().member("id")->string() + " ";
  }
  return out;
}

std::size_t asked(World& world, std::size_t provider) {
  return world.provider(provider).seen().requests().size();
}

constexpr std::string_view kLines =
    R"({"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt","messages":[{"role":"user","content":"One?"}]}}
{"custom_id":"2","method":"POST","url":"/v1/chat/completions","body":{"model":"mini","messages":[{"role":"user","content":"Two?"}]}}
)";

// --- files ---

TEST(HeldObjects, AFileIsAtTheAccountOfItsModelEverAfter) {
  World world(shop());
  const Caller caller{world};
  const std::string id = id_of(caller.upload("some bytes", "user_data", "other"));
  EXPECT_EQ(asked(world, 0), 0U);
  EXPECT_EQ(id_of(caller.call("GET", "/v1/files/" + id)), id);
  const Exchange content = caller.call("GET", "/v1/files/" + id + "/content");
  EXPECT_EQ(content.reply.status, 200);
  EXPECT_EQ(content.reply.body, "some bytes");
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/files")), id + " ");
  const Exchange deleted = caller.call("DELETE", "/v1/files/" + id);
  EXPECT_EQ(member(deleted, "deleted"), "true") << deleted.reply.body;
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/files")), "");
  EXPECT_EQ(caller.call("GET", "/v1/files/" + id).reply.status, 404);
  EXPECT_EQ(asked(world, 1), 4U) << "lists and what is gone are no provider's affair";
  world.expect_rest();
}

TEST(HeldObjects, WhoDoesNotSayWhichAccountIsToldHow) {
  World world(shop());
  const Caller caller{world};
  const Exchange heard = caller.upload("bytes", "user_data", "");
  EXPECT_EQ(heard.reply.status, 400);
  EXPECT_NE(error_of(heard).find("x-queqiao-model"), std::string::npos) << error_of(heard);
  EXPECT_EQ(asked(world, 0) + asked(world, 1), 0U);
  const Caller says{world, kKeyLine, "x-queqiao-model: other\r\n"};
  id_of(says.upload("bytes", "user_data", ""));
  EXPECT_EQ(asked(world, 1), 1U);
  const Caller unknown{world, kKeyLine, "x-queqiao-model: nobody\r\n"};
  EXPECT_EQ(unknown.upload("bytes", "user_data", "").reply.status, 404);
  const Caller claude{world, kKeyLine, "x-queqiao-model: claude\r\n"};
  EXPECT_EQ(claude.upload("bytes", "user_data", "").reply.status, 400) << "it speaks another dialect";
  world.expect_rest();
}

TEST(HeldObjects, TheOnlyAccountNeedsNoName) {
  World world(shop());
  const Caller caller{world, kKeyLine, kAnthropic};
  const Exchange heard = caller.upload("bytes", "", "");
  EXPECT_EQ(member(heard, "type"), "file") << heard.reply.body;
  EXPECT_EQ(asked(world, 2), 1U);
}

TEST(HeldObjects, AnotherOwnerFindsNothing) {
  World world(shop());
  const Caller one{world};
  const Caller two{world, kOtherKeyLine};
  const std::string id = id_of(one.upload("secret bytes"));
  const std::size_t before = asked(world, 0);
  for (const auto& [method, path] : {std::pair<const char*, std::string>{"GET", "/v1/files/" + id},
                                     {"DELETE", "/v1/files/" + id},
                                     {"GET", "/v1/files/" + id + "/content"}}) {
    const Exchange heard = two.call(method, path);
    EXPECT_EQ(heard.reply.status, 404) << method << path;
    EXPECT_EQ(error_of(heard), "No such file: " + id);
  }
  const Exchange unknown = two.call("GET", "/v1/files/file-unknown");
  EXPECT_EQ(error_of(unknown), "No such file: file-unknown");
  EXPECT_EQ(ids_of(two.call("GET", "/v1/files")), "");
  const Exchange batch = two.call("POST", "/v1/batches",
                                  fmt::format(R"({{"input_file_id":"{}","endpoint":"/v1/chat/completions",)"
                                              R"("completion_window":"24h"}})",
                                              id));
  EXPECT_EQ(batch.reply.status, 404) << batch.reply.body;
  EXPECT_EQ(asked(world, 0), before) << "nobody was asked";
  EXPECT_EQ(id_of(one.call("GET", "/v1/files/" + id)), id);
}

TEST(HeldObjects, WhatIsMadeIsMadeOnce) {
  World world(shop());
  const Caller caller{world};
  world.provider(0).misbehave("status=500");
  const Exchange heard = caller.upload("bytes", "user_data", "either");
  EXPECT_EQ(heard.reply.status, 502) << heard.reply.body;
  EXPECT_EQ(heard.reply.header("x-should-retry"), "false");
  EXPECT_EQ(heard.story(), "server_error") << "it may have been made";
  world.provider(0).misbehave("fault=429");
  EXPECT_EQ(caller.upload("bytes", "user_data", "either").story(), "rate_limited,success");
  world.expect_rest();
}

TEST(HeldObjects, ReadsAreAskedAgainAtTheSameAccountOnly) {
  World world(shop());
  const Caller caller{world};
  const std::string id = id_of(caller.upload("bytes", "user_data", "either"));
  world.provider(0).scenario(R"({"rules":[{"model":"*","attempts":[{"status":503}]}]})");
  const Exchange heard = caller.call("GET", "/v1/files/" + id);
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(heard.story(), "overloaded,success");
  world.provider(0).misbehave("status=503");
  EXPECT_EQ(caller.call("GET", "/v1/files/" + id).reply.status, 503);
  EXPECT_EQ(caller.call("DELETE", "/v1/files/" + id).story(), "overloaded") << "once";
  EXPECT_EQ(asked(world, 1), 0U);
  world.provider(0).behave();
  EXPECT_EQ(id_of(caller.call("GET", "/v1/files/" + id)), id);
  world.expect_rest();
}

TEST(HeldObjects, AClientThatLeavesDoesNotHideWhatWasMade) {
  World world(shop());
  const Caller caller{world};
  world.provider(0).misbehave("delay=3000");
  Client& client = world.client();
  client.start(caller.text("POST", "/v1/files", Caller::form("bytes", "user_data", "gpt"),
                           "multipart/form-data; boundary=b"));
  world.run_for(1s);
  client.leave(Client::Leave::Reset);
  world.run_for(10s);
  world.provider(0).behave();
  const Exchange listed = caller.call("GET", "/v1/files");
  EXPECT_EQ(listed.reply.status, 200) << listed.reply.body;
  EXPECT_TRUE(ids_of(listed).starts_with("file-")) << listed.reply.body;
  world.expect_rest();
}

TEST(HeldObjects, WhatCannotBeNotedIsTakenBackThoughTheClientHasLeft) {
  for (const bool leaves : {false, true}) {
    WorldSetup setup = shop();
    const auto store = std::make_shared<BrokenHoldings>();
    store->broken = true;
    setup.holding_store = store;
    World world(std::move(setup));
    const Caller caller{world};
    world.provider(0).misbehave("delay=3000");
    Client& client = world.client();
    client.start(caller.text("POST", "/v1/files", Caller::form("bytes", "user_data", "gpt"),
                             "multipart/form-data; boundary=b"));
    world.run_for(1s);
    if (leaves) client.leave(Client::Leave::Reset);
    world.run_for(10s);
    const auto& seen = world.provider(0).seen().requests();
    ASSERT_EQ(seen.size(), 2U) << leaves;
    EXPECT_EQ(seen.back().method, "DELETE");
    if (leaves) continue;
    const Exchange heard = world.result_of(client);
    EXPECT_EQ(heard.reply.status, 503) << heard.reply.body;
    EXPECT_EQ(heard.reply.header("x-should-retry"), "false") << "it was made, whatever became of it";
    world.expect_rest();
  }
}

TEST(HeldObjects, WhatCannotBeTakenBackIsInTheLogAndNotInTheAnswer) {
  WorldSetup setup = shop();
  const auto store = std::make_shared<BrokenHoldings>();
  store->broken = true;
  setup.holding_store = store;
  World world(std::move(setup));
  world.provider(0).scenario(R"({"rules":[{"model":"*","attempts":[{},{"status":500}]}]})");
  const Exchange heard = Caller{world}.upload("bytes");
  EXPECT_EQ(heard.story(), "success,server_error");
  ASSERT_EQ(heard.attempts().size(), 2U);
  EXPECT_NE(heard.attempts()[1].error->message.find("is left at p0/a"), std::string::npos)
      << heard.attempts()[1].error->message;
  EXPECT_EQ(heard.reply.body.find("p0/a"), std::string::npos) << heard.reply.body;
}

TEST(HeldObjects, AnIdThatNobodyCouldAskForIsTakenBack) {
  WorldSetup setup = shop();
  setup.providers = 0;
  World world(std::move(setup));
  fakes::HttpScript provider(world.loop(), "127.0.0.1:9001");
  provider.replies = {{.body = R"({"id":"file/odd","object":"file"})"}, {.body = "{}"}};
  const Exchange heard = Caller{world}.upload("bytes");
  EXPECT_EQ(heard.reply.status, 502) << heard.reply.body;
  EXPECT_EQ(heard.reply.header("x-should-retry"), "false");
  ASSERT_EQ(provider.requests.size(), 2U);
  EXPECT_TRUE(provider.requests[1].starts_with("DELETE /v1/files/file%2Fodd ")) << provider.requests[1];
  world.expect_rest();
}

TEST(HeldObjects, AListWaitsSoLongForWhatHasBecomeOfABatch) {
  World world(shop());
  const Caller caller{world};
  const std::string file = id_of(caller.upload(kLines, "batch", ""));
  id_of(caller.call("POST", "/v1/batches", fmt::format(R"({{"input_file_id":"{}"}})", file)));
  world.provider(0).misbehave("delay=60000");
  const Exchange listed = caller.call("GET", "/v1/batches");
  EXPECT_EQ(listed.reply.status, 200) << listed.reply.body;
  EXPECT_LE(listed.took, 4s);
}

TEST(HeldObjects, WhatIsReadIsToldThoughItCannotBeNoted) {
  WorldSetup setup = shop();
  const auto store = std::make_shared<BrokenHoldings>();
  setup.holding_store = store;
  World world(std::move(setup));
  const Caller caller{world};
  const std::string id = id_of(caller.upload("bytes"));
  store->broken = true;
  EXPECT_EQ(id_of(caller.call("GET", "/v1/files/" + id)), id);
  EXPECT_EQ(member(caller.call("DELETE", "/v1/files/" + id), "deleted"), "true");
  store->broken = false;
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/files")), id + " ") << "it could not be noted";
  EXPECT_EQ(caller.call("GET", "/v1/files/" + id).reply.status, 404);
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/files")), "") << "the provider has said that it is gone";
}

TEST(HeldObjects, ADeletedOutputFileStaysDeletedHoweverOftenItsBatchIsRead) {
  World world(shop());
  const Caller caller{world};
  const std::string file = id_of(caller.upload(kLines, "batch", ""));
  const std::string batch =
      id_of(caller.call("POST", "/v1/batches", fmt::format(R"({{"input_file_id":"{}"}})", file)));
  caller.call("GET", "/v1/batches/" + batch);
  const std::string output = member(caller.call("GET", "/v1/batches/" + batch), "output_file_id");
  ASSERT_NE(output, "");
  EXPECT_EQ(caller.call("DELETE", "/v1/files/" + output).reply.status, 200);
  EXPECT_EQ(member(caller.call("GET", "/v1/batches/" + batch), "output_file_id"), output);
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/files")), file + " ");
}

TEST(HeldObjects, ABatchIsOfAFileThatWasLookedInto) {
  World world(shop());
  const Caller caller{world};
  const auto batch_of = [&](std::string_view file, std::string_view more) {
    return caller.call(
        "POST", "/v1/batches",
        fmt::format(R"({{"input_file_id":"{}","endpoint":"/v1/chat/completions"{}}})", file, more));
  };
  const std::string unread = id_of(caller.upload(kLines, "user_data"));
  const std::size_t before = asked(world, 0);
  const Exchange refused = batch_of(unread, "");
  EXPECT_EQ(refused.reply.status, 400) << refused.reply.body;
  EXPECT_NE(error_of(refused).find("`input_file_id`"), std::string::npos) << error_of(refused);
  EXPECT_EQ(asked(world, 0), before);
  const std::string file = id_of(caller.upload(kLines, "batch", ""));
  for (const char* const more :
       {R"(,"model":"sim-gpt")", R"(,"Model_ID":"sim-gpt")", R"(,"m\u006fdel":"x")"}) {
    EXPECT_EQ(batch_of(file, more).reply.status, 400) << more;
  }
  EXPECT_EQ(asked(world, 0), before + 1);
  caller.call("GET", "/v1/files/" + file);
  id_of(batch_of(file, ""));
}

TEST(HeldObjects, AKeyMakesNoBatchOfModelsThatItMayNotUse) {
  static constexpr std::string_view kPepper = "pepper-of-the-simulated-gateway-0123";
  const auto hasher = admission::KeyHasher::make(Secret(std::string(kPepper)));
  WorldSetup setup = shop();
  setup.config += fmt::format("key_pepper: \"{}\"\nkeys:\n", kPepper);
  const auto add = [&](std::string_view name, std::string_view allow) {
    const std::string key = fmt::format("sk-of-key-{}", name);
    setup.config += fmt::format("  - {{name: {}, owner: team, allow: [{}], hash: \"{}\"}}\n", name, allow,
                                admission::to_text(hasher.value().digest(key)));
    return fmt::format("authorization: Bearer {}\r\n", key);
  };
  const std::string wide = add("wide", "gpt, mini");
  const std::string narrow = add("narrow", "mini");
  World world(std::move(setup));
  const std::string file = id_of(Caller{world, wide}.upload(kLines, "batch", ""));
  const std::string body = fmt::format(R"({{"input_file_id":"{}"}})", file);
  const Exchange refused = Caller{world, narrow}.call("POST", "/v1/batches", body);
  EXPECT_EQ(refused.reply.status, 400) << refused.reply.body;
  EXPECT_NE(error_of(refused).find("\"gpt\""), std::string::npos) << error_of(refused);
  id_of(Caller{world, wide}.call("POST", "/v1/batches", body));
}

TEST(HeldObjects, AnOwnerHasSoManyAndNoMore) {
  WorldSetup setup = shop();
  setup.holdings.owner_entries_max = 1;
  World world(std::move(setup));
  const Caller caller{world};
  id_of(caller.upload("bytes"));
  const Exchange heard = caller.upload("bytes");
  EXPECT_EQ(heard.reply.status, 400);
  EXPECT_NE(error_of(heard).find("owner_entries_max"), std::string::npos);
  id_of(Caller{world, kOtherKeyLine}.upload("bytes"));
}

TEST(HeldObjects, WithoutAStoreTheyAreNotOffered) {
  WorldSetup setup = shop();
  setup.holdings.backend = relay::HoldingBackend::None;
  World world(std::move(setup));
  EXPECT_EQ(Caller{world}.call("GET", "/v1/files").reply.status, 404);
}

// --- batches ---

TEST(HeldObjects, ABatchFileNamesOurModelsAndGoesOnWithTheProviders) {
  World world(shop());
  const Caller caller{world};
  const std::string id = id_of(caller.upload(kLines, "batch", ""));
  const std::string content = caller.call("GET", "/v1/files/" + id + "/content").reply.body;
  EXPECT_NE(content.find(R"("model":"sim-gpt")"), std::string::npos) << content;
  EXPECT_NE(content.find(R"("model":"sim-mini")"), std::string::npos);
  EXPECT_EQ(content.size(), kLines.size() + 8);
}

TEST(HeldObjects, ABatchFileMayNameWhatItsKeyMayUseAtOneAccount) {
  World world(shop());
  const Caller caller{world};
  const auto refused = [&](std::string_view model) {
    return caller.upload(fmt::format("{}{{\"body\":{{\"model\":\"{}\"}}}}", kLines, model), "batch", "");
  };
  const Exchange unknown = refused("sim-gpt");
  EXPECT_EQ(unknown.reply.status, 404) << "a provider's own name is none of ours";
  const Exchange elsewhere = refused("other");
  EXPECT_EQ(elsewhere.reply.status, 400);
  EXPECT_NE(error_of(elsewhere).find("`other` is not to be had where the others are"), std::string::npos)
      << error_of(elsewhere);
  const Exchange broken = caller.upload("{}\n{", "batch", "gpt");
  EXPECT_EQ(broken.reply.status, 400);
  EXPECT_EQ(asked(world, 0) + asked(world, 1), 0U);
}

TEST(HeldObjects, ABatchRunsWhereItsFileIsAndIsBilledOnce) {
  World world(shop());
  const Caller caller{world};
  const std::string file = id_of(caller.upload(kLines, "batch", ""));
  const std::string batch = id_of(caller.call(
      "POST", "/v1/batches",
      fmt::format(R"({{"input_file_id":"{}","endpoint":"/v1/chat/completions","completion_window":"24h"}})",
                  file)));
  const Exchange running = caller.call("GET", "/v1/batches/" + batch);
  EXPECT_EQ(member(running, "status"), "in_progress");
  EXPECT_EQ(running.record->usage.input_total(), 0);
  const Exchange done = caller.call("GET", "/v1/batches/" + batch);
  EXPECT_EQ(member(done, "status"), "completed");
  EXPECT_GT(done.record->usage.input_total(), 0);
  EXPECT_GT(done.record->usage.output_total(), 0);
  EXPECT_EQ(caller.call("GET", "/v1/batches/" + batch).record->usage, model::Usage()) << "once";
  const std::string output = member(done, "output_file_id");
  const Exchange lines = caller.call("GET", "/v1/files/" + output + "/content");
  EXPECT_EQ(lines.reply.status, 200) << lines.reply.body;
  EXPECT_NE(lines.reply.body.find(R"("custom_id":"2")"), std::string::npos);
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/files")), output + " " + file + " ");
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/files?purpose=batch_output")), output + " ");
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/batches")), batch + " ");
  const Caller other{world, kOtherKeyLine};
  EXPECT_EQ(other.call("GET", "/v1/files/" + output + "/content").reply.status, 404);
  EXPECT_EQ(other.call("GET", "/v1/batches/" + batch).reply.status, 404);
  EXPECT_EQ(other.call("POST", "/v1/batches/" + batch + "/cancel").reply.status, 404);
  EXPECT_EQ(asked(world, 1), 0U);
  world.expect_rest();
}

TEST(HeldObjects, AListShowsWhatHasBecomeOfBatchesAndBillsNothing) {
  World world(shop());
  const Caller caller{world};
  const std::string file = id_of(caller.upload(kLines, "batch", ""));
  const std::string batch =
      id_of(caller.call("POST", "/v1/batches", fmt::format(R"({{"input_file_id":"{}"}})", file)));
  EXPECT_NE(caller.call("GET", "/v1/batches").reply.body.find(R"("status":"in_progress")"),
            std::string::npos);
  const Exchange listed = caller.call("GET", "/v1/batches");
  EXPECT_NE(listed.reply.body.find(R"("status":"completed")"), std::string::npos) << listed.reply.body;
  EXPECT_EQ(listed.record->usage, model::Usage());
  const std::size_t before = asked(world, 0);
  caller.call("GET", "/v1/batches");
  EXPECT_EQ(asked(world, 0), before) << "it is over";
  EXPECT_GT(caller.call("GET", "/v1/batches/" + batch).record->usage.input_total(), 0);
}

TEST(HeldObjects, MessageBatchesNameOurModelsAndTheirResultsAreHere) {
  World world(shop());
  const Caller caller{world, kKeyLine, kAnthropic};
  const std::string_view requests =
      R"({"requests":[{"custom_id":"1","params":{"model":"claude","max_tokens":20,"messages":[{"role":"user","content":"One?"}]}}]})";
  const std::string id = id_of(caller.call("POST", "/v1/messages/batches", requests));
  EXPECT_NE(world.provider(2).seen().requests().back().body.find(R"("model":"sim-claude")"),
            std::string::npos);
  EXPECT_EQ(caller.call("GET", "/v1/messages/batches/" + id + "/results").reply.status, 404) << "not yet";
  caller.call("GET", "/v1/messages/batches/" + id);
  const Exchange ended = caller.call("GET", "/v1/messages/batches/" + id);
  EXPECT_EQ(member(ended, "processing_status"), "ended") << ended.reply.body;
  EXPECT_EQ(member(ended, "results_url"), "/v1/messages/batches/" + id + "/results");
  const Exchange results = caller.call("GET", member(ended, "results_url"));
  EXPECT_EQ(results.reply.status, 200);
  EXPECT_NE(results.reply.body.find(R"("type":"succeeded")"), std::string::npos) << results.reply.body;
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/messages/batches")), id + " ");
  const Exchange foreign =
      Caller{world, kOtherKeyLine, kAnthropic}.call("GET", "/v1/messages/batches/" + id + "/results");
  EXPECT_EQ(foreign.reply.status, 404);
  EXPECT_NE(foreign.reply.body.find(R"("type":"not_found_error")"), std::string::npos) << foreign.reply.body;
  EXPECT_EQ(caller.call("DELETE", "/v1/messages/batches/" + id).reply.status, 200);
  EXPECT_EQ(caller.call("GET", "/v1/messages/batches/" + id).reply.status, 404);
  const Exchange unknown = caller.call("POST", "/v1/messages/batches",
                                       R"({"requests":[{"custom_id":"1","params":{"model":"sim-claude"}}]})");
  EXPECT_EQ(unknown.reply.status, 404);
  world.expect_rest();
}

TEST(HeldObjects, ListsOfAnthropicsPageBothWays) {
  World world(shop());
  const Caller caller{world, kKeyLine, kAnthropic};
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(id_of(caller.upload(std::to_string(i), "", "")));
  EXPECT_EQ(ids_of(caller.call("GET", "/v1/files?limit=2&after_id=" + ids[3])), ids[2] + " " + ids[1] + " ");
  const Exchange before = caller.call("GET", "/v1/files?limit=2&before_id=" + ids[0]);
  EXPECT_EQ(ids_of(before), ids[2] + " " + ids[1] + " ");
  EXPECT_EQ(member(before, "has_more"), "true");
  EXPECT_EQ(member(before, "first_id"), ids[2]);
}

// --- what names them elsewhere ---

Ask asks_about(std::string_view model, std::string_view file) {
  Ask ask = chat(model);
  ask.body = fmt::format(R"({{"model":"{}","messages":[{{"role":"user","content":[{{"type":"file","file":)"
                         R"({{"file_id":"{}"}}}}]}}]}})",
                         model, file);
  return ask;
}

TEST(HeldObjects, ARequestThatNamesAFileGoesWhereItIs) {
  World world(shop());
  const std::string id = id_of(Caller{world}.upload("bytes", "user_data", "other"));
  const Exchange heard = world.ask(asks_about("either", id));
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(asked(world, 0), 0U) << "though it is the route's first";
  const Exchange elsewhere = world.ask(asks_about("gpt", id));
  EXPECT_EQ(elsewhere.reply.status, 400) << elsewhere.reply.body;
  Ask others = asks_about("either", id);
  others.header_lines = kOtherKeyLine;
  const Exchange foreign = world.ask(others);
  EXPECT_EQ(foreign.reply.status, 404) << foreign.reply.body;
  EXPECT_EQ(world.ask(asks_about("either", "file-of-nobody")).reply.status, 200);
  world.expect_rest();
}

TEST(HeldObjects, NoOtherEndpointReadsAnotherOwnersFile) {
  World world(shop());
  const std::string id = id_of(Caller{world}.upload("bytes"));
  const Caller two{world, kOtherKeyLine};
  const std::size_t before = asked(world, 0);
  const std::string input = fmt::format(
      R"({{"model":"gpt","input":[{{"role":"user","content":[{{"type":"input_file","file_id":"{}"}}]}}]}})",
      id);
  for (const char* const path : {"/v1/responses", "/v1/responses/compact", "/v1/responses/input_tokens"}) {
    const Exchange heard = two.call("POST", path, input);
    EXPECT_EQ(heard.reply.status, 404) << path << heard.reply.body;
    EXPECT_NE(error_of(heard).find(id), std::string::npos) << error_of(heard);
  }
  const Exchange edited =
      two.call("POST", "/v1/images/edits",
               fmt::format(R"({{"model":"gpt","prompt":"x","images":[{{"File_id":"{}"}}]}})", id));
  EXPECT_EQ(edited.reply.status, 404) << edited.reply.body;
  const std::string_view message =
      R"({{"model":"gpt","max_tokens":9,"messages":[{{"role":"user","content":[{{"type":"document","source":)"
      R"({{"type":"file","file_id":"{}"}}}}]}}]}})";
  const Exchange translated = Caller{world, kOtherKeyLine, kAnthropic}.call(
      "POST", "/v1/messages", fmt::format(fmt::runtime(message), id));
  EXPECT_EQ(translated.reply.status, 400) << translated.reply.body;
  EXPECT_EQ(asked(world, 0), before);
  world.expect_rest();
}

TEST(HeldObjects, ABatchReadsNobodyElsesFiles) {
  World world(shop());
  const Caller one{world, kKeyLine, kAnthropic};
  const Caller two{world, kOtherKeyLine, kAnthropic};
  const std::string id = id_of(one.upload("bytes", "", ""));
  const std::string requests = fmt::format(
      R"({{"requests":[{{"custom_id":"1","params":{{"model":"claude","max_tokens":9,"messages":[{{"role":"user",)"
      R"("content":[{{"type":"document","source":{{"type":"file","f\u0069le_id":"{}"}}}}]}}]}}}}]}})",
      id);
  const std::size_t before = asked(world, 2);
  EXPECT_EQ(two.call("POST", "/v1/messages/batches", requests).reply.status, 404);
  EXPECT_EQ(asked(world, 2), before);
  id_of(one.call("POST", "/v1/messages/batches", requests));
}

TEST(HeldObjects, ABodyThatIsRefusedIsRefusedInItsDialect) {
  World world(shop());
  for (const bool anthropic : {true, false}) {
    Client& client = world.client();
    client.start(
        fmt::format("POST /v1/files HTTP/1.1\r\nhost: x\r\n{}{}content-type: multipart/form-data; "
                    "boundary=b\r\ntransfer-encoding: chunked\r\n\r\n",
                    kKeyLine, anthropic ? kAnthropic : ""));
    world.run_for(100ms);
    client.say("no chunk\r\n");
    world.run_until_end(client);
    EXPECT_EQ(client.reply().status, 400) << client.raw();
    EXPECT_EQ(client.reply().body.starts_with(R"({"type":"error")"), anthropic) << client.reply().body;
  }
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::held
