// Real providers' exchanges through the whole gateway: what the client reads is the provider's bytes, however
// they were cut on the way; an error comes out with its mapped status and the provider's own words. The
// hand-made recordings of the tree always run; the real ones where they are at hand.
#include <fmt/format.h>

#include "dialects/openai/errors.h"
#include "dialects/openai/request.h"
#include "providers/upstream_error.h"
#include "recordings/recordings.h"
#include "simulation/fault_case.h"
#include "wire/sse.h"

namespace qq::simulation {
namespace {

using simulator::Recording;

struct Played {
  Recording recording;
  model::Endpoint endpoint = model::Endpoint::ChatCompletions;
  std::string model = "recorded";
  std::string body;        // what the client asks, with usage asked for
  std::string body_plain;  // the same without asking for usage; empty if it never asks
};

std::string path_of(model::Endpoint endpoint) {
  switch (endpoint) {
    case model::Endpoint::ChatCompletions: return "/v1/chat/completions";
    case model::Endpoint::Responses: return "/v1/responses";
    case model::Endpoint::Completions: return "/v1/completions";
    default: return "/v1/embeddings";
  }
}

std::string joined(const dialects::openai::TargetBody& body) {
  std::string out;
  for (const std::string_view piece : body.pieces) out += piece;
  return out;
}

bool takes_stream_options(model::Endpoint endpoint) {
  return endpoint == model::Endpoint::ChatCompletions || endpoint == model::Endpoint::Completions;
}

std::optional<Played> played(Recording recording) {
  const auto endpoint = recordings::openai_endpoint(recording.provider, recording.method, recording.endpoint);
  if (!endpoint) return std::nullopt;
  Played out;
  out.endpoint = *endpoint;
  std::string body = recording.request;
  const std::string fallback = fmt::format(R"({{"model":"recorded","stream":{}}})", recording.stream);
  auto facts = dialects::openai::inspect_request(*endpoint, body, {});
  // Without a request, or one that this endpoint would refuse, a plain one is asked.
  if (!facts || facts->stream != recording.stream || facts->model.find('+') != std::string::npos) {
    body = fallback;
    facts = dialects::openai::inspect_request(*endpoint, body, {});
  }
  if (*endpoint == model::Endpoint::Responses) {
    // Only what its client keeps by itself passes as it is.
    const auto& members = facts->state;
    wire::JsonPatch patch(body);
    if (members.store.text().empty()) {
      patch.add_member(facts->document, "store", "false");
    } else {
      patch.replace(members.store, "false");
    }
    for (const wire::JsonValue past : {members.previous_response_id, members.conversation, members.input}) {
      if (past.text().empty() || (past.text().data() == members.input.text().data() && past.is_string()))
        continue;
      patch.remove_member(facts->document, past);
    }
    std::string kept_by_client = patch.apply();
    body = std::move(kept_by_client);
    facts = dialects::openai::inspect_request(*endpoint, body, {});
  }
  out.model = facts->model;
  model::Target target;
  target.upstream_model = facts->model;
  dialects::openai::TargetBody with_usage;
  dialects::openai::encode_for_target(*facts, body, *endpoint, target, with_usage);
  out.body = joined(with_usage);
  if (recording.stream && takes_stream_options(*endpoint) && !facts->usage_in_stream_asked)
    out.body_plain = body;
  out.recording = std::move(recording);
  return out;
}

std::vector<Played> all_of(const std::filesystem::path& folder) {
  std::vector<Played> out;
  auto loaded = simulator::load_recordings(folder);
  if (!loaded) {
    ADD_FAILURE() << loaded.error().message;
    return out;
  }
  for (Recording& recording : *loaded) {
    if (auto one = played(std::move(recording))) out.push_back(*std::move(one));
  }
  return out;
}

const std::vector<Played>& fixtures() {
  static const std::vector<Played> all =
      all_of(std::filesystem::path(QQ_SOURCE_DIR) / "tests/fixtures/recordings");
  return all;
}

constexpr std::string_view kRenamed = "\"renamed-route\"";

// Every value of a member named `model`, replaced: for comparing answers whose names differ.
std::string with_names_hidden(std::string_view text) {
  std::string out;
  constexpr std::string_view kKey = "\"model\"";
  for (std::size_t at = 0;;) {
    const std::size_t key = text.find(kKey, at);
    if (key == std::string_view::npos) return out.append(text.substr(at));
    std::size_t value = key + kKey.size();
    while (value < text.size() && (text[value] == ' ' || text[value] == ':')) ++value;
    out.append(text.substr(at, value - at));
    at = value;
    if (value < text.size() && text[value] == '"') at = text.find('"', value + 1) + 1;
  }
}

std::unique_ptr<World> world_of(const Played& one) {
  WorldSetup setup;
  setup.providers = 1;
  setup.config = fmt::format(
      "listeners: [{{address: \"127.0.0.1:8080\"}}]\n"
      "providers: [{{name: p0, kind: openai_compatible, base_url: \"http://127.0.0.1:9001/v1\", "
      "allow_private_address: true, accounts: [{{name: main, credential: sk-upstream}}]}}]\n"
      "models: [{{name: \"{}\", provider: p0}}]\n"
      "routes: [{{name: renamed-route, candidates: [{{model: \"{}\"}}]}}]\n",
      one.model, one.model);
  std::vector<Recording> library;
  library.push_back(one.recording);
  setup.simulator.library = simulator::Library(std::move(library));
  auto world = std::make_unique<World>(std::move(setup));
  world->provider(0).misbehave("play=" + one.recording.name);
  return world;
}

Ask ask_of(const Played& one, std::string body) {
  Ask ask;
  ask.path = path_of(one.endpoint);
  ask.body = std::move(body);
  return ask;
}

void feed_by(World& world, const net::Split& split) {
  net::SimulatedNetwork network;
  network.down.split = split;
  world.loop().set_network(world.provider(0).address(), network);
  world.upstream().close_idle();
  world.run_for(1s);
}

// Events as a client reads them, up to the end marker.
std::vector<std::string> events_of(std::string_view body) {
  std::vector<std::string> out;
  wire::SseDecoder decoder;
  wire::SseEvent event;
  for (std::size_t at = 0; decoder.next(body, at, event);) {
    if (!event.has_data) continue;
    out.push_back(std::string(event.name) + "|" + std::string(event.data));
    if (event.data == "[DONE]") return out;
  }
  if (decoder.finish(event) && event.has_data)
    out.push_back(std::string(event.name) + "|" + std::string(event.data));
  return out;
}

// What of the recorded bytes the client is to have: nothing behind [DONE].
std::string_view upto_done(std::string_view body) {
  wire::SseDecoder decoder;
  wire::SseEvent event;
  for (std::size_t at = 0; decoder.next(body, at, event);) {
    if (event.data == "[DONE]") return body.substr(0, event.end);
  }
  return body;
}

bool ends_between_events(std::string_view body) {
  wire::SseDecoder decoder;
  wire::SseEvent event;
  for (std::size_t at = 0; decoder.next(body, at, event);) {
  }
  return !decoder.finish(event);
}

enum class Came : std::uint8_t { Whole, MappedError, InBandError, Fault };

// Checks the client's reading against the recording and says how it came.
Came expect_as_recorded(const Played& one, const Exchange& heard) {
  const Recording& recording = one.recording;
  EXPECT_EQ(heard.framing_error, "");
  EXPECT_TRUE(heard.reply.complete);
  if (recording.status < 200 || recording.status > 299) {
    wire::Fields fields;
    for (const auto& [name, value] : recording.headers) fields.add({name, value});
    const Error expected =
        providers::classify_reply("openai_compatible", recording.status, fields, recording.body, WallTime{});
    EXPECT_EQ(heard.reply.status, dialects::openai::status_of(expected)) << heard.reply.body;
    const wire::JsonValue document(heard.reply.body);
    EXPECT_FALSE(wire::check_json(heard.reply.body));
    const bool ours = expected.kind == ErrorKind::CredentialDead ||
                      expected.kind == ErrorKind::QuotaExhausted || expected.kind == ErrorKind::RateLimited;
    if (!ours) {
      const auto message = document.at("error", "message");
      EXPECT_TRUE(message && message->string().starts_with(expected.message)) << heard.reply.body;
    }
    return Came::MappedError;
  }
  if (heard.story() == "success") {
    EXPECT_EQ(heard.reply.status, recording.status);
    if (!recording.stream) {
      EXPECT_EQ(heard.reply.body, recording.body);
    } else if (ends_between_events(recording.body)) {
      const std::string passed_on = recordings::without_indents(recording.body);
      EXPECT_EQ(heard.reply.body, upto_done(passed_on));
    } else {
      EXPECT_EQ(events_of(heard.reply.body), events_of(recording.body));
    }
    return Came::Whole;
  }
  if (heard.record && heard.record->interrupted) {
    const std::size_t error_at =
        std::min(heard.reply.body.rfind("data: {\"error\":"), heard.reply.body.rfind("event: error\n"));
    EXPECT_NE(error_at, std::string::npos);
    EXPECT_TRUE(recordings::without_indents(recording.body)
                    .starts_with(std::string_view(heard.reply.body).substr(0, error_at)));
    EXPECT_EQ(heard.reply.body.find("[DONE]"), std::string::npos);
    return Came::InBandError;
  }
  EXPECT_GE(heard.reply.status, 400);
  return Came::Fault;
}

// A provider that was blamed is as good as new.
void forgive(World& world) {
  world.run_for(3'700s);
}

struct Counts {
  int whole = 0, mapped = 0, in_band = 0, fault = 0;
  void add(Came came) {
    (came == Came::Whole         ? whole
     : came == Came::MappedError ? mapped
     : came == Came::InBandError ? in_band
                                 : fault) += 1;
  }
};

Counts play_all(const std::vector<Played>& all) {
  Counts counts;
  for (const Played& one : all) {
    SCOPED_TRACE(one.recording.name);
    const auto world = world_of(one);
    for (const auto& split : {net::Split::whole(), net::Split::each(1), net::Split::random(7, 200)}) {
      feed_by(*world, split);
      expect_as_recorded(one, world->ask(ask_of(one, one.body)));
      forgive(*world);
    }
    counts.add(expect_as_recorded(one, world->ask(ask_of(one, one.body))));
    forgive(*world);
    world->expect_rest();
  }
  return counts;
}

// Without the usage that nobody asked for: the chunk with no choices, and the `usage` members of others.
std::vector<std::string> without_usage(std::vector<std::string> events) {
  std::erase_if(events, [](const std::string& event) {
    const std::string_view data = std::string_view(event).substr(event.find('|') + 1);
    if (wire::check_json(data)) return false;
    const wire::JsonValue document(data);
    const auto usage = document.member("usage");
    const auto choices = document.member("choices");
    if (!usage || !usage->is_object() || document.member("prompt_filter_results") ||
        document.member("moderation"))
      return false;
    return !choices || (choices->is_array() && !wire::JsonElements(*choices).next());
  });
  for (std::string& event : events) {
    const std::string data = event.substr(event.find('|') + 1);
    if (wire::check_json(data)) continue;
    const auto usage = wire::JsonValue(data).member("usage");
    if (!usage || !(usage->is_null() || usage->is_object())) continue;
    const std::size_t data_at = event.size() - data.size();
    const auto value_at = data_at + static_cast<std::size_t>(usage->text().data() - data.data());
    std::size_t begin = event.rfind("\"usage\"", value_at);
    std::size_t end = value_at + usage->text().size();
    if (event[end] == ',') {
      end = event[end + 1] == ' ' ? end + 2 : end + 1;
    } else {
      begin = event.rfind(',', begin);
    }
    event.erase(begin, end - begin);
  }
  return events;
}

void play_without_usage(const std::vector<Played>& all) {
  for (const Played& one : all) {
    if (one.body_plain.empty() || one.recording.status != 200) continue;
    SCOPED_TRACE(one.recording.name);
    const auto world = world_of(one);
    for (const auto& split : {net::Split::whole(), net::Split::each(1)}) {
      feed_by(*world, split);
      const Exchange heard = world->ask(ask_of(one, one.body_plain));
      if (heard.story() == "success") {
        EXPECT_EQ(events_of(heard.reply.body), without_usage(events_of(one.recording.body)));
      }
      forgive(*world);
    }
    world->expect_rest();
  }
}

// Renamed by the route: with the name put back, everything is as recorded.
void play_renamed(const std::vector<Played>& all) {
  for (const Played& one : all) {
    if (one.recording.status != 200) continue;
    SCOPED_TRACE(one.recording.name);
    const auto world = world_of(one);
    const auto facts = dialects::openai::inspect_request(one.endpoint, one.body, {});
    ASSERT_TRUE(facts);
    std::string body = one.body;
    body.replace(static_cast<std::size_t>(facts->model_value.text().data() - one.body.data()),
                 facts->model_value.text().size(), kRenamed);
    for (const auto& split : {net::Split::whole(), net::Split::each(1)}) {
      feed_by(*world, split);
      const Exchange heard = world->ask(ask_of(one, body));
      if (heard.story() == "success" && (!one.recording.stream || ends_between_events(one.recording.body))) {
        const std::string passed_on = recordings::without_indents(one.recording.body);
        EXPECT_EQ(with_names_hidden(heard.reply.body),
                  with_names_hidden(one.recording.stream ? upto_done(passed_on) : one.recording.body));
        EXPECT_FALSE(heard.reply.body.find(kRenamed) == std::string::npos &&
                     one.recording.body.find("\"model\":\"") != std::string::npos)
            << heard.reply.body.substr(0, 500);
      }
      forgive(*world);
    }
    world->expect_rest();
  }
}

// Every position of the first bytes of the reply, head included, as the place where one arrival ends.
void play_split_everywhere(const std::vector<Played>& all, std::size_t positions, std::size_t step) {
  for (const Played& one : all) {
    SCOPED_TRACE(one.recording.name);
    const auto world = world_of(one);
    const std::size_t longest = std::min(positions, one.recording.body.size() + 600);
    const bool good = one.recording.status < 300;
    for (std::size_t at = 1; at < longest; at += step) {
      SCOPED_TRACE(at);
      net::SimulatedNetwork network;
      network.down.split = net::Split::at(at);
      world->loop().set_network(world->provider(0).address(), network);
      world->upstream().close_idle();
      const Exchange heard = world->ask(ask_of(one, one.body));
      expect_as_recorded(one, heard);
      if (!good || heard.story() != "success") forgive(*world);
      if (::testing::Test::HasFailure()) return;
    }
    world->run_for(3s);
    world->expect_rest();
  }
}

TEST(FixturesThrough, AreReadAsRecorded) {
  const Counts counts = play_all(fixtures());
  EXPECT_GE(counts.whole, 25);
  EXPECT_GE(counts.mapped, 9);
}

TEST(FixturesThrough, AreReadAsRecordedWithoutTheUsageThatNobodyAskedFor) {
  play_without_usage(fixtures());
}

TEST(FixturesThrough, AreRenamedAndNothingElse) {
  play_renamed(fixtures());
}

// All of them in the product's build; a sanitizer takes ten times as long.
#ifdef QQ_SANITIZED
constexpr std::size_t kStep = 101;
#else
constexpr std::size_t kStep = 1;
#endif

TEST(FixturesThrough, AreReadTheSameSplitAnywhere) {
  play_split_everywhere(fixtures(), 4'096, kStep);
}

class RecordingsThrough : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = recordings::folder();
    if (!folder) GTEST_SKIP() << "no recordings at hand (QQ_SHARED_DIR)";
    static const std::vector<Played> all = all_of(*folder);
    all_ = &all;
    ASSERT_EQ(all_->size(), recordings::kOpenaiExchanges);
  }
  const std::vector<Played>* all_ = nullptr;
};

TEST_F(RecordingsThrough, AreReadAsRecorded) {
  const Counts counts = play_all(*all_);
  RecordProperty("whole", counts.whole);
  RecordProperty("mapped", counts.mapped);
  RecordProperty("in_band", counts.in_band);
  RecordProperty("fault", counts.fault);
  EXPECT_EQ(counts.whole + counts.mapped + counts.in_band + counts.fault,
            static_cast<int>(recordings::kOpenaiExchanges));
  EXPECT_GE(counts.whole, 100) << counts.mapped << " " << counts.in_band << " " << counts.fault;
}

TEST_F(RecordingsThrough, AreReadAsRecordedWithoutTheUsageThatNobodyAskedFor) {
  play_without_usage(*all_);
}

TEST_F(RecordingsThrough, AreRenamedAndNothingElse) {
  play_renamed(*all_);
}

TEST_F(RecordingsThrough, AreReadTheSameSplitAnywhere) {
  play_split_everywhere(*all_, 4'096, kStep);
}

}  // namespace
}  // namespace qq::simulation
