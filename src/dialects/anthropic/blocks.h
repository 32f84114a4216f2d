// Content blocks, which requests and answers share.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/dialect.h"
#include "wire/json_writer.h"

namespace qq::dialects::anthropic {

// What is wrong with a value, and where in it: "source.type".
struct Fault {
  std::string path;
  std::string_view what;  // empty: nothing
  explicit operator bool() const noexcept { return !what.empty(); }
};
// The same seen from outside: `at` in front of the path.
Fault inside(std::string_view at, Fault fault);

// The member at hand as what it must be; null leaves `out` as it is.
Fault take_text(const wire::JsonMembers& member, std::string& out);
Fault take_flag(const wire::JsonMembers& member, bool& out);
Fault take_cache(const wire::JsonMembers& member, std::optional<model::CacheMark>& out);
void take_extra(const wire::JsonMembers& member, model::ExtraFields& out);

// Blocks that nobody but Anthropic has are OpaqueParts. Ids and results are as they stand: what they carry is
// taken off by decode_request.
Fault decode_block(wire::JsonValue block, model::Part& out);
// A text, or an array of blocks. Blank texts stay.
Fault decode_content(wire::JsonValue content, std::vector<model::Part>& out);

void write_extra(wire::JsonWriter& json, const model::ExtraFields& extra);
// Without the line ends that may stand between a document's tokens.
std::string one_line(std::string_view json);
bool is_blank(std::string_view text) noexcept;

}  // namespace qq::dialects::anthropic
