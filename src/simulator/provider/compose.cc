#include "simulator/provider/compose.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/random.h"
#include "simulator/provider/aws_frame.h"
#include "simulator/provider/content_encoder.h"
#include "simulator/provider/event_faults.h"
#include "wire/body_reader.h"

namespace qq::simulator {
namespace {

enum class BodyFraming : std::uint8_t { None, Length, Chunked, UntilClose };

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 302: return "Found";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 422: return "Unprocessable Content";
    case 424: return "Failed Dependency";
    case 429: return "Too Many Requests";
    case 500: return "Internal Server Error";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Status";
  }
}

std::string_view coding_of(const FaultSet& faults) noexcept {
  if (faults.any(Fault::Gzip, Fault::BrokenGzip, Fault::Bomb)) return "gzip";
  if (faults.has(Fault::Deflate)) return "deflate";
  if (faults.has(Fault::Br)) return "br";
  if (faults.has(Fault::Zstd)) return "zstd";
  return {};
}

void encode_pieces(Reply& reply, const Script& script) {
  const std::string_view coding = coding_of(script.faults);
  if (coding.empty()) return;
  reply.fields.emplace_back("content-encoding", coding);
  if (script.faults.has(Fault::Bomb)) {
    GzipBomb bomb = make_gzip_bomb(script.size > 0 ? script.size : std::uint64_t{1} << 30U);
    reply.pieces.clear();
    reply.pieces.push_back({std::move(bomb.head)});
    reply.pieces.push_back({std::move(bomb.block), PieceKind::Content, bomb.blocks});
    reply.pieces.push_back({std::move(bomb.tail)});
    return;
  }
  const auto encoder = ContentEncoder::make(coding);
  for (Piece& piece : reply.pieces) {
    // Encoded bytes depend on what came before, so repeats are written out.
    std::string plain;
    plain.reserve(piece.bytes.size() * piece.repeat);
    for (; piece.repeat > 0; --piece.repeat) plain += piece.bytes;
    piece.bytes = encoder->add(plain);
    piece.repeat = 1;
  }
  reply.pieces.push_back({encoder->finish()});
  if (script.faults.has(Fault::BrokenGzip)) {
    // Past the header, in the first block: any decoder notices.
    std::string& bytes = reply.pieces[reply.pieces.size() / 2 > 0 ? (reply.pieces.size() - 1) / 2 : 0].bytes;
    for (std::size_t i = bytes.size() / 2; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
  }
}

std::uint64_t payload_size(const Reply& reply) {
  std::uint64_t size = 0;
  for (const Piece& piece : reply.pieces) size += piece.bytes.size() * piece.repeat;
  return size;
}

class Composer {
 public:
  Composer(Reply& reply, const Script& script, const AskedFraming& asked, WallTime now)
      : reply_(reply),
        script_(script),
        faults_(script.faults),
        asked_(asked),
        now_(now),
        random_(script.seed) {
    play_.rate = script.rate;
    play_.split = script.split;
  }

  Play run() {
    if (ends_before_head()) return std::move(play_);
    framing_ = choose_framing();
    if (!asked_.keep_alive || framing_ == BodyFraming::UntilClose) play_.end = PlayEnd::Close;
    interim();
    const std::string first = head();
    if (faults_.has(Fault::StallInHead)) {
      write(first.substr(0, first.size() / 2), first_pause());
      return stop(PlayEnd::Stall);
    }
    write(first, first_pause());
    if (faults_.has(Fault::StallAfterHead)) return stop(PlayEnd::Stall);
    return body();
  }

 private:
  Play stop(PlayEnd end) {
    play_.end = end;
    play_.complete = false;
    return std::move(play_);
  }

  bool ends_before_head() {
    PlayEnd end = PlayEnd::KeepAlive;
    if (faults_.has(Fault::CloseBeforeHead)) end = PlayEnd::Close;
    if (faults_.has(Fault::ResetBeforeHead)) end = PlayEnd::Reset;
    if (faults_.has(Fault::StallBeforeHead)) end = PlayEnd::Stall;
    if (faults_.has(Fault::Junk)) {
      write("SSH-2.0-not_a_web_server\r\n\r\n", script_.delay);
      end = PlayEnd::Close;
    } else if (end != PlayEnd::KeepAlive && script_.delay.count() > 0) {
      write({}, script_.delay);
    }
    play_.end = end;
    play_.complete = end == PlayEnd::KeepAlive;
    return end != PlayEnd::KeepAlive;
  }

  BodyFraming choose_framing() const {
    if (reply_.status == 204 || reply_.status == 304) return BodyFraming::None;
    if (faults_.has(Fault::Http10) || asked_.minor_version == 0) return BodyFraming::UntilClose;
    if (faults_.any(Fault::LengthTooLong, Fault::LengthTooShort)) return BodyFraming::Length;
    const bool chunked =
        reply_.stream || script_.chunk > 0 ||
        faults_.any(Fault::BadChunk, Fault::NoLastChunk, Fault::ChunkExtensions, Fault::LengthAndChunked);
    return chunked ? BodyFraming::Chunked : BodyFraming::Length;
  }

  void interim() {
    if (faults_.has(Fault::Continue100)) write("HTTP/1.1 100 Continue\r\n\r\n", Milliseconds(0));
    if (faults_.has(Fault::EarlyHints103)) {
      write("HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n", Milliseconds(0));
    }
  }

  // A plain answer's first content is its body, which follows the head at once.
  Milliseconds first_pause() {
    return script_.delay + (reply_.stream ? Milliseconds(0) : jittered(script_.ttft));
  }

  Milliseconds jittered(Milliseconds pause) {
    if (pause.count() == 0 || script_.jitter == 0) return pause;
    const auto spread = static_cast<std::uint64_t>(pause.count()) * script_.jitter / 100;
    return pause - Milliseconds(spread) + Milliseconds(random_.below(spread * 2 + 1));
  }

  std::string head() const {
    std::string out = fmt::format("HTTP/1.{} {} {}\r\n", faults_.has(Fault::Http10) ? 0 : 1, reply_.status,
                                  reason_of(reply_.status));
    const auto field = [&](std::string_view name, std::string_view value) {
      out.append(name).append(": ").append(value).append("\r\n");
    };
    if (faults_.has(Fault::WrongType)) {
      field("content-type", "text/plain");
    } else if (!reply_.content_type.empty()) {
      field("content-type", reply_.content_type);
    }
    for (const auto& [name, value] : reply_.fields) field(name, value);
    if (!script_.retry_after.empty() && !reply_.says_when) field("retry-after", retry_after());
    if (!script_.retry_after_ms.empty()) field("retry-after-ms", script_.retry_after_ms);
    if (!script_.should_retry.empty()) field("x-should-retry", script_.should_retry);
    if (faults_.has(Fault::HugeHead)) {
      field("x-padding", std::string(script_.size > 0 ? script_.size : 1024U * 1024, 'p'));
    }
    if (framing_ == BodyFraming::Length) field("content-length", std::to_string(announced_length()));
    if (framing_ == BodyFraming::Chunked) {
      if (faults_.has(Fault::LengthAndChunked)) field("content-length", std::to_string(payload_size(reply_)));
      field("transfer-encoding", "chunked");
    }
    if (faults_.has(Fault::KeepAliveLie)) {
      field("connection", "keep-alive");
    } else if (play_.end == PlayEnd::Close && !faults_.has(Fault::Http10)) {
      field("connection", "close");
    }
    return out + "\r\n";
  }

  std::string retry_after() const {
    const std::string_view text = script_.retry_after;
    if (!text.starts_with("date")) return script_.retry_after;
    long long seconds = 0;
    if (text.starts_with("date:")) {
      // What is no number counts as 0: a date that has come.
      seconds = std::strtoll(script_.retry_after.c_str() + 5, nullptr, 10);
    }
    return http_date(now_ + std::chrono::seconds(seconds));
  }

  std::uint64_t announced_length() const {
    const std::uint64_t size = payload_size(reply_);
    if (faults_.has(Fault::LengthTooLong)) return size + 16;
    if (faults_.has(Fault::LengthTooShort)) return size / 2;
    return size;
  }

  // Where a cut strikes: before this piece, and after so many bytes of it.
  struct Place {
    std::size_t piece = 0;
    std::uint64_t byte = 0;
  };

  Place place_of_byte(std::uint64_t byte) const {
    Place place;
    for (; place.piece < reply_.pieces.size(); ++place.piece) {
      const Piece& piece = reply_.pieces[place.piece];
      const std::uint64_t size = piece.bytes.size() * piece.repeat;
      if (byte < size) {
        place.byte = std::min<std::uint64_t>(byte, piece.bytes.size());
        return place;
      }
      byte -= size;
    }
    return place;
  }

  Place cut_place() const {
    if (faults_.has(Fault::StallAfterContent)) {
      const auto first = std::ranges::find(reply_.pieces, PieceKind::Content, &Piece::kind);
      const auto at = static_cast<std::size_t>(first - reply_.pieces.begin());
      // A plain body has no content of its own: half of it.
      if (!reply_.stream) return place_of_byte(payload_size(reply_) / 2);
      return {script_.at.value_or(at + 1), 0};
    }
    if (script_.at_byte) return place_of_byte(*script_.at_byte);
    if (!reply_.stream) return place_of_byte(script_.at.value_or(payload_size(reply_) / 2));
    return {script_.at.value_or(reply_.pieces.size() / 2), 0};
  }

  Play body() {
    const bool cut =
        faults_.any(Fault::CloseMidBody, Fault::ResetMidBody, Fault::StallMidBody, Fault::StallAfterContent);
    const Place place = cut ? cut_place() : Place{reply_.pieces.size(), 0};
    const std::size_t bad_chunk =
        faults_.has(Fault::BadChunk) ? script_.at.value_or(reply_.pieces.size() / 2) : reply_.pieces.size();
    bool content_seen = false;
    for (std::size_t i = 0; i < reply_.pieces.size() && i < place.piece; ++i) {
      const Piece& piece = reply_.pieces[i];
      const Milliseconds pause = pause_before(piece, i, content_seen);
      if (i == bad_chunk) {
        write("zz\r\n" + piece.bytes + "\r\n", pause);
        play_.end = PlayEnd::Close;
        return std::move(play_);
      }
      write_piece(piece, pause);
    }
    if (cut) {
      if (place.piece < reply_.pieces.size() && place.byte > 0)
        write_part(reply_.pieces[place.piece], place.byte);
      return stop(faults_.has(Fault::ResetMidBody)   ? PlayEnd::Reset
                  : faults_.has(Fault::CloseMidBody) ? PlayEnd::Close
                                                     : PlayEnd::Stall);
    }
    if (framing_ == BodyFraming::Chunked && !faults_.has(Fault::NoLastChunk))
      write(wire::kLastChunk, Milliseconds(0));
    if (faults_.any(Fault::NoLastChunk, Fault::LengthTooLong, Fault::KeepAliveLie))
      play_.end = PlayEnd::Close;
    if (faults_.has(Fault::CloseOnReuse) && play_.end == PlayEnd::KeepAlive)
      play_.end = PlayEnd::CloseOnReuse;
    return std::move(play_);
  }

  Milliseconds pause_before(const Piece& piece, std::size_t index, bool& content_seen) {
    if (!reply_.stream) return Milliseconds(0);
    if (piece.kind == PieceKind::Content && !content_seen) {
      content_seen = true;
      return jittered(script_.ttft);
    }
    // Keep-alives before the content come at the stream's pace too.
    return index == 0 ? Milliseconds(0) : jittered(script_.gap);
  }

  void write_piece(const Piece& piece, Milliseconds pause) {
    if (framing_ == BodyFraming::None || piece.bytes.empty()) return;
    if (framing_ != BodyFraming::Chunked) return write(piece.bytes, pause, piece.repeat);
    if (script_.chunk == 0) return write(chunk_of(piece.bytes), pause, piece.repeat);
    std::string chunks;
    for (std::size_t i = 0; i < piece.bytes.size(); i += script_.chunk) {
      chunks += chunk_of(std::string_view(piece.bytes).substr(i, script_.chunk));
    }
    write(chunks, pause, piece.repeat);
  }

  // The start of a piece under the framing of the whole.
  void write_part(const Piece& piece, std::uint64_t bytes) {
    std::string part;
    if (framing_ == BodyFraming::Chunked) part = chunk_header_of(piece.bytes.size());
    part.append(piece.bytes, 0, bytes);
    write(part, Milliseconds(0));
  }

  std::string chunk_header_of(std::size_t size) const {
    std::array<char, 32> buffer{};
    std::string header(wire::chunk_header(size, buffer.data()));
    if (faults_.has(Fault::ChunkExtensions)) header.insert(header.size() - 2, ";sim=\"a;b\";last");
    return header;
  }

  std::string chunk_of(std::string_view payload) const {
    std::string chunk = chunk_header_of(payload.size());
    chunk.reserve(chunk.size() + payload.size() + 2);
    return chunk.append(payload).append(wire::kChunkEnd);
  }

  // Joins what nothing separates, so that an unpaced answer is one write.
  void write(std::string_view bytes, Milliseconds pause, std::uint64_t repeat = 1) {
    if (!play_.steps.empty() && pause.count() == 0 && repeat == 1 && play_.steps.back().repeat == 1) {
      play_.steps.back().bytes += bytes;
      return;
    }
    play_.steps.push_back({std::string(bytes), repeat, pause});
  }

  Reply& reply_;
  const Script& script_;
  const FaultSet& faults_;
  AskedFraming asked_;
  WallTime now_;
  Random random_;
  BodyFraming framing_ = BodyFraming::Length;
  Play play_;
};

}  // namespace

Play compose(Reply reply, const Script& script, const AskedFraming& framing, WallTime now) {
  apply_event_faults(reply, script);
  frame_events(reply);
  apply_spelling_faults(reply, script);
  encode_pieces(reply, script);
  return Composer(reply, script, framing, now).run();
}

std::string http_date(WallTime when) {
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(when);
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

}  // namespace qq::simulator
