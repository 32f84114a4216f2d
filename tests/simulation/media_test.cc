// Pictures that a request names by URL, fetched for a target that takes bytes only: whom the gateway lets a
// caller make it ask, whose time that is, and what is left of it.
#include <fmt/format.h>

#include "fakes/http_script.h"
#include "relay/media_fetch.h"
#include "simulation/world.h"

namespace qq::simulation::media {
namespace {

using fakes::HttpScript;

constexpr std::string_view kPicture = "\x89PNG not a real one";
constexpr std::string_view kAnswer =
    R"({"model":"llava","message":{"role":"assistant","content":"a bridge"},"done":true,"done_reason":"stop",)"
    R"("prompt_eval_count":9,"eval_count":3})";

constexpr std::string_view kSecond =
    R"(,{"type":"image_url","image_url":{"url":"http://pictures.example/2.png"}})";

// The model `seeing`, of a back end that takes bytes only, and a host at a public address.
struct MediaWorld {
  explicit MediaWorld(std::string_view more = {}) : world(setup(more)) {
    world.loop().set_name("pictures.example", {"93.184.216.34"});
    provider.replies = {{.body = std::string(kAnswer)}};
    host.replies = {{.body = std::string(kPicture), .content_type = "image/png"}};
  }
  ~MediaWorld() { world.expect_rest(); }
  MediaWorld(const MediaWorld&) = delete;
  MediaWorld& operator=(const MediaWorld&) = delete;

  static WorldSetup setup(std::string_view more) {
    WorldSetup setup;
    setup.providers = 0;
    setup.config =
        "listeners: [{address: \"127.0.0.1:8080\"}]\n"
        "providers:\n"
        "  - {name: engine, kind: ollama_native, base_url: \"http://127.0.0.1:9101\", "
        "allow_private_address: true, accounts: [{name: main, credential: sk-upstream}]}\n"
        "models: [{name: seeing, provider: engine, upstream_name: llava}]\n";
    setup.config.append(more);
    return setup;
  }
  Exchange look(std::string_view url, std::string_view more_parts = {}) {
    return world.ask(looking_at(url, more_parts));
  }
  static Ask looking_at(std::string_view url, std::string_view more_parts = {}) {
    Ask ask = chat("seeing");
    ask.body = fmt::format(
        R"({{"model":"seeing","messages":[{{"role":"user","content":[{{"type":"text","text":"What is it?"}},)"
        R"({{"type":"image_url","image_url":{{"url":"{}"}}}}{}]}}]}})",
        url, more_parts);
    return ask;
  }
  [[nodiscard]] resilience::CircuitState breaker() {
    return world.snapshot().healths[world.snapshot().targets[0]->index]->state();
  }

