#include "relay/held/file_ids.h"

namespace qq::relay {
namespace {

class FileIdReader {
 public:
  explicit FileIdReader(FileIds& ids) noexcept : ids_(ids) {}

  void look_into(wire::JsonMembers& members) {
    while (members.next()) {
      if (members.is_string()) {
        if (members.key_is("file_id")) take(members.value());
      } else if (members.is_array() && members.key_is("file_ids")) {
        for (auto elements = wire::JsonElements::inside(members); elements.next();) {
          elements.is_string() ? take(elements.value()) : look_inside(elements);
        }
      } else {
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
    if (ids_.size() <= kFileIdsMax) ids_.insert(id.string());
  }

  FileIds& ids_;
};

}  // namespace

bool may_name_files(std::string_view json) noexcept {
  return json.find("file_id") != std::string_view::npos || json.find("\\u00") != std::string_view::npos;
}

void add_file_ids(wire::JsonValue document, FileIds& ids) {
  FileIdReader found(ids);
  if (document.is_object()) {
    wire::JsonMembers members(document);
    found.look_into(members);
  } else if (document.is_array()) {
    wire::JsonElements elements(document);
    found.look_into(elements);
  }
}

}  // namespace qq::relay
