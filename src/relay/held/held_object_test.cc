#include "relay/held/held_object.h"

#include <gtest/gtest.h>

#include "relay/held/held_form.h"

namespace qq::relay {
namespace {

TEST(HeldObject, ABatchSaysItsEndItsFilesAndWhatItUsed) {
  const std::string json =
      R"({"id":"batch_1","status":"completed","output_file_id":"file-o","error_file_id":null,"usage":{"input_tokens":3,"output_tokens":4}})";
  const auto said = read_held_object(HoldingKind::Batch, json, {});
  ASSERT_TRUE(said);
  EXPECT_EQ(said->id, "batch_1");
  EXPECT_TRUE(said->ended);
  EXPECT_EQ(said->left, std::vector<std::string>{"file-o"});
  EXPECT_EQ(said->usage.input_total(), 3);
  EXPECT_EQ(said->usage.output_total(), 4);
}

TEST(HeldObject, EndsAreTheDialectsOwn) {
  const auto ended = [](HoldingKind kind, std::string_view json) {
    return read_held_object(kind, json, {}).value().ended;
  };
  for (const char* status : {"completed", "failed", "expired", "cancelled"}) {
    EXPECT_TRUE(ended(HoldingKind::Batch, std::string(R"({"id":"b","status":")") + status + "\"}")) << status;
  }
  for (const char* status : {"validating", "in_progress", "finalizing", "cancelling"}) {
    EXPECT_FALSE(ended(HoldingKind::Batch, std::string(R"({"id":"b","status":")") + status + "\"}"));
  }
  EXPECT_TRUE(ended(HoldingKind::MessageBatch, R"({"id":"b","processing_status":"ended"})"));
  EXPECT_FALSE(ended(HoldingKind::MessageBatch, R"({"id":"b","processing_status":"canceling"})"));
  EXPECT_FALSE(ended(HoldingKind::File, R"({"id":"f","status":"completed"})")) << "a file has nothing to end";
}

TEST(HeldObject, WithoutAnIdThatCanBeAskedForItIsNone) {
  for (const char* json : {"{}", R"({"id":""})", R"({"id":"../x"})", R"({"id":7})"}) {
    const auto said = read_held_object(HoldingKind::File, json, {});
    ASSERT_FALSE(said) << json;
    EXPECT_EQ(said.error().kind, ErrorKind::BadJson);
  }
}

TEST(HeldObject, ResultsAreFetchedHereAndNotAtTheProvider) {
  EXPECT_EQ(
      told_object(HoldingKind::MessageBatch,
                  R"({"id":"m","results_url":"https://api.example/v1/messages/batches/m/results"})", "m"),
      R"({"id":"m","results_url":"/v1/messages/batches/m/results"})");
  EXPECT_EQ(told_object(HoldingKind::MessageBatch, R"({"id":"m","results_url":null})", "m"),
            R"({"id":"m","results_url":null})");
}

TEST(HeldObject, PagesAreInTheirDialectsShape) {
  HoldingPage page;
  EXPECT_EQ(encode_page(HoldingKind::MessageFile, page),
            R"({"data":[],"first_id":null,"last_id":null,"has_more":false})");
  Holding told;
  told.id = "file-1";
  told.object = R"({"id":"file-1"})";
  Holding unread;
  unread.id = "file-2";
  unread.purpose = "batch_output";
  unread.created = WallTime(std::chrono::seconds(7));
  page.holdings = {told, unread};
  page.has_more = true;
  EXPECT_EQ(
      encode_page(HoldingKind::File, page),
      R"({"object":"list","data":[{"id":"file-1"},{"id":"file-2","object":"file","purpose":"batch_output",)"
      R"("created_at":7,"bytes":0,"filename":"","status":"processed"}],)"
      R"("first_id":"file-1","last_id":"file-2","has_more":true})");
}

// --- forms ---

std::string form_of(std::initializer_list<std::pair<const char*, const char*>> parts) {
  std::string out;
  for (const auto& [head, value] : parts) {
    out += std::string("--b\r\ncontent-disposition: form-data; ") + head + "\r\n\r\n" + value + "\r\n";
  }
  return out + "--b--\r\n";
}
constexpr std::string_view kFormType = "multipart/form-data; boundary=b";

std::string pieces_joined(const std::vector<std::string_view>& pieces) {
  std::string out;
  for (const std::string_view piece : pieces) out += piece;
  return out;
}

TEST(HeldForm, GoesOnWithoutTheFieldThatIsOurs) {
  for (const bool model_first : {true, false}) {
    const auto model = std::pair{"name=\"model\"", "gpt"};
    const auto file = std::pair{"name=\"file\"; filename=\"a.jsonl\"", "old bytes"};
    const auto purpose = std::pair{"name=\"purpose\"", "batch"};
    const std::string body = model_first ? form_of({model, purpose, file}) : form_of({purpose, file, model});
    const auto form = read_held_form(HoldingKind::File, kFormType, body);
    ASSERT_TRUE(form) << form.error().message;
    EXPECT_EQ(form->file, "old bytes");
    EXPECT_EQ(form->purpose, "batch");
    EXPECT_EQ(form->model, "gpt");
    EXPECT_EQ(pieces_joined(form_pieces(*form, body, "new")),
              form_of({purpose, std::pair{"name=\"file\"; filename=\"a.jsonl\"", "new"}}));
  }
}

TEST(HeldForm, SaysWhichFieldIsWrong) {
  const auto param = [](HoldingKind kind, const std::string& body, std::string_view type = kFormType) {
    const auto form = read_held_form(kind, type, body);
    return form ? std::string("good") : form.error().param;
  };
  const auto file = std::pair{"name=\"file\"; filename=\"a\"", "x"};
  const auto purpose = std::pair{"name=\"purpose\"", "batch"};
  EXPECT_EQ(param(HoldingKind::File, form_of({purpose})), "file");
  EXPECT_EQ(param(HoldingKind::File, form_of({file})), "purpose");
  EXPECT_EQ(param(HoldingKind::MessageFile, form_of({file})), "good");
  EXPECT_EQ(param(HoldingKind::File, form_of({file, purpose, purpose})), "purpose");
  EXPECT_EQ(param(HoldingKind::File, form_of({file, file, purpose})), "file");
  EXPECT_EQ(param(HoldingKind::File, form_of({file, std::pair{"name=\"Purpose\"", "batch"}})), "purpose");
  EXPECT_EQ(param(HoldingKind::File, form_of({std::pair{"name=\"file\"", "x"}, purpose})), "file");
  EXPECT_EQ(param(HoldingKind::File, "{}", "application/json"), "file");
}

}  // namespace
}  // namespace qq::relay
