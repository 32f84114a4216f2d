#include "dialects/openai/form_request.h"

namespace qq::dialects::openai {
namespace {

using model::Endpoint;

constexpr std::string_view kType = "multipart/form-data; boundary=XX";

std::string form_field(std::string_view name, std::string_view value, std::string_view more = {}) {
  return "--XX\r\nContent-Disposition: form-data; name=\"" + std::string(name) + "\"" + std::string(more) +
         "\r\n\r\n" + std::string(value) + "\r\n";
}
std::string form(std::initializer_list<std::string> fields) {
  std::string out;
  for (const std::string& one : fields) out += one;
  return out + "--XX--\r\n";
}
const std::string kFile = form_field("file", "RIFF\r\n\r\nmodel", "; filename=\"a.wav\"");

model::Target form_target(std::string upstream_model, bool in_body = true) {
  model::Target target;
  target.upstream_model = std::move(upstream_model);
  target.quirks.sends_model_in_body = in_body;
  return target;
}

std::string encoded_form(const std::string& body, const model::Target& target) {
  const auto request = inspect_form(Endpoint::AudioTranscriptions, kType, body);
  EXPECT_TRUE(request) << request.error().message;
  TargetBody out;
  encode_form_for_target(request->form, body, target, out);
  std::string joined;
  for (const std::string_view piece : out.pieces) joined += piece;
  EXPECT_EQ(joined.size(), out.bytes);
  return joined;
}

TEST(FormRequest, IsReadForModelAndStream) {
  const std::string body = form({kFile, form_field("model", "whisper"), form_field("stream", "True")});
  const auto request = inspect_form(Endpoint::AudioTranscriptions, kType, body);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->facts.model, "whisper");
  EXPECT_TRUE(request->facts.stream);
  EXPECT_FALSE(inspect_form(Endpoint::AudioTranslations, kType, body)->facts.stream) << "there are none";
  const std::string plain = form({form_field("model", "whisper"), kFile, form_field("stream", "false")});
  EXPECT_FALSE(inspect_form(Endpoint::ImagesEdits, kType, plain)->facts.stream);
}

TEST(FormRequest, GoesOnWithTheTargetsName) {
  const std::string body = form({kFile, form_field("model", "asked"), form_field("language", "de")});
  EXPECT_EQ(encoded_form(body, form_target("real")),
            form({kFile, form_field("model", "real"), form_field("language", "de")}));
  EXPECT_EQ(encoded_form(body, form_target("asked")), body);
  EXPECT_EQ(encoded_form(body, form_target("real", false)), form({kFile, form_field("language", "de")}));
}

struct RefusedForm {
  std::string body;
  std::string_view param;
  std::string_view code;
};

TEST(FormRequest, IsRefusedByTheNameOfItsField) {
  const std::string model = form_field("model", "m");
  for (const RefusedForm& refused : {
           RefusedForm{form({kFile}), "model", "missing_required_parameter"},
           RefusedForm{form({model, model}), "model", "invalid_form"},
           RefusedForm{form({model, form_field("MODEL", "n")}), "model", "invalid_form"},
           RefusedForm{form({form_field("model", "m", "; filename=\"m\"")}), "model", "invalid_type"},
           RefusedForm{form({form_field("model", "")}), "model", "invalid_value"},
           RefusedForm{form({form_field("model", "m\nn")}), "model", "invalid_value"},
           RefusedForm{form({model, form_field("stream", "yes")}), "stream", "invalid_type"},
           RefusedForm{form({model, form_field("stream", "true"), form_field("stream", "false")}), "stream",
                       "invalid_form"},
           RefusedForm{form({model}) + "more", "", "invalid_form"},
           RefusedForm{R"({"model":"m"})", "", "invalid_form"},
           RefusedForm{"", "", "invalid_form"},
       }) {
    const auto request = inspect_form(Endpoint::AudioTranscriptions, kType, refused.body);
    ASSERT_FALSE(request) << refused.body;
    EXPECT_EQ(request.error().kind, ErrorKind::InvalidRequest);
    EXPECT_EQ(request.error().param, refused.param) << refused.body;
    EXPECT_EQ(request.error().code, refused.code) << refused.body;
  }
  const std::string whole = form({model});
  EXPECT_FALSE(inspect_form(Endpoint::AudioTranscriptions, "multipart/form-data", whole));
}

}  // namespace
}  // namespace qq::dialects::openai
