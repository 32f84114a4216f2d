// Recorded embeddings: those of OpenAI's kind, which are what a client of Google's gets from such a target.
// None of Google's, Cohere's and Bedrock's is at hand.
#include <recordings/fixture.h>

#include "base/base64.h"
#include "dialects/embeddings/embeddings.h"

namespace qq::dialects::embeddings {
namespace {

class EmbeddingRecordings : public recordings::RecordingsTest {
 protected:
  void SetUp() override {
    load(4, [](const recordings::Recording& recording) {
      return recording.kind == "embeddings" && recording.status == 200 && recording.provider != "azure";
    });
  }
};

TEST_F(EmbeddingRecordings, DecodeToOneVectorAndItsFigures) {
  int decoded = 0;
  for (const recordings::Recording& recording : all_) {
    SCOPED_TRACE(recording.name);
    if (recording.body.find(R"("embedding":")") != std::string::npos) continue;  // asked for in base64
    Request request = *decode_request(model::Endpoint::Embeddings, recording.request);
    std::string room;
    const auto answer =
        decode_answer(recording.body, request, model::Target(), model::Endpoint::Embeddings, room);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_GT(answer->usage.input_total(), 0);
    std::size_t numbers = 0;
    for (wire::JsonElements each(answer->vectors.front()); each.next();) ++numbers;
    EXPECT_GE(numbers, 1'000U);
    request.base64 = true;
    const std::string told = encode_answer(*answer, request, "m");
    const std::size_t begin = told.find(R"("embedding":")") + 13;
    const auto bytes = from_base64(std::string_view(told).substr(begin, told.find('"', begin) - begin));
    ASSERT_TRUE(bytes);
    EXPECT_EQ(bytes->size(), 4 * numbers);
    ++decoded;
  }
  EXPECT_EQ(decoded, 3);
}

}  // namespace
}  // namespace qq::dialects::embeddings
