#include "dialects/openai_responses/conversation.h"

#include "base/text.h"
#include "dialects/openai_responses/items.h"
#include "dialects/openai_responses/members.h"

namespace qq::dialects::openai_responses {

Result<ConversationBody> read_conversation(std::string_view body) {
  ConversationBody read{.items = {}, .metadata = "{}"};
  if (trimmed(body).empty()) return read;
  if (wire::check_json(body) || !wire::JsonValue(body).is_object()) {
    return fail(invalid("the body must be a JSON object", "", "invalid_json"));
  }
  wire::JsonValue metadata;
  QQ_CHECK(read_members(wire::JsonValue(body), {{"items", &read.items}, {"metadata", &metadata}}));
  QQ_CHECK(must_be_object(metadata, "metadata"));
  if (!absent(metadata)) read.metadata = metadata.text();
  QQ_CHECK(must_be_array(read.items, "items"));
  std::size_t index = 0;
  for (wire::JsonElements each(read.items); each.next(); ++index) {
    const auto item = decode_item(each.value());
    if (!item) return fail(within(item.error(), "items", index));
  }
  return read;
}

}  // namespace qq::dialects::openai_responses
