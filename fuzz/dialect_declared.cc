// A declared back end, in each format of a stream: answers and streams keep what fuzz/dialect_support.h says;
// pointers and templates take any text.
#include <fakes/declared.h>

#include "fuzz/dialect_support.h"
#include "providers/declared_templates.h"
#include "wire/json_pointer.h"

namespace {

using qq::model::DeclaredStream;

void check_reply(std::string_view body, DeclaredStream::Format format, DeclaredStream::Text text) {
  qq::model::DeclaredAdapter adapter = qq::testing::declared_adapter(format);
  adapter.stream.text = text;
  if (text == DeclaredStream::Text::Deltas) {
    adapter.stream.type = {"kind"};
    adapter.stream.text_in = {"words"};
    adapter.stream.done_in = {"end"};
    adapter.stream.done_data = "[DONE]";
  }
  const qq::model::Target target = qq::testing::declared_target(std::move(adapter));
  qq::fuzz::check_answer(qq::model::Dialect::Declared, target, body);
  qq::fuzz::check_stream(qq::model::Dialect::Declared, target, body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const qq::fuzz::Input input(qq::fuzz::as_text(data, size));
  for (const auto format :
       {DeclaredStream::Format::Sse, DeclaredStream::Format::Ndjson, DeclaredStream::Format::None}) {
    check_reply(input.view(), format, DeclaredStream::Text::Deltas);
    check_reply(input.view(), format, DeclaredStream::Text::SoFar);
  }
  (void)qq::wire::parse_json_pointer(input.view());
  (void)qq::providers::read_json_template(input.view(), qq::providers::TemplateUse::Body);
  (void)qq::providers::read_text_template(input.view(), qq::providers::TemplateUse::StringToSign);
  return 0;
}
