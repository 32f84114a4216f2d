// Where each value stood in the file, by its path ("providers[0].accounts[1].name"), so that checks made
// after loading can point at it.
#pragma once
#include <string>
#include <unordered_map>

#include "config/diagnostic.h"

namespace qq::config {

struct Place {
  Mark mark;
  bool from_outside = false;  // the value came from a variable or file: never show it
  bool good = true;           // false: it was refused, so what follows from it means nothing
};

class Places {
 public:
  void set(const std::string& path, Place place) { places_.insert_or_assign(path, place); }
  [[nodiscard]] bool has(const std::string& path) const { return places_.contains(path); }
  // Of the value, or of the nearest map or list around it.
  [[nodiscard]] Place of(std::string path) const {
    while (true) {
      if (const auto found = places_.find(path); found != places_.end()) return found->second;
      const std::size_t cut = path.find_last_of(".[");
      if (cut == std::string::npos) return {};
      path.resize(cut);
    }
  }

 private:
  std::unordered_map<std::string, Place> places_;
};

}  // namespace qq::config
