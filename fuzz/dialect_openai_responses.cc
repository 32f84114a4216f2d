// OpenAI's responses dialect, by fuzz/dialect_support.h: the first byte says what the rest is. A request that
// was read and written says the same when that is done again.
#include "dialects/openai/request.h"
#include "dialects/openai_responses/dialect.h"
#include "dialects/openai_responses/history.h"
#include "fuzz/dialect_support.h"

namespace {

using namespace qq;
namespace responses = qq::dialects::openai_responses;
constexpr model::Dialect kResponses = model::Dialect::OpenAiResponses;

// What is kept of a request, goes on, and is sent to who keeps nothing.
void check_history(std::string_view body) {
  const auto facts = dialects::openai::inspect_request(model::Endpoint::Responses, body, {});
  if (!facts) return;
  const auto items = responses::input_items(facts->state.input);
  if (!items) return;
  FUZZ_CHECK(!wire::check_json(*items));
  const auto whole = responses::with_history(facts->document, facts->state.input, {*items, *items});
  if (!whole) return;
  FUZZ_CHECK(!wire::check_json(whole->body));
  auto sent = dialects::openai::inspect_request(model::Endpoint::Responses, whole->body, {});
  if (!sent) return;
  sent->keeps_nothing = sent->asks_thoughts = true;
  model::Target target;
  target.quirks.seals_thoughts = target.reasons = true;
  dialects::openai::TargetBody out;
  dialects::openai::encode_for_target(*sent, whole->body, model::Endpoint::Responses, target, out);
  std::string text;
  for (const std::string_view piece : out.pieces) text += piece;
  FUZZ_CHECK(!wire::check_json(text, {.depth_max = 1024}));
}

void check_written_twice(std::string_view body) {
  const auto request = responses::client_side().decode_request(body, {});
  if (!request) return;
  dialects::Losses losses;
  model::Target target;
  target.upstream_model = request->model;
  const auto once = responses::provider_side().encode_request(*request, target, losses);
  FUZZ_CHECK(once.has_value());
  const auto again = responses::client_side().decode_request(once->body, {});
  FUZZ_CHECK(again.has_value());
  const auto twice = responses::provider_side().encode_request(*again, target, losses);
  FUZZ_CHECK(twice.has_value() && twice->body == once->body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const fuzz::Input input(fuzz::as_text(data + 1, size - 1));
  switch (data[0] % 3) {
    case 0:
      fuzz::check_request(kResponses, input.view(), {});
      check_history(input.view());
      check_written_twice(input.view());
      break;
    case 1: fuzz::check_answer(kResponses, fuzz::target_of(kResponses), input.view()); break;
    default: fuzz::check_stream(kResponses, {}, input.view()); break;
  }
  return 0;
}
