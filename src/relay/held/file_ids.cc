#include "relay/held/file_ids.h"

#include "relay/held/only_member.h"
#include "relay/path_form.h"
#include "wire/http_head.h"

namespace qq::relay {
namespace {

class FileIdReader {
 public:
  FileIdReader(Inputs inputs, FileIds& ids) noexcept : inputs_(inputs), ids_(ids) {}

  void look_into(wire::JsonMembers& members) {
    while (members.next()) {
      if (members.is_string()) {
        if (key_resembles(members, "file_id")) take(members.value());
      } else if (members.is_array() && key_resembles(members, "file_ids")) {
        for (auto elements = wire::JsonElements::inside(members); elements.next();) {
          elements.is_string() ? take(elements.value()) : look_inside(elements);
        }
      } else if (inputs_ == Inputs::Read || !members.key_is("input")) {
        look_inside(members);
      }
    }
  }
  void look_into(wire::JsonElements& elements) {
    while (elements.next()) look_inside(elements);
  }

 private:
  // As deep as the document, whose depth is limited.
  void look_inside(wire::JsonWalk& walk) {
    if (walk.is_object()) {
      auto members = wire::JsonMembers::inside(walk);
      look_into(members);
    } else if (walk.is_array()) {
      auto elements = wire::JsonElements::inside(walk);
      look_into(elements);
    }
  }
  void take(wire::JsonValue id) {
    constexpr std::size_t kLongest = 6 * 256;  // an id's, each character an escape
    if (ids_.size() > kFileIdsMax || id.raw_string().size() > kLongest) return;
    std::string plain = id.string();
    if (is_object_id(plain)) ids_.insert(std::move(plain));
  }

  Inputs inputs_;
  FileIds& ids_;
};

}  // namespace

bool may_name_files(std::string_view json) noexcept {
  constexpr std::string_view kName = "file_id";
  constexpr std::size_t kMark = 4;  // the place of what has no capital letter
  for (auto at = json.find('_', kMark); at != std::string_view::npos; at = json.find('_', at + 1)) {
    if (wire::iequals(json.substr(at - kMark, kName.size()), kName)) return true;
  }
  return json.find("\\u00") != std::string_view::npos;
}

void add_file_ids(wire::JsonValue document, Inputs inputs, FileIds& ids) {
  FileIdReader found(inputs, ids);
  if (document.is_object()) {
    wire::JsonMembers members(document);
    found.look_into(members);
  } else if (document.is_array()) {
    wire::JsonElements elements(document);
    found.look_into(elements);
  }
}

}  // namespace qq::relay
