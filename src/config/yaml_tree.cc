#include "config/yaml_tree.h"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

namespace qq::config {
namespace {

// Thrown by the event handler to stop yaml-cpp; never leaves this file.
struct Refused {
  YAML::Mark mark;
  std::string message;
};

// Length of the UTF-8 character that starts at `text[at]`; 0 if it is not one (overlong forms, surrogates
// and values above U+10FFFF included). Source: RFC 3629, section 4.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!tail(1) || !tail(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

// The text with its line starts, to turn yaml-cpp's marks (from 0, in bytes) into an editor's.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }

  [[nodiscard]] std::size_t offset_of(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
    if (line >= starts_.size()) return text_.size();
    return std::min(starts_[line] + static_cast<std::size_t>(std::max(mark.column, 0)), text_.size());
  }

  [[nodiscard]] Mark mark_of(std::size_t offset) {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const auto line = static_cast<std::size_t>(after - starts_.begin());
    if (starts_[line - 1] > counted_to_ || offset < counted_to_) {
      counted_to_ = starts_[line - 1];
      column_ = 1;
    }
    for (; counted_to_ < offset && counted_to_ < text_.size(); ++counted_to_) {
      if ((static_cast<unsigned char>(text_[counted_to_]) & 0xC0U) != 0x80U) ++column_;
    }
    return {static_cast<int>(line), column_};
  }
  [[nodiscard]] Mark mark_of(const YAML::Mark& mark) { return mark_of(offset_of(mark)); }

  [[nodiscard]] std::string_view line_at(std::size_t offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const std::size_t start = *(after - 1);
    return text_.substr(start, text_.find('\n', start) - start);
  }

  [[nodiscard]] std::string_view from(const YAML::Mark& mark) const { return text_.substr(offset_of(mark)); }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_{0};
  // Marks come mostly in order: counting goes on from the last one, so that a long line takes linear time.
  std::size_t counted_to_ = 0;
  int column_ = 1;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Source& source) : source_(source) {}

  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      throw Refused{mark, "a second document (`---`) is not supported: use one document per file"};
  }
  void OnDocumentEnd() override {}

  void OnAnchor(const YAML::Mark& mark, const std::string& /*name*/) override {
    throw Refused{mark,
                  "anchors (&name) are not supported: write the value out, or quote it if it begins with &"};
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { refuse_alias(mark); }
  [[noreturn]] static void refuse_alias(const YAML::Mark& mark) {
    throw Refused{mark,
                  "aliases (*name) are not supported: write the value out, or quote it if it begins with *"};
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    Node node = make(Node::Kind::Null, mark);
    node.plain = true;
    const std::string_view rest = source_.from(mark);
    for (const std::string_view spelling : {"~", "null", "Null", "NULL"}) {
      if (rest.starts_with(spelling)) node.text = spelling;
    }
    add(std::move(node));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    refuse_tag(mark, tag);
    Node node = make(Node::Kind::Scalar, mark);
    // yaml-cpp tags a plain scalar "?", a quoted or block one "!".
    node.plain = tag == "?";
    node.text = value;
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(make(Node::Kind::Sequence, mark));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(make(Node::Kind::Map, mark));
  }
  void OnMapEnd() override { close(); }

 private:
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refused{mark, "tags (!name) are not supported: remove it, or quote the value if it begins with !"};
  }

  Node make(Node::Kind kind, const YAML::Mark& mark) {
    if (++nodes_ > kMaxNodes) {
      throw Refused{
          mark, fmt::format("the file has more than {} values; keep keys in the store instead", kMaxNodes)};
    }
    Node node;
    node.kind = kind;
    node.mark = source_.mark_of(mark);
    return node;
  }

  void add(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = open_.back();
    if (level.node.kind == Node::Kind::Sequence) {
      level.node.items.push_back(std::move(node));
    } else if (!level.key) {
      level.key = std::move(node);
    } else {
      level.node.entries.push_back({std::move(*level.key), std::move(node)});
      level.key.reset();
    }
  }

  void open(Node node) {
    if (open_.size() >= static_cast<std::size_t>(kMaxDepth)) {
      throw TooDeep{node.mark};
    }
    open_.push_back({std::move(node), std::nullopt});
  }

  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  struct Level {
    Node node;
    std::optional<Node> key;  // read, its value is next
  };

  Source& source_;
  std::vector<Level> open_;
  Node root_;
  std::size_t nodes_ = 0;
  int documents_ = 0;

 public:
  struct TooDeep {
    Mark mark;
  };
};

// yaml-cpp's words, without what it appends of the file's text, and with a hint where the usual cause is
// known.
std::string syntax_message(const YAML::ParserException& error, std::string_view line) {
  std::string message = error.msg.substr(0, error.msg.find(':'));
  const std::size_t indent = line.find_first_not_of(" \t");
  if (line.substr(0, indent).find('\t') != std::string_view::npos) {
    return "tabs may not indent YAML: use spaces";
  }
  if (line.find("${") != std::string_view::npos && line.find_first_of("{[") < line.find("${")) {
    message += " (a value with ${…} inside {…} or […] must be quoted)";
  }
  return "not valid YAML: " + message;
}

// Bytes that a configuration never holds, found before yaml-cpp takes them for something else.
bool check_bytes(std::string_view text, Source& source, Diagnostics& out) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
      out.add(source.mark_of(i), fmt::format("control character 0x{:02X}: remove it", byte));
      return false;
    }
    if (byte == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')) {
      out.add(source.mark_of(i), "a carriage return without a line feed: use LF or CRLF line ends");
      return false;
    }
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      out.add(source.mark_of(i), "not valid UTF-8: save the file as UTF-8");
      return false;
    }
    i += length;
  }
  return true;
}

}  // namespace

std::optional<Node> parse_yaml(std::string_view text, Diagnostics& out) {
  if (text.size() > kMaxFileBytes) {
    out.add({}, fmt::format("the file is larger than {} MiB", kMaxFileBytes >> 20U));
    return std::nullopt;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark counts for no column
  Source source(text);
  if (!check_bytes(text, source, out)) return std::nullopt;

  std::istringstream stream{std::string(text)};
  TreeBuilder builder(source);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    out.add(source.mark_of(refused.mark), refused.message);
    return std::nullopt;
  } catch (const TreeBuilder::TooDeep& deep) {
    out.add(deep.mark, fmt::format("nested deeper than {} levels", kMaxDepth));
    return std::nullopt;
  } catch (const YAML::ParserException& error) {
    if (error.msg.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR)) {
      out.add(source.mark_of(error.mark),
              "aliases (*name) are not supported: write the value out, or quote it if it begins with *");
    } else {
      out.add(source.mark_of(error.mark),
              syntax_message(error, source.line_at(source.offset_of(error.mark))));
    }
    return std::nullopt;
  } catch (const std::exception&) {
    // yaml-cpp's own limits (its depth guard, bad conversions in directives); its text may quote the file.
    out.add({}, "not valid YAML");
    return std::nullopt;
  }
  return builder.take_root();
}

std::string_view describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null: return "nothing";
    case Node::Kind::Scalar: return "text";
    case Node::Kind::Sequence: return "a list";
    case Node::Kind::Map: return "a map";
  }
  return "nothing";
}

}  // namespace qq::config
