// A client's contents as turns: parts, and which call a result belongs to where neither has an id.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
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
  // A call whose result has not come.
  struct OpenCall {
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
  std::vector<OpenCall> open_;
  std::vector<OpenCall> closed_;
  std::size_t calls_ = 0;  // so far, to make ids that stay the same while the conversation grows
};

}  // namespace qq::dialects::gemini
