// The tool calls of one choice of a stream: which call a delta belongs to, and when a call is done.
//
// A delta belongs to the last call of its index, or to the last one if it has none (Mistral, Google's
// endpoint of this dialect). Another id or another name is another call, since some give them all the index
// 0; so are new arguments behind whole ones with the name again. Calls may come in parallel, so one stays
// open until its arguments are a whole JSON value and another has begun, or until all are closed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/dialect.h"
#include "wire/json.h"
#include "wire/json_progress.h"

namespace qq::dialects::openai_chat {

struct EventOut {
  EventSink* sink = nullptr;
  std::uint32_t parts = 0;  // how many were started
};

class CallStream {
 public:
  CallStream(std::uint32_t choice, std::string_view id_seed) : choice_(choice), id_seed_(id_seed) {}

  // An element of `tool_calls`. False if its arguments belong to no call.
  [[nodiscard]] bool take(wire::JsonValue call, EventOut& out);
  // The older `function_call`, of which there is one.
  [[nodiscard]] bool take_function(wire::JsonValue function, EventOut& out);
  // Of all calls that were begun.
  void close(EventOut& out);
  [[nodiscard]] bool any() const noexcept { return !calls_.empty(); }
  // The arguments of a call are the beginning of a JSON value whose end has not come.
  [[nodiscard]] bool any_cut_short() const noexcept;
  // Arguments came whose call was never named.
  [[nodiscard]] bool has_unnamed() const noexcept;

 private:
  struct Delta {
    std::string id;
    std::string name;
    std::string arguments;
    std::int64_t index = -1;  // -1: not said
    wire::JsonValue state;    // Google's extra_content
    bool custom = false;
    void read_function(wire::JsonValue function);
  };
  struct Call {
    std::uint32_t part = 0;
    std::int64_t index = -1;
    std::string id;
    std::string name;
    std::string early;  // arguments that came before the name
    wire::JsonProgress arguments;
    bool custom = false;
    bool started = false;
    bool any = false;     // there were arguments
    bool is_json = true;  // as far as they came
    bool closed = false;
    [[nodiscard]] bool is_whole() const noexcept { return !custom && arguments.complete(); }
  };
  [[nodiscard]] bool take(Delta delta, EventOut& out);
  [[nodiscard]] static bool is_another(const Call& call, const Delta& delta) noexcept;
  void start(Call& call, wire::JsonValue state, EventOut& out);
  void add(Call& call, std::string_view piece, EventOut& out) const;
  void close(Call& call, EventOut& out) const;

  std::uint32_t choice_;
  std::string_view id_seed_;
  std::vector<Call> calls_;
};

}  // namespace qq::dialects::openai_chat
