#include "simulator/provider/recording.h"

#include <cstdlib>
#include <filesystem>

#include "simulator/provider/library.h"
#include "simulator/provider/test_support.h"

namespace qq::simulator {
namespace {

using namespace testing;
namespace fs = std::filesystem;

fs::path fixtures() {
  return fs::path(QQ_SOURCE_DIR) / "tests/fixtures/recordings";
}

fs::path shared_recordings() {
  const char* folder = std::getenv("QQ_SHARED_DIR");
  const fs::path shared =
      folder != nullptr ? fs::path(folder) : fs::path(QQ_SOURCE_DIR).parent_path() / "shared";
  return shared / "recordings";
}

TEST(Recording, IsReadWithItsBodyByteForByte) {
  const auto recording = read_recording(
      R"({"provider":"p","endpoint":"/v1/chat/completions","fidelity":"wire","stream":true,"request":{"model":"m"},)"
      R"("response":{"status":200,"headers":{"content-type":"text/event-stream"},"body":"data: a\r\n\r\n: c\n\ndata:[DONE]\n\n"}})",
      "p/x");
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->body, "data: a\r\n\r\n: c\n\ndata:[DONE]\n\n");
  const Reply reply = recorded_reply(*recording);
  ASSERT_EQ(reply.pieces.size(), 3U);
  EXPECT_EQ(reply.pieces[0].bytes, "data: a\r\n\r\n");
  EXPECT_EQ(reply.pieces[2].kind, PieceKind::Done);
}

TEST(Recording, AJsonBodyKeepsItsNumbersAndStrings) {
  const auto recording = read_recording(
      "{\"response\":{\"status\":200,\"body\":{\n \"a\" : 1.50,\n \"b\": [ 12345678901234567890, \"x : \\\" "
      "y\" ]\n}}}",
      "p/x");
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->body, "{\"a\":1.50,\"b\":[12345678901234567890,\"x : \\\" y\"]}");
}

TEST(Recording, ABrokenFileIsAnErrorWithItsName) {
  for (const char* text : {"{", "{}", R"({"response":{"status":"ok"}})",
                           R"({"response":{"status":200,"headers":{"a b":"c"}}})"}) {
    const auto recording = read_recording(text, "p/broken");
    ASSERT_FALSE(recording) << text;
    EXPECT_NE(recording.error().message.find("p/broken"), std::string::npos);
  }
}

TEST(Library, FindsTheRecordingOfTheSameRequest) {
  std::vector<Recording> recordings;
  for (const char* model : {"m1", "m2"}) {
    recordings.push_back(*read_recording(
        fmt::format(
            R"({{"endpoint":"/v1/chat/completions","request":{{"model":"{0}","messages":[{{"role":"user","content":"hi"}}],"temperature":0}},)"
            R"("response":{{"status":200,"body":{{"from":"{0}"}}}}}})",
            model),
        fmt::format("p/{}", model)));
  }
  const Library library(std::move(recordings));
  // Other order, other spacing, a mapped model, usage asked for by a gateway.
  const std::string body =
      R"({"temperature": 0, "stream":false, "model":"mapped", "stream_options":{"include_usage":true}, "messages": [{"role":"user","content":"hi"}]})";
  ASSERT_NE(library.matching(Route::ChatCompletions, body, "m2"), nullptr);
  EXPECT_EQ(library.matching(Route::ChatCompletions, body, "m2")->name, "p/m2");
  EXPECT_EQ(library.matching(Route::ChatCompletions, body, "mapped")->name, "p/m1");
  EXPECT_EQ(library.matching(Route::Responses, body, "m1"), nullptr);
  EXPECT_EQ(library.matching(Route::ChatCompletions, R"({"model":"m1","messages":[]})", "m1"), nullptr);
}

// By name, where its provider takes it: in the path or in the body; paced event by event if it is a stream.
void play_at_its_own_endpoint(const Recording& recording, const Library& library) {
  std::string target = recording.endpoint;
  std::ranges::replace(target, '<', '-');
  std::ranges::replace(target, '>', '-');
  if (!target.starts_with('/')) target.insert(0, "/");
  const std::string name = "rec:" + recording.name;
  const RoutedPath routed = route_path(target.substr(0, target.find('?')));
  std::string body = chat_body(name);
  if (!routed.model.empty() && routed.route != Route::Models) {
    const std::size_t at = target.find(routed.model);
    ASSERT_NE(at, std::string::npos) << target;
    std::string in_path = name + "+gap=1+ttft=1";
    in_path.replace(in_path.find('/'), 1, "%2F");
    target.replace(at, routed.model.size(), in_path);
    body = "{}";
  } else {
    body = chat_body(name + "+gap=1+ttft=1");
  }
  const Play play = play_of(target, body, library);
  const auto reply = read_reply(bytes_of(play));
  if (routed.route != Route::Models) EXPECT_EQ(reply->body, recording.body) << target;
  // One event alone has no gap before it.
  const std::vector<Piece> pieces = recorded_reply(recording).pieces;
  if (pieces.size() > 1 && routed.route != Route::Models)
    EXPECT_GE(play.steps.size(), pieces.size()) << target;
}

// Plays everything of a folder by name and compares the body byte for byte.
void play_all(const fs::path& folder) {
  auto loaded = load_recordings(folder);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_FALSE(loaded->empty());
  const Library library(*std::move(loaded));
  for (const Recording& recording : library.all()) {
    SCOPED_TRACE(recording.name);
    const Play play = play_of("/v1/chat/completions", chat_body("rec:" + recording.name), library);
    const auto reply = read_reply(bytes_of(play));
    EXPECT_EQ(reply->error, nullptr);
    EXPECT_TRUE(reply->framed);
    EXPECT_EQ(reply->head.status, recording.status);
    EXPECT_EQ(reply->body, recording.body);
    for (const auto& [name, value] : recording.headers) EXPECT_EQ(reply->head.fields.find(name), value);
    play_at_its_own_endpoint(recording, library);
  }
}

TEST(Fixtures, PlayByteForByte) {
  play_all(fixtures());
}

TEST(Fixtures, AreFoundByTheirRequests) {
  auto loaded = load_recordings(fixtures());
  ASSERT_TRUE(loaded);
  const Library library(*std::move(loaded));
  for (const Recording& recording : library.all()) {
    const std::string path = recording.endpoint.substr(0, recording.endpoint.find('?'));
    const Recording* found = library.matching(route_path(path).route, recording.request, recording.model);
    ASSERT_NE(found, nullptr) << recording.name;
    EXPECT_EQ(found->name, recording.name);
  }
}

TEST(SharedRecordings, PlayByteForByte) {
  const fs::path folder = shared_recordings();
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no recordings at " << folder << "; set QQ_SHARED_DIR";
  play_all(folder);
}

}  // namespace
}  // namespace qq::simulator
