// The built-in model in a Realtime connection: what it says to each of the client's messages. Pure; the
// connection's frames are the caller's (connection.cc).
//
//   session.update             session.updated, with what was set
//   input_audio_buffer.append  nothing; .commit: the item, and its transcript if the session asks for one
//   conversation.item.create   the item
//   response.create            response.created, deltas, response.done with its usage
//   others                     an `error` event
//
// A response is sound with its transcript unless the session or it asks for text. Usage: the words of all
// items are text, 100 ms of the user's sound (4,800 bytes) are a token, each word spoken is one token of text
// and four of sound; `cached=N` of the input were cached, sound first.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/provider/script.h"

namespace qq::simulator {

class RealtimeModel {
 public:
  enum class Place : std::uint8_t { Other, Content, Done };
  struct Event {
    std::string text;
    Place place = Place::Other;
  };

  RealtimeModel(std::string model, const Script& script) : model_(std::move(model)), script_(script) {}

  std::vector<Event> greeting();
  std::vector<Event> answer(std::string_view message);

 private:
  std::string event(std::string_view type, std::string_view members);
  std::string session();
  Event error(std::string_view code, std::string_view text, std::string_view event_id);
  void take_session(wire::JsonValue session);
  std::string take_item(wire::JsonValue item);
  void commit_audio(std::vector<Event>& events);
  void respond(wire::JsonValue request, std::vector<Event>& events);
  std::string usage(std::uint64_t words, bool spoken) const;

  std::string model_;
  Script script_;
  bool text_only_ = false;
  std::string transcription_;       // its model; empty: none
  std::uint64_t text_tokens_ = 0;   // of the conversation
  std::uint64_t audio_tokens_ = 0;  // of what the user said
  std::uint64_t buffered_ = 0;      // bytes of sound
  std::uint64_t events_ = 0;
  std::uint64_t items_ = 0;
  std::uint64_t responses_ = 0;
};

}  // namespace qq::simulator
