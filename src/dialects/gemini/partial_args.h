// A call's arguments as Vertex streams them, put together into JSON text piece by piece:
//
//   {"jsonPath": "$.items[0].name", "stringValue": "app", "willContinue": true}    {"items":[{"name":"app
//   {"jsonPath": "$.items[0].name", "stringValue": "le"}                           le"
//   {"jsonPath": "$.items[1].price", "numberValue": 0.5}                           },{"price":0.5
//
// Paths come in the order of the document. One that goes back opens its containers anew, which is JSON still.
// Source: googleapis/python-genai types.py, PartialArg.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.h"

namespace qq::dialects::gemini {

class PartialArgs {
 public:
  // Appends to `out` what the value adds. `partial` is an element of `partialArgs`.
  void take(wire::JsonValue partial, std::string& out);
  // Closes what is open; "{}" if nothing came.
  void finish(std::string& out);

 private:
  struct Step {
    bool is_index = false;
    std::string name;  // an index's digits
    bool operator==(const Step&) const = default;
  };
  static std::vector<Step> steps_of(std::string_view path);
  void go_to(std::vector<Step> path, std::string& out);
  void close_string(std::string& out);

  std::vector<Step> path_;  // of the value that came last; the containers of all but its last step are open
  bool string_open_ = false;
};

}  // namespace qq::dialects::gemini
