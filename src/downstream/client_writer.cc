#include "downstream/client_writer.h"

#include <array>
#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "base/text.h"
#include "downstream/stall_watch.h"
#include "wire/body_reader.h"

namespace qq::downstream {
namespace {

using net::as_iovec;

// Pieces of one gathered write at most; a relay step has a handful.
constexpr std::size_t kGatherMax = 64;
// A chunk up to this size is put together with its framing: one piece costs the stream less than three. That
// net/held_sends copies it again is no reason to leave it in pieces: measured with one event a write, adding
// them up and copying them there takes some 50 instructions an event more than this copy does.
constexpr std::size_t kSmallChunkMax = 2048;

// The gateway's own lines of a head; they are short, and so need no memory of their own.
class Lines {
 public:
  Lines& add(std::string_view text) noexcept {
    QQ_ASSERT(size_ + text.size() <= bytes_.size());
    std::memcpy(bytes_.data() + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  Lines& add(std::uint64_t number) noexcept {
    const auto end = std::to_chars(bytes_.data() + size_, bytes_.data() + bytes_.size(), number);
    QQ_ASSERT(end.ec == std::errc());
    size_ = static_cast<std::size_t>(end.ptr - bytes_.data());
    return *this;
  }
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<char, 96> bytes_;  // the longest are about 70
  std::size_t size_ = 0;
};

}  // namespace

std::string_view reason_phrase(int status) noexcept {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 203: return "Non-Authoritative Information";
    case 204: return "No Content";
    case 205: return "Reset Content";
    case 206: return "Partial Content";
    case 207: return "Multi-Status";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 418: return "I'm a Teapot";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 423: return "Locked";
    case 424: return "Failed Dependency";
    case 425: return "Too Early";
    case 426: return "Upgrade Required";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 451: return "Unavailable For Legal Reasons";
    case 498: return "Overloaded";  // some providers' own, as 529 is Anthropic's
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    case 529: return "Overloaded";
    default: return "Unknown";
  }
}

void ClientWriter::reset(int minor_version, bool keep_alive, bool head_only) noexcept {
  head_.clear();
  pending_.clear();
  bytes_written_ = 0;
  status_ = 0;
  minor_version_ = minor_version;
  keep_alive_ = keep_alive;
  head_only_ = head_only;
  until_close_ = false;
  complete_ = false;
  broken_ = false;
}

std::string_view ClientWriter::connection_line() const noexcept {
  if (!keep_alive_) return "connection: close\r\n";
  return minor_version_ == 0 ? "connection: keep-alive\r\n" : "";
}

relay::ClientPort::Taken ClientWriter::reply(int status, std::string_view header_lines,
                                             std::span<const std::string_view> body) {
  QQ_ASSERT(!begun());
  status_ = status;
  std::size_t length = 0;
  for (const std::string_view piece : body) length += piece.size();
  Lines first;
  if (status == 200) {
    first.add("HTTP/1.1 200 OK\r\n");
  } else {
    first.add("HTTP/1.1 ")
        .add(static_cast<std::uint64_t>(status))
        .add(" ")
        .add(reason_phrase(status))
        .add("\r\n");
  }
  Lines last;
  last.add(connection_line()).add("content-length: ").add(length).add("\r\n\r\n");
  complete_ = true;
  std::array<iovec, kGatherMax> pieces;
  QQ_ASSERT(body.size() + 3 <= pieces.size());
  std::size_t count = 0;
  pieces[count++] = as_iovec(first.text());
  if (!header_lines.empty()) pieces[count++] = as_iovec(header_lines);
  pieces[count++] = as_iovec(last.text());
  if (!head_only_) {
    for (const std::string_view piece : body) pieces[count++] = as_iovec(piece);
  }
  return push({pieces.data(), count});
}

void ClientWriter::begin(int status, std::string header_lines) {
  QQ_ASSERT(!begun());
  until_close_ = minor_version_ == 0;
  if (until_close_) keep_alive_ = false;
  status_ = status;
  head_.reserve(128 + header_lines.size());
  head_.append("HTTP/1.1 ");
  append_decimal(head_, status);
  head_.append(" ").append(reason_phrase(status)).append("\r\n").append(header_lines);
  head_.append(connection_line());
  if (minor_version_ >= 1) head_.append("transfer-encoding: chunked\r\n");
  head_.append("\r\n");
}

relay::ClientPort::Taken ClientWriter::write(std::span<const std::string_view> body, Last last) {
  QQ_ASSERT(begun() && !complete_);
  if (broken_) return Taken::Gone;
  std::size_t length = 0;
  for (const std::string_view piece : body) length += piece.size();
  const bool chunked = minor_version_ >= 1 && length > 0;
  if (chunked && length <= kSmallChunkMax && last == Last::No && head_.empty()) {
    return write_small_chunk(body, length);
  }
  std::array<iovec, kGatherMax> pieces;
  std::array<char, 24> chunk;
  QQ_ASSERT(body.size() + 5 <= pieces.size());
  std::size_t count = 0;
  if (!head_.empty()) pieces[count++] = as_iovec(head_);
  if (chunked) pieces[count++] = as_iovec(wire::chunk_header(length, chunk.data()));
  for (const std::string_view piece : body) {
    if (!piece.empty()) pieces[count++] = as_iovec(piece);
  }
  if (chunked) pieces[count++] = as_iovec(wire::kChunkEnd);
  if (last == Last::Yes) {
    complete_ = true;
    if (minor_version_ >= 1) pieces[count++] = as_iovec(wire::kLastChunk);
  }
  if (count == 0) return pending_.empty() ? Taken::All : Taken::Pending;
  return push({pieces.data(), count});
}

relay::ClientPort::Taken ClientWriter::write_small_chunk(std::span<const std::string_view> body,
                                                         std::size_t length) {
  std::array<char, kSmallChunkMax + 32> chunk;
  char* at = chunk.data() + wire::chunk_header(length, chunk.data()).size();
  for (const std::string_view piece : body) {
    if (piece.empty()) continue;
    std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  }
  std::memcpy(at, wire::kChunkEnd.data(), wire::kChunkEnd.size());
  at += wire::kChunkEnd.size();
  iovec piece = as_iovec({chunk.data(), static_cast<std::size_t>(at - chunk.data())});
  return push({&piece, 1});
}

relay::ClientPort::Taken ClientWriter::send_continue() {
  iovec piece = as_iovec("HTTP/1.1 100 Continue\r\n\r\n");
  return push({&piece, 1});
}

relay::ClientPort::Taken ClientWriter::send_raw(std::span<const std::string_view> pieces) {
  raw_ = true;
  if (broken_) return Taken::Gone;
  if (!pending_.empty()) {
    for (const std::string_view piece : pieces) pending_.append(piece);
    return Taken::Pending;
  }
  std::array<iovec, kGatherMax> gathered;
  QQ_ASSERT(pieces.size() <= gathered.size());
  std::size_t count = 0;
  for (const std::string_view piece : pieces) {
    if (!piece.empty()) gathered[count++] = as_iovec(piece);
  }
  if (count == 0) return Taken::All;
  return push({gathered.data(), count});
}

relay::ClientPort::Taken ClientWriter::push(std::span<iovec> pieces) {
  // Only after a flush that the caller skipped would bytes overtake each other.
  QQ_ASSERT(pending_.empty());
  const net::IoTry wrote = stream_.try_write(pieces);
  if (wrote.status == net::IoStatus::Failed || wrote.status == net::IoStatus::Closed) {
    broken_ = true;
    head_.clear();
    return Taken::Gone;
  }
  const std::size_t taken = wrote.status == net::IoStatus::Done ? wrote.bytes : 0;
  bytes_written_ += taken;
  counters_.bytes_to_clients.add(static_cast<std::int64_t>(taken));
  std::size_t skip = taken;
  for (const iovec& piece : pieces) {
    if (skip >= piece.iov_len) {
      skip -= piece.iov_len;
      continue;
    }
    pending_.append(static_cast<const char*>(piece.iov_base) + skip, piece.iov_len - skip);
    skip = 0;
  }
  // The head's buffer is not needed again: an idle stream keeps nothing.
  if (!head_.empty()) std::string().swap(head_);
  return pending_.empty() ? Taken::All : Taken::Pending;
}

void ClientWriter::abort() noexcept {
  // Where an orderly end would make a whole answer of what the client has, it gets another.
  if (until_close_ && !is_whole()) stream_.set_reset_on_close();
  broken_ = true;
}

Task<Result<>> ClientWriter::flush(net::Scope scope) {
  if (broken_) co_return fail(Error::client(ErrorKind::ClientGone, "the connection is given up"));
  std::size_t sent = 0;
  StallWatch watch(stream_, write_stall_);
  while (sent < pending_.size()) {
    const iovec piece = as_iovec(std::string_view(pending_).substr(sent));
    const net::IoTry wrote = stream_.try_write({&piece, 1});
    if (wrote.status == net::IoStatus::Done) {
      sent += wrote.bytes;
      bytes_written_ += wrote.bytes;
      counters_.bytes_to_clients.add(static_cast<std::int64_t>(wrote.bytes));
      watch.taken();
      continue;
    }
    if (wrote.status != net::IoStatus::WouldBlock) {
      broken_ = true;
      co_return fail(Error::client(ErrorKind::ClientGone, "the client closed the connection"));
    }
    const MonotonicTime from = stream_.loop().precise_now();
    const net::Wake wake = co_await stream_.writable(watch.within(scope));
    count_wait(from);
    if (!watch.goes_on(wake, scope)) co_return give_up(wake, scope, sent);
  }
  std::string().swap(pending_);
  co_return Result<>();
}

// Only a client that has left or stalled is lost; to another the rest, and why no more comes, may still be
// said. So what was sent must not be sent again.
[[gnu::noinline]] Result<> ClientWriter::give_up(net::Wake wake, const net::Scope& scope, std::size_t sent) {
  pending_.erase(0, sent);
  if (wake == net::Wake::Cancelled) {
    broken_ = scope.cancel->reason() == ErrorKind::ClientGone && !raw_;
    return fail(net::cancelled_error(scope));
  }
  if (stream_.loop().now() >= scope.deadline) {
    return fail(Error::client(ErrorKind::TotalTimeout,
                              "the request's deadline came before the client had taken its answer"));
  }
  broken_ = true;
  return fail(Error::client(ErrorKind::ClientStalled, "the client stopped reading"));
}

}  // namespace qq::downstream
