#include "simulator/provider/event_faults.h"

#include <algorithm>

#include "simulator/provider/vendor_errors.h"

namespace qq::simulator {
namespace {

using Pieces = std::vector<Piece>;

std::size_t first_of(const Pieces& pieces, PieceKind kind) {
  return static_cast<std::size_t>(std::ranges::find(pieces, kind, &Piece::kind) - pieces.begin());
}

void truncate(Pieces& pieces, std::size_t size) {
  if (size < pieces.size()) pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(size), pieces.end());
}

// An error in the stream ends it. OpenRouter sends [DONE] behind it, the others nothing.
void end_with_error(Reply& reply, std::size_t at, const Script& script) {
  Pieces& pieces = reply.pieces;
  truncate(pieces, at);
  const VendorError error{.status = script.status.value_or(500),
                          .vendor = script.vendor,
                          .message = "The server had an error while processing your request.",
                          .retry_after = script.retry_after};
  pieces.push_back({error_event(error, reply.form, at == 0)});
  if (script.vendor == "openrouter") pieces.push_back({"data: [DONE]\n\n", PieceKind::Done});
}

void apply_stream_errors(Reply& reply, const Script& script) {
  const FaultSet& faults = script.faults;
  const std::size_t size = reply.pieces.size();
  if (faults.has(Fault::ErrorFirst)) end_with_error(reply, 0, script);
  if (faults.has(Fault::ErrorMiddle)) end_with_error(reply, script.at.value_or(size / 2), script);
  if (faults.has(Fault::ErrorLast)) {
    end_with_error(reply, first_of(reply.pieces, PieceKind::Finish) + 1, script);
  }
}

void cut_json(Reply& reply, const Script& script) {
  Pieces& pieces = reply.pieces;
  if (!reply.stream) {
    std::string& body = pieces.front().bytes;
    body.resize(std::min<std::size_t>(body.size(), script.at.value_or(body.size() / 2)));
    return;
  }
  const std::size_t at = std::min<std::size_t>(script.at.value_or(pieces.size() / 2), pieces.size() - 1);
  truncate(pieces, at + 1);
  // Half of the JSON: behind the names that some events have.
  std::string& event = pieces.back().bytes;
  const std::size_t data = event.find("data:");
  const std::size_t begin = data == std::string::npos ? 0 : data + 5;
  event.resize(begin + (event.size() - begin) / 2);
  if (reply.form == StreamForm::Lines) event += '\n';
  if (reply.form != StreamForm::Lines && reply.form != StreamForm::JsonArray) event += "\n\n";
}

void change_ends(Pieces& pieces, const FaultSet& faults) {
  const auto drop = [&](PieceKind kind) {
    std::erase_if(pieces, [kind](const Piece& piece) { return piece.kind == kind; });
  };
  if (faults.any(Fault::NoDone, Fault::NoFinish)) drop(PieceKind::Done);
  if (faults.has(Fault::NoFinish)) {
    drop(PieceKind::Finish);
    drop(PieceKind::Usage);
  }
  const std::size_t done = first_of(pieces, PieceKind::Done);
  if (done == pieces.size()) return;
  if (faults.has(Fault::DoubleDone)) pieces.push_back(pieces[done]);
  if (faults.has(Fault::AfterDone)) {
    const std::size_t content = first_of(pieces, PieceKind::Content);
    if (content < pieces.size()) {
      Piece late = pieces[content];
      late.repeat = 1;
      pieces.push_back(std::move(late));
    }
  }
}

// Rewrites each line of an event: what stands around `data:` and how the line ends.
std::string respelled(std::string_view event, const FaultSet& faults) {
  const std::string_view line_end = faults.has(Fault::CrOnly) ? "\r"
                                    : faults.has(Fault::Crlf) ? "\r\n"
                                                              : "\n";
  std::string out;
  out.reserve(event.size() + 16);
  while (!event.empty()) {
    const std::size_t end = event.find('\n');
    std::string_view line = event.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("data:")) {
      if (faults.has(Fault::LeadingSpace)) out += ' ';
      out += "data:";
      line.remove_prefix(5);
      if (faults.has(Fault::NoSpace) && line.starts_with(' ')) line.remove_prefix(1);
    }
    out += line;
    if (end == std::string_view::npos) break;
    out += line_end;
    event.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

void apply_event_faults(Reply& reply, const Script& script) {
  const FaultSet& faults = script.faults;
  if (reply.pieces.empty()) return;
  if (reply.stream) {
    apply_stream_errors(reply, script);
    change_ends(reply.pieces, faults);
  }
  if (faults.has(Fault::TruncatedJson) && !reply.pieces.empty()) cut_json(reply, script);
}

void apply_spelling_faults(Reply& reply, const Script& script) {
  const FaultSet& faults = script.faults;
  if (reply.pieces.empty()) return;
  // Frames have no spelling.
  const bool text = reply.form == StreamForm::Events || reply.form == StreamForm::Lines;
  if (reply.stream && !text) return;
  Pieces before;
  if (faults.has(Fault::Comments) && reply.stream && reply.form == StreamForm::Events) {
    const std::uint64_t count = script.count > 0 ? std::min<std::uint64_t>(script.count, 10'000) : 3;
    for (std::uint64_t i = 0; i < count; ++i) before.push_back({": keep-alive\n\n"});
  }
  // Blank lines before a plain body are what DeepSeek and OpenRouter send while the model works.
  if (faults.has(Fault::BlankLines)) before.push_back({reply.stream ? "\n\n\n" : "\n         \n\n"});
  reply.pieces.insert(reply.pieces.begin(), std::make_move_iterator(before.begin()),
                      std::make_move_iterator(before.end()));
  if (reply.stream && faults.any(Fault::CrOnly, Fault::Crlf, Fault::LeadingSpace, Fault::NoSpace)) {
    for (Piece& piece : reply.pieces) piece.bytes = respelled(piece.bytes, faults);
  }
  if (faults.has(Fault::Bom)) reply.pieces.front().bytes.insert(0, "\xef\xbb\xbf");
}

}  // namespace qq::simulator