  World world;
  HttpScript provider{world.loop(), "127.0.0.1:9101"};
  HttpScript host{world.loop(), "93.184.216.34:80"};
};

TEST(Media, IsFetchedForATargetThatTakesBytesOnly) {
  MediaWorld media;
  const Exchange heard = media.look("http://pictures.example/bridge.png");
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(text_in(heard.reply), "a bridge");
  ASSERT_EQ(media.host.requests.size(), 1U);
  EXPECT_TRUE(media.host.requests[0].starts_with("GET /bridge.png HTTP/1.1\r\nhost: pictures.example\r\n"));
  EXPECT_EQ(media.host.requests[0].find("sk-upstream"), std::string::npos);
  ASSERT_EQ(media.provider.requests.size(), 1U);
  EXPECT_NE(media.provider.requests[0].find("iVBORyBub3QgYSByZWFsIG9uZQ=="), std::string::npos)
      << media.provider.requests[0];
}

// At the start, what https needs is loaded for these.
TEST(Media, MayBeNeededByTargetsThatTakeBytesOnly) {
  const MediaWorld media;
  EXPECT_TRUE(relay::may_need_media(*media.world.snapshot().targets[0]));
  const World others;
  for (const auto& target : others.snapshot().targets) EXPECT_FALSE(relay::may_need_media(*target));
}

TEST(Media, IsAskedForAsItsUrlIsWritten) {
  struct Case {
    std::string_view url;
    std::string_view asked;
  };
  for (const Case& each : std::initializer_list<Case>{{"/dir/?sig=x", "/dir/?sig=x"},
                                                      {"/a//", "/a//"},
                                                      {"/a/b%20c?d=/e/#top", "/a/b%20c?d=/e/"},
                                                      {"?q=1", "/?q=1"},
                                                      {"", "/"}}) {
    MediaWorld media;
    const Exchange heard = media.look("http://pictures.example" + std::string(each.url));
    EXPECT_EQ(heard.reply.status, 200) << each.url << heard.reply.body;
    ASSERT_EQ(media.host.requests.size(), 1U) << each.url;
    EXPECT_TRUE(media.host.requests[0].starts_with(fmt::format("GET {} HTTP/1.1\r\n", each.asked)))
        << media.host.requests[0];
  }
}

TEST(Media, IsAskedOfPublicAddressesOnly) {
  MediaWorld media;
  media.world.loop().set_name("inner.example", {"10.0.0.5"});
  for (const std::string_view url : {"http://169.254.169.254/latest/meta-data", "http://inner.example/",
                                     "http://[::ffff:10.0.0.5]/", "http://127.0.0.1:9101/api/chat"}) {
    const Exchange heard = media.look(url);
    EXPECT_EQ(heard.reply.status, 400) << url;
    EXPECT_NE(heard.reply.body.find("its address may not be asked from here"), std::string::npos)
        << heard.reply.body;
  }
  EXPECT_EQ(media.world.loop().connects(), 4U) << "our own four";
}

TEST(Media, ThatThereIsNoTimeForIsNotTheCallersMistake) {
  MediaWorld media("timers: {total: 5s}\n");
  media.host.replies[0].delay = 9s;
  const Exchange heard = media.look("http://pictures.example/bridge.png");
  EXPECT_EQ(heard.reply.status, 504) << heard.reply.body;
  EXPECT_EQ(heard.story(), "total_timeout");
  EXPECT_EQ(heard.took, 5s);
  media.host.replies[0] = {.body = std::string(kPicture), .content_type = "image/png", .piece = 2};
  EXPECT_EQ(media.look("http://pictures.example/bridge.png").story(), "total_timeout") << "nor in its body";
  EXPECT_EQ(media.breaker(), resilience::CircuitState::Closed);
}

TEST(Media, ThatThereIsNoDescriptorForIsNotTheCallersMistake) {
  MediaWorld media;
  media.world.loop().set_connect(net::Address::parse("93.184.216.34:80").value(),
                                 {net::ConnectOutcome::NoDescriptors, {}});
  const Exchange heard = media.look("http://pictures.example/bridge.png");
  EXPECT_EQ(heard.reply.status, 503) << heard.reply.body;
  EXPECT_EQ(heard.story(), "saturated");
}

TEST(Media, LeavesNoConnectionBehindAndTakesNoneOfAProviders) {
  MediaWorld media;
  EXPECT_EQ(media.look("http://pictures.example/1.png").reply.status, 200);
  EXPECT_EQ(media.look("http://pictures.example/2.png").reply.status, 200);
  EXPECT_EQ(media.host.connections(), 2) << "though it would have kept them";
  EXPECT_TRUE(media.host.idle());
  EXPECT_EQ(media.world.counters().upstream_connections_idle.get(), 1) << "the engine's";
  EXPECT_EQ(media.provider.connections(), 1);
}

TEST(Media, OfASlowHostIsNoEvidenceAgainstTheTarget) {
  MediaWorld media("timers: {first_byte: 15s, first_content: 15s}\n");
  media.host.replies[0].delay = 9s;
  // The first piece brings the head, the third the first content.
  const std::string lines =
      R"({"model":"llava","message":{"role":"assistant","content":"a bridge"},"done":false})"
      "\n" +
      std::string(kAnswer) + "\n";
  media.provider.replies = {{.body = lines, .content_type = "application/x-ndjson", .piece = 40}};
  // Four at a time, so that five take two delays.
  std::string four;
  for (int i = 0; i < 4; ++i) four += kSecond;
  Ask ask = MediaWorld::looking_at("http://pictures.example/1.png", four).streamed();
  for (int i = 0; i < 6; ++i) {
    const Exchange heard = media.world.ask(ask);
    EXPECT_EQ(heard.story(), "success") << heard.reply.body;
    EXPECT_GE(heard.took, 20s);
  }
  EXPECT_EQ(media.breaker(), resilience::CircuitState::Closed);
}

TEST(Media, IsFetchedFourAtATime) {
  MediaWorld media;
  media.host.replies[0].delay = 2s;
  std::string more;
  for (int i = 0; i < 7; ++i) more += kSecond;
  const Exchange heard = media.look("http://pictures.example/1.png", more);
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  EXPECT_EQ(media.host.requests.size(), 8U);
  EXPECT_EQ(heard.took, 4s);
}

TEST(Media, ThatCannotBeHadIsToldByItsPlace) {
  MediaWorld media;
  media.host.replies = {{.body = std::string(kPicture), .content_type = "image/png"},
                        {.status = 404, .body = "no"}};
  const Exchange heard = media.look("http://pictures.example/1.png", kSecond);
  EXPECT_EQ(heard.reply.status, 400);
  EXPECT_NE(heard.reply.body.find(R"("param":"messages[0].content[2].image_url.url")"), std::string::npos)
      << heard.reply.body;
  EXPECT_TRUE(media.provider.requests.empty());
}

TEST(Media, IsInTheBudgetOfBodies) {
  MediaWorld media("limits: {bodies_in_flight_max: 1MiB, body_max: 1MiB}\n");
  media.host.replies[0].body = std::string(500'000, 'x');
  EXPECT_EQ(media.look("http://pictures.example/1.png").reply.status, 200);
  const Exchange heard = media.look("http://pictures.example/1.png", kSecond);
  EXPECT_EQ(heard.reply.status, 503) << heard.reply.body;
  EXPECT_EQ(heard.story(), "saturated");
  EXPECT_NE(heard.reply.body.find("no room for a file"), std::string::npos) << heard.reply.body;
  EXPECT_EQ(media.world.counters().bodies_in_flight_bytes.get(), 0);
}

TEST(Media, OfAClientThatHasLeftIsFetchedNoFurther) {
  MediaWorld media;
  media.host.replies[0].delay = 9s;
  std::string more;
  for (int i = 0; i < 7; ++i) more += kSecond;
  Client& client = media.world.start(MediaWorld::looking_at("http://pictures.example/1.png", more));
  media.world.run_for(1s);
  client.leave(Client::Leave::Reset);
  media.world.run_for(100ms);
  ASSERT_EQ(media.world.records().size(), 1U);
  EXPECT_EQ(media.world.records()[0].error->kind, ErrorKind::ClientGone);
  EXPECT_EQ(media.host.requests.size(), 4U);
  media.world.run_for(10s);
}

TEST(Media, HasOneLimitOfTimeForAll) {
  MediaWorld media;
  media.host.replies[0].delay = 9s;
  std::string more;
  for (int i = 0; i < 16; ++i) more += kSecond;
  const Exchange heard = media.look("http://pictures.example/1.png", more);
  EXPECT_EQ(heard.reply.status, 400) << heard.reply.body;
  EXPECT_EQ(heard.took, 30s);
  EXPECT_TRUE(media.provider.requests.empty());
}

constexpr std::string_view kByProxy = "outbound: {proxy: \"http://10.1.1.1:3128\"}\n";

// A proxy that makes every tunnel, and then says what the test wants to be heard through it.
struct ProxiedWorld : MediaWorld {
  ProxiedWorld() : MediaWorld(kByProxy) {}
  ~ProxiedWorld() { world.expect_rest(); }  // before the proxy goes
  ProxiedWorld(const ProxiedWorld&) = delete;
  ProxiedWorld& operator=(const ProxiedWorld&) = delete;
  HttpScript proxy{world.loop(), "10.1.1.1:3128"};
  const HttpScript::Reply tunnel{};
};

TEST(Media, IsAskedOfAProxyByTheAddressThatWasJudged) {
  ProxiedWorld media;
  media.proxy.replies = {media.tunnel, media.host.replies[0], media.tunnel, media.provider.replies[0]};
  const Exchange heard = media.look("http://pictures.example/bridge.png");
  EXPECT_EQ(heard.reply.status, 200) << heard.reply.body;
  ASSERT_EQ(media.proxy.requests.size(), 4U);
  EXPECT_TRUE(media.proxy.requests[0].starts_with("CONNECT 93.184.216.34:80 HTTP/1.1\r\n"))
      << media.proxy.requests[0];
  EXPECT_TRUE(media.proxy.requests[1].starts_with("GET /bridge.png HTTP/1.1\r\nhost: pictures.example\r\n"));
  EXPECT_TRUE(media.proxy.requests[2].starts_with("CONNECT 127.0.0.1:9101 HTTP/1.1\r\n"));
}

TEST(Media, GoesToAnotherAddressWhereTheProxyDoesNotReachTheFirst) {
  ProxiedWorld media;
  media.world.loop().set_name("pictures.example", {"2606:2800:220:1::1", "10.0.0.5", "93.184.216.34"});
  media.proxy.replies = {
      {.status = 502}, media.tunnel, media.host.replies[0], media.tunnel, media.provider.replies[0]};
  EXPECT_EQ(media.look("http://pictures.example/bridge.png").reply.status, 200);
  ASSERT_EQ(media.proxy.requests.size(), 5U);
  EXPECT_TRUE(media.proxy.requests[0].starts_with("CONNECT [2606:2800:220:1::1]:80 HTTP/1.1\r\n"));
  EXPECT_TRUE(media.proxy.requests[1].starts_with("CONNECT 93.184.216.34:80 HTTP/1.1\r\n"));
}

TEST(Media, IsNotAskedOfAProxyAtInnerAddresses) {
  ProxiedWorld media;
  media.proxy.replies = {media.tunnel, media.host.replies[0]};
  media.world.loop().set_name("inner.example", {"10.0.0.5"});
  for (const std::string_view url :
       {"http://169.254.169.254/latest/meta-data", "http://10.0.0.5:9200/_search", "http://inner.example/",
        "https://inner.example/"}) {
    const Exchange heard = media.look(url);
    EXPECT_EQ(heard.reply.status, 400) << url;
    EXPECT_NE(heard.reply.body.find("its address may not be asked from here"), std::string::npos)
        << heard.reply.body;
  }
  EXPECT_TRUE(media.proxy.requests.empty()) << media.proxy.requests[0];
}

TEST(Media, IsNotAskedOfAProxyByANameThatCannotBeJudged) {
  ProxiedWorld media;
  media.proxy.replies = {media.tunnel, media.host.replies[0]};
  const Exchange heard = media.look("http://nobody-here-knows.example/");
  EXPECT_EQ(heard.reply.status, 400);
  EXPECT_NE(heard.reply.body.find("cannot be resolved here"), std::string::npos) << heard.reply.body;
  EXPECT_TRUE(media.proxy.requests.empty());
}

TEST(Proxies, AreAskedForProvidersByTheNamesThatTheOperatorWrote) {
  WorldSetup setup;
  setup.base_host = "engine.example";  // nobody here can resolve it
  setup.more = kByProxy;
  World world(std::move(setup));
  HttpScript proxy(world.loop(), "10.1.1.1:3128");
  proxy.replies = {{}, {.status = 400, .body = "{}"}};
  static_cast<void>(world.ask(chat("alone")));
  ASSERT_EQ(proxy.requests.size(), 2U);
  EXPECT_TRUE(proxy.requests[0].starts_with("CONNECT engine.example:9001 HTTP/1.1\r\n")) << proxy.requests[0];
  world.expect_rest();
}

TEST(Proxies, AreNotAskedForAnInnerAddressThatTheOperatorDoesNotAllow) {
  WorldSetup setup = MediaWorld::setup(kByProxy);
  setup.config.replace(setup.config.find("allow_private_address: true, "), 29, "");
  World world(std::move(setup));
  HttpScript proxy(world.loop(), "10.1.1.1:3128");
  proxy.replies = {{}};
  const Exchange heard = world.ask(chat("seeing"));
  EXPECT_EQ(heard.story(), "egress_denied");
  EXPECT_TRUE(proxy.requests.empty());
  world.expect_rest();
}

}  // namespace
}  // namespace qq::simulation::media
