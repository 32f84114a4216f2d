// A client's contents as turns: parts, and which call a result belongs to where neither has an id.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dialects/call_index.h"
#include "model/chat_request.h"
#include "wire/json.h"

namespace qq::dialects::gemini {

class ContentDecoder {
 public:
  // The members `contents` and `systemInstruction` of a request.
  Result<> take_contents(wire::JsonValue contents, std::string_view path);
  Result<> take_system(wire::JsonValue content, const std::string& path);
  // The system's turn first.
  void release(std::vector<model::Turn>& turns);

 private:
  struct Call {
    std::string id;
    std::string name;
  };
  Result<> take_content(wire::JsonValue content, const std::string& path);
  // What a client kept of a stream is a content per delta, and empty texts: they are one turn.
  void add_answer(model::Turn turn);
  Result<> take_part(wire::JsonValue value, const std::string& path, model::Turn& turn);
  Result<> take_call(wire::JsonValue call, const std::string& path, model::Part part, model::Turn& turn);
  Result<> take_result(wire::JsonValue result, const std::string& path, model::Part part, model::Turn& turn);
  // Gives the result its call's id, or the call's name, whichever it lacks.
  void match(model::ToolResultPart& result);

  std::vector<model::Turn> turns_;
  std::vector<model::Turn> system_;
  bool turn_has_state_ = false;  // a thought with a state is in the turn that is being read
  bool last_has_state_ = false;  // and in the last answer
  std::vector<Call> calls_;
  CallIndex index_{CallIndex::ByName::All};
  std::size_t made_ = 0;  // calls and lone results so far: ids stay the same while the conversation grows
};

}  // namespace qq::dialects::gemini
