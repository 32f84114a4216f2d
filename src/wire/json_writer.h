// Writes JSON in one pass into a string that the caller owns. It puts the commas; the caller pairs brackets
// and gives each member a key, as in
//
//   JsonWriter json(out);
//   json.begin_object();
//   json.member("model", name);
//   json.key("stop").begin_array(); ... json.end_array();
//   json.end_object();
//
// `raw` takes a value that was checked elsewhere as it is. Text that is not UTF-8 comes out with U+FFFD.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace qq::wire {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) noexcept : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  // `name` needs no escapes. Its value follows.
  JsonWriter& key(std::string_view name) {
    separate();
    out_.append(1, '"').append(name).append("\":");
    comma_ = false;
    return *this;
  }
  // The same for a key out of a stranger's document, which may.
  JsonWriter& any_key(std::string_view name) {
    separate();
    append_json_string(out_, name);
    out_.push_back(':');
    comma_ = false;
    return *this;
  }
  JsonWriter& string(std::string_view text) {
    separate();
    append_json_string(out_, text);
    return *this;
  }
  JsonWriter& raw(std::string_view json) {
    separate();
    out_.append(json);
    return *this;
  }
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  JsonWriter& integer(std::int64_t value);
  // The shortest text that reads back as `value`, which is finite.
  JsonWriter& number(double value);

  JsonWriter& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  JsonWriter& member(std::string_view name, const char* text) { return key(name).string(text); }
  JsonWriter& member(std::string_view name, std::same_as<bool> auto value) {
    return key(name).boolean(value);
  }
  JsonWriter& member(std::string_view name, std::signed_integral auto value) {
    return key(name).integer(static_cast<std::int64_t>(value));
  }
  JsonWriter& member(std::string_view name, std::unsigned_integral auto value)
    requires(!std::same_as<decltype(value), bool>)
  {
    return key(name).integer(static_cast<std::int64_t>(value));
  }
  JsonWriter& member(std::string_view name, std::same_as<double> auto value) {
    return key(name).number(value);
  }
  JsonWriter& raw_member(std::string_view name, std::string_view json) { return key(name).raw(json); }

 private:
  void separate() {
    if (comma_) out_.push_back(',');
    comma_ = true;
  }
  JsonWriter& open(char bracket) {
    separate();
    out_.push_back(bracket);
    comma_ = false;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_.push_back(bracket);
    comma_ = true;
    return *this;
  }

  std::string& out_;
  bool comma_ = false;
};

}  // namespace qq::wire
