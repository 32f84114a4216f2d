// What the simulated provider would answer if nothing went wrong: a status, header fields and a body in
// pieces. Faults and pacing are added by `compose` (compose.h), so that answers know nothing of them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace qq::simulator {

// What a piece of a stream is, so that a fault can point at it ("after the first content").
enum class PieceKind : std::uint8_t { Other, Content, Finish, Usage, Done };

struct Piece {
  std::string bytes;
  PieceKind kind = PieceKind::Other;
  std::uint64_t repeat = 1;  // the same bytes so many times, for a million tiny events
};

// How a stream's events are put into bytes. The AWS forms hold "event: NAME\ndata: JSON\n\n" (or
// "exception:") until compose.h has applied the faults of events, and are frames from then on.
enum class StreamForm : std::uint8_t {
  Events,     // SSE
  Lines,      // a JSON object per line (Ollama)
  JsonArray,  // one array, element by element (Google without alt=sse)
  AwsEvents,  // frames that carry JSON (Bedrock's converse)
  AwsChunks,  // frames that carry another dialect's JSON in base64 (Bedrock's invoke)
  AwsFrames,  // frames already (recordings)
};

using HeaderFields = std::vector<std::pair<std::string, std::string>>;

struct Reply {
  int status = 200;
  std::string content_type = "application/json";  // empty: none is sent
  HeaderFields fields{};                          // beside content-type and the framing
  bool stream = false;                            // the pieces are events, sent as they come
  StreamForm form = StreamForm::Events;           // of a stream
  bool says_when = false;                         // the body says when to come back: no retry-after
  std::vector<Piece> pieces{};                    // a plain body is one piece
  std::string what{};                             // for the request log: "chat", "recording openai/x"

  static Reply json(int status, std::string body) {
    Reply reply;
    reply.status = status;
    reply.pieces.push_back({std::move(body)});
    return reply;
  }
};

}  // namespace qq::simulator
