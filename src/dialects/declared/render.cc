#include "dialects/declared/render.h"

#include "wire/json.h"
#include "wire/json_text.h"
#include "wire/json_writer.h"

namespace qq::dialects::declared {
namespace {

using model::JsonTemplate;

enum class Left : std::uint8_t { Something, Nothing, NothingAround };

class Renderer {
 public:
  Renderer(const Values& values, std::string& out) noexcept : values_(values), out_(out) {}

  Left write(const JsonTemplate& node) {
    switch (node.kind) {
      case JsonTemplate::Kind::Literal: out_ += node.json; return Left::Something;
      case JsonTemplate::Kind::Placeholder: return write_value(node);
      case JsonTemplate::Kind::Text: {
        const std::optional<std::string> text = render(node.text, values_);
        if (!text) return Left::Nothing;
        wire::append_json_string(out_, *text);
        return Left::Something;
      }
      case JsonTemplate::Kind::Object:
      case JsonTemplate::Kind::Array: return write_container(node);
    }
    return Left::Nothing;
  }

 private:
  Left write_value(const JsonTemplate& node) {
    const std::string& json = values_.get(node.placeholder);
    if (json.empty() && node.json.empty()) return node.takes_along ? Left::NothingAround : Left::Nothing;
    out_ += json.empty() ? node.json : json;
    return Left::Something;
  }

  Left write_container(const JsonTemplate& node) {
    const bool is_object = node.kind == JsonTemplate::Kind::Object;
    const std::size_t begin = out_.size();
    bool any = node.inside.empty();
    out_ += is_object ? '{' : '[';
    for (std::size_t i = 0; i < node.inside.size(); ++i) {
      const std::size_t before = out_.size();
      if (out_.size() > begin + 1) out_ += ',';
      if (is_object) {
        wire::append_json_string(out_, node.keys[i]);
        out_ += ':';
      }
      const Left left = write(node.inside[i]);
      if (left == Left::Something) {
        any = true;
        continue;
      }
      out_.resize(before);
      if (left == Left::Nothing) continue;
      out_.resize(begin);
      // A placeholder in an array speaks for the object around that.
      return is_object ? Left::Nothing : Left::NothingAround;
    }
    if (!any) {
      out_.resize(begin);
      return Left::Nothing;
    }
    out_ += is_object ? '}' : ']';
    return Left::Something;
  }

  const Values& values_;
  std::string& out_;
};

}  // namespace

void Values::set_text(model::Placeholder placeholder, std::string_view text) {
  std::string& json = at(placeholder);
  json.clear();
  wire::append_json_string(json, text);
}

void Values::set_integer(model::Placeholder placeholder, std::optional<std::int64_t> value) {
  if (value) at(placeholder) = std::to_string(*value);
}

void Values::set_number(model::Placeholder placeholder, std::optional<double> value) {
  if (!value) return;
  at(placeholder).clear();
  wire::JsonWriter(at(placeholder)).number(*value);
}

bool render(const JsonTemplate& json, const Values& values, std::string& out) {
  return !json.empty() && Renderer(values, out).write(json) == Left::Something;
}

std::optional<std::string> render(const model::TextTemplate& text, const Values& values) {
  std::string out;
  for (const model::TextTemplate::Piece& piece : text.pieces) {
    out += piece.text;
    if (!piece.placeholder) continue;
    const std::string& json = values.get(*piece.placeholder);
    if (json.empty()) return std::nullopt;
    out += wire::text_of(wire::JsonValue(json));
  }
  return out;
}

}  // namespace qq::dialects::declared
