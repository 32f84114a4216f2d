// For every pair of dialects: what a provider was recorded to answer, told to a client of another dialect,
// means the same to that client, but for what `as_heard` says cannot be told; however the bytes are cut; and
// where the stream is cut short, it means as much of it as had come, and that it failed.
#include <fakes/neutral.h>
#include <recordings/dialects.h>
#include <recordings/fixture.h>

#include <deque>

#include "translation/declared.h"
#include "translation/meaning.h"
#include "translation/pairs.h"

namespace qq::translation {
namespace replies {

using model::Dialect;
using model::StreamEvent;
using recordings::Recording;

constexpr dialects::AnswerHead kHead{.model = "asked", .request_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV", .now = 5};

model::ChatRequest asked_by(Dialect client) {
  model::ChatRequest request;
  request.dialect = client;
  request.usage_in_stream = true;
  request.reasoning.emplace().show = true;
  return request;
}

// Events that outlive the decoder.
class KeptEvents final : public dialects::EventSink {
 public:
  void on_event(const StreamEvent& event) override {
    StreamEvent kept = event;
    for (std::string_view* view :
         {&kept.text, &kept.id, &kept.name, &kept.word, &kept.model, &kept.json, &kept.media_type}) {
      *view = texts_.emplace_back(*view);
    }
    if (event.state != nullptr) kept.state = &states_.emplace_back(*event.state);
    if (event.usage != nullptr) kept.usage = &usages_.emplace_back(*event.usage);
    if (event.error != nullptr) kept.error = &errors_.emplace_back(*event.error);
    events_.push_back(kept);
  }
  [[nodiscard]] const std::vector<StreamEvent>& events() const { return events_; }

 private:
  std::vector<StreamEvent> events_;
  std::deque<std::string> texts_;
  std::deque<model::OpaqueState> states_;
  std::deque<model::Usage> usages_;
  std::deque<Error> errors_;
};

class Replies : public recordings::RecordingsTest,
                public ::testing::WithParamInterface<std::tuple<Dialect, recordings::Recorded>> {
 protected:
  void SetUp() override {
    const recordings::Recorded& provider = std::get<1>(GetParam());
    load(provider.exchanges, provider.speaks);
  }
  [[nodiscard]] static Dialect client() { return std::get<0>(GetParam()); }
  [[nodiscard]] static const dialects::ClientDialect& client_side() {
    return *dialects::client_dialect(client());
  }
  [[nodiscard]] static const dialects::ProviderDialect& provider() {
    return *dialects::provider_dialect(std::get<1>(GetParam()).dialect);
  }
  [[nodiscard]] static model::Target target(const Recording& recording) {
    return std::get<1>(GetParam()).target(recording);
  }
  // As the client reads it.
  [[nodiscard]] static testing::DecodedStream read(std::string_view bytes,
                                                   const std::vector<std::size_t>& cuts = {}) {
    return testing::decode_stream(*dialects::provider_dialect(client()), client(), target_of(client()), bytes,
                                  cuts);
  }
  [[nodiscard]] static KeptEvents events_of(const Recording& recording) {
    KeptEvents kept;
    const auto decoder = provider().stream_decoder(target(recording), "seed");
    decoder->feed(recording.body, kept);
    decoder->finish(kept);
    return kept;
  }
};

INSTANTIATE_TEST_SUITE_P(Pairs, Replies,
                         ::testing::Combine(::testing::ValuesIn(kClients),
                                            ::testing::ValuesIn(recordings::kRecorded)),
                         [](const auto& info) {
                           return std::string(to_string(std::get<0>(info.param))) + "_of_" +
                                  std::string(to_string(std::get<1>(info.param).dialect));
                         });

TEST_P(Replies, WholeAnswersMeanTheSame) {
  std::size_t count = 0;
  const model::ChatRequest request = asked_by(client());
  for (const Recording& recording : all_) {
    if (!recordings::is_answer(recording)) continue;
    SCOPED_TRACE(recording.name);
    const auto answer = provider().decode_answer(recording.body, target(recording), "seed");
    if (!answer) continue;
    ++count;
    dialects::Losses losses;
    const std::string body = client_side().encode_answer(*answer, request, kHead, losses);
    EXPECT_EQ(undeclared(losses, {}, dialects::answer_notes(client())), "");
    const auto again = dialects::provider_dialect(client())->decode_answer(body, target_of(client()), "seed");
    ASSERT_TRUE(again) << again.error().message << "\n" << body;
    EXPECT_EQ(describe(meaning_of(*again)), describe(as_heard(meaning_of(*answer), client()))) << body;
  }
  EXPECT_GE(count * 2, std::size_t(std::ranges::count_if(all_, recordings::is_answer)));
}

TEST_P(Replies, StreamsMeanTheSameHoweverCut) {
  std::size_t count = 0;
  const model::ChatRequest request = asked_by(client());
  for (const Recording& recording : all_) {
    if (!recordings::is_stream(recording)) continue;
    SCOPED_TRACE(recording.name);
    const KeptEvents kept = events_of(recording);
    model::AnswerBuilder builder(std::get<1>(GetParam()).dialect);
    const auto encoder = client_side().stream_encoder(request, kHead);
    std::string bytes;
    for (const StreamEvent& event : kept.events()) {
      builder.take(event);
      encoder->encode(event, bytes);
    }
    EXPECT_EQ(undeclared(encoder->losses(), {}, dialects::answer_notes(client())), "");
    if (builder.ended()) {
      dialects::Losses whole;
      static_cast<void>(client_side().encode_answer(builder.answer(), request, kHead, whole));
      // Arguments that were cut short are a stream's to pass on as they came.
      std::erase_if(whole, [](const dialects::Loss& lost) { return lost.why == dialects::loss::kNotJson; });
      EXPECT_EQ(encoder->losses().empty(), whole.empty()) << "a stream loses what a whole answer does";
    }
    const Meaning expected = as_heard(meaning_of(builder.answer()), client());
    const auto again = read(bytes);
    EXPECT_EQ(again.grammar, "") << bytes;
    ++count;
    if (again.error && again.error->kind == ErrorKind::EmptyReply && is_silent(expected)) continue;
    EXPECT_EQ(again.error.has_value(), builder.error().has_value()) << bytes;
    EXPECT_EQ(again.ended, builder.ended()) << bytes;
    if (builder.ended() && again.ended)
      EXPECT_EQ(describe(meaning_of(again.answer)), describe(expected)) << bytes;
    std::vector<std::size_t> every;
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) every.push_back(cut);
    EXPECT_EQ(read(bytes, every).events, again.events) << "byte by byte";
  }
  EXPECT_EQ(count, std::size_t(std::ranges::count_if(all_, recordings::is_stream)));
}

// Of what had come, the client has all but calls that were not whole, where its dialect has no half calls.
void expect_prefix(const Meaning& heard, const Meaning& said) {
  ASSERT_LE(heard.choices.size(), said.choices.size());
  for (std::size_t i = 0; i < said.choices.size(); ++i) {
    const Meaning::Choice none;
    const Meaning::Choice& has = i < heard.choices.size() ? heard.choices[i] : none;
    const Meaning::Choice& is = said.choices[i];
    EXPECT_EQ(has.text, is.text);
    EXPECT_EQ(has.reasoning, is.reasoning);
    EXPECT_EQ(has.refusal, is.refusal);
    ASSERT_LE(has.calls.size(), is.calls.size());
    for (std::size_t call = 0; call < has.calls.size(); ++call)
      EXPECT_EQ(has.calls[call].name, is.calls[call].name);
  }
}

TEST_P(Replies, StreamsThatAreCutAreAPrefixAndAnError) {
  const model::ChatRequest request = asked_by(client());
  const Error error = Error::upstream(ErrorKind::StreamCut, AttemptPhase::ReplyBegun, "it was cut");
  for (const Recording& recording : all_) {
    if (!recordings::is_stream(recording)) continue;
    const KeptEvents kept = events_of(recording);
    const std::size_t stride = kept.events().size() / 24 + 1;
    std::string whole;
    const auto all = client_side().stream_encoder(request, kHead);
    for (const StreamEvent& event : kept.events()) all->encode(event, whole);
    for (std::size_t count = 0; count + 1 < kept.events().size(); count += stride) {
      SCOPED_TRACE(recording.name + " cut after " + std::to_string(count) + " events");
      model::AnswerBuilder builder(std::get<1>(GetParam()).dialect);
      const auto encoder = client_side().stream_encoder(request, kHead);
      std::string bytes;
      for (const StreamEvent& event : std::span(kept.events()).first(count)) {
        builder.take(event);
        encoder->encode(event, bytes);
      }
      ASSERT_TRUE(whole.starts_with(bytes));
      encoder->encode({.kind = StreamEvent::Kind::Failed, .error = &error}, bytes);
      const auto again = read(bytes);
      EXPECT_EQ(again.grammar, "") << bytes;
      EXPECT_FALSE(again.ended);
      ASSERT_TRUE(again.error) << bytes;
      EXPECT_NE(again.error->message.find("it was cut"), std::string::npos) << again.error->message;
      expect_prefix(meaning_of(again.answer), as_heard(meaning_of(builder.answer()), client()));
      if (HasFailure()) return;
    }
  }
}

}  // namespace replies
}  // namespace qq::translation
