#include "wire/http_head.h"

namespace qq::wire {
namespace {

using Verdict = HeadVerdict::Kind;

RequestHead request(std::string_view bytes) {
  RequestHead head;
  EXPECT_EQ(read_request_head(bytes, {}, head).kind, Verdict::Complete) << bytes;
  return head;
}

ResponseHead response(std::string_view bytes) {
  ResponseHead head;
  const auto verdict = read_response_head(bytes, {}, head);
  EXPECT_EQ(verdict.kind, Verdict::Complete) << bytes << verdict.reason;
  return head;
}

int response_status(std::string_view bytes) {
  ResponseHead head;
  const auto verdict = read_response_head(bytes, {}, head);
  return verdict.kind == Verdict::Bad ? verdict.status : 0;
}

TEST(RequestHead, GivesTheLineTheFieldsAndTheFraming) {
  const std::string_view bytes =
      "POST /v1/chat/completions?x=1&y=?2 HTTP/1.1\r\nHost: gw.example:8080\r\nAuthorization:  Bearer a  \r\n"
      "content-length: 12\r\n\r\nbody";
  RequestHead head;
  const auto verdict = read_request_head(bytes, {}, head);
  ASSERT_EQ(verdict.kind, Verdict::Complete);
  EXPECT_EQ(bytes.substr(verdict.consumed), "body");
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.target, "/v1/chat/completions?x=1&y=?2");
  EXPECT_EQ(head.path(), "/v1/chat/completions");
  EXPECT_EQ(head.query(), "x=1&y=?2");
  EXPECT_EQ(head.host, "gw.example:8080");
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_EQ(head.framing.kind, Framing::Kind::Length);
  EXPECT_EQ(head.framing.length, 12U);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.expect_continue);
  EXPECT_EQ(head.fields.find("AUTHORIZATION"), "Bearer a");
  EXPECT_EQ(head.fields.find("missing"), std::nullopt);
  EXPECT_EQ(head.fields.all().size(), 3U);
}

TEST(RequestHead, TakesPathQueryAndHostFromAnAbsoluteTarget) {
  const auto head = request("GET http://b:81/p?q HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(head.host, "b:81");
  EXPECT_EQ(head.path(), "/p");
  EXPECT_EQ(head.query(), "q");
  const auto bare = request("GET http://b HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(bare.path(), "/");
  EXPECT_EQ(bare.query(), "");
  EXPECT_EQ(request("GET https://b?/q HTTP/1.1\r\nHost: a\r\n\r\n").path(), "/");
  EXPECT_EQ(request("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").path(), "*");
}

TEST(RequestHead, KeepsAliveAsVersionAndConnectionSay) {
  const auto keeps = [](std::string version, std::string fields) {
    return request("GET / HTTP/" + version + "\r\nHost: a\r\n" + fields + "\r\n").keep_alive;
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: CLOSE\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: te , close\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: te\r\nConnection: close\r\n"));
  EXPECT_FALSE(keeps("1.0", "Connection: keep-alive, close\r\n"));
  EXPECT_TRUE(keeps("1.1", "Connection: ,, closed\r\n"));
}

TEST(RequestHead, NoticesExpectContinueInHttp11Only) {
  EXPECT_TRUE(request("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n").expect_continue);
  EXPECT_FALSE(request("POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\n\r\n").expect_continue);
  EXPECT_FALSE(request("POST / HTTP/1.1\r\nHost: a\r\nExpect: other\r\n\r\n").expect_continue);
}

TEST(RequestHead, ForgetsTheFramingOfTheRequestBefore) {
  RequestHead head;
  read_request_head("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n", {},
                    head);
  read_request_head("GET / HTTP/1.1\r\nHost: a\r\n\r\n", {}, head);
  EXPECT_EQ(head.framing.kind, Framing::Kind::None);
  EXPECT_EQ(head.framing.length, 0U);
  EXPECT_FALSE(head.expect_continue);
  EXPECT_EQ(head.fields.all().size(), 1U);
}

TEST(RequestHead, IsIncompleteForEveryProperPrefix) {
  const std::string_view bytes = "\r\nPOST /a HTTP/1.1\r\nHost: a\r\nX: b\r\nContent-Length: 1\r\n\r\n";
  RequestHead head;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(read_request_head(bytes.substr(0, size), {}, head).kind, Verdict::Incomplete) << size;
    EXPECT_EQ(read_request_head(bytes.substr(0, size), {}, head, size / 2).kind, Verdict::Incomplete) << size;
  }
  EXPECT_EQ(read_request_head(bytes, {}, head).consumed, bytes.size());
}

TEST(RequestHead, RefusesEveryControlByteInAValueButTab) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string value = "0123456789abcdef0123456789";
    value[static_cast<std::size_t>(byte) % value.size()] = static_cast<char>(byte);
    RequestHead head;
    const auto verdict = read_request_head("GET / HTTP/1.1\r\nHost: a\r\nX: " + value + "\r\n\r\n", {}, head);
    const bool control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
    EXPECT_EQ(verdict.kind, control ? Verdict::Bad : Verdict::Complete) << byte;
    EXPECT_EQ(is_safe_field_value(value), !control) << byte;
  }
}

TEST(ResponseHead, GivesStatusReasonAndFraming) {
  const auto head = response("HTTP/1.1 404 Not Found at all\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.reason, "Not Found at all");
  EXPECT_EQ(head.framing.kind, Framing::Kind::Length);
  EXPECT_EQ(head.framing.length, 3U);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(response("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n").framing.kind,
            Framing::Kind::Chunked);
}

TEST(ResponseHead, TakesAnEmptyOrMissingReason) {
  EXPECT_EQ(response("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n").reason, "");
  EXPECT_EQ(response("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").status, 200);
}

TEST(ResponseHead, WithoutFramingLastsUntilClose) {
  const auto head = response("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(head.framing.kind, Framing::Kind::UntilClose);
  EXPECT_FALSE(head.keep_alive);
}

TEST(ResponseHead, HasNoBodyFor1xx204And304) {
  for (const char* line : {"HTTP/1.1 100 Continue", "HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified"}) {
    const auto head = response(std::string(line) + "\r\n\r\n");
    EXPECT_EQ(head.framing.kind, Framing::Kind::None) << line;
    EXPECT_TRUE(head.keep_alive) << line;
  }
  EXPECT_EQ(response("HTTP/1.1 304 X\r\nContent-Length: 10\r\n\r\n").framing.kind, Framing::Kind::None);
}

TEST(ResponseHead, IsNotReusedWhenA204AnnouncesABody) {
  const auto head = response("HTTP/1.1 204 X\r\nContent-Length: 10\r\n\r\n");
  EXPECT_EQ(head.framing.kind, Framing::Kind::None);
  EXPECT_FALSE(head.keep_alive);
  EXPECT_FALSE(response("HTTP/1.1 204 X\r\nTransfer-Encoding: chunked\r\n\r\n").keep_alive);
  EXPECT_TRUE(response("HTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n").keep_alive);
}

TEST(ResponseHead, RefusesBrokenHeads) {
  for (const char* bytes : {
           "HTTP/1.1 20 OK\r\n\r\n",
           "HTTP/1.1 2000 OK\r\n\r\n",
           "HTTP/1.1 099 OK\r\n\r\n",
           "HTTP/1.1 2x0 OK\r\n\r\n",
           "HTTP/1.1  200 OK\r\n\r\n",
           "HTTP/1.1\t200 OK\r\n\r\n",
           "HTTP/1.1 200\tOK\r\n\r\n",
           "http/1.1 200 OK\r\n\r\n",
           "ICY 200 OK\r\n\r\n",
           "\r\nHTTP/1.1 200 OK\r\n\r\n",
           "HTTP/1.1 200 O\x01K\r\n\r\n",
           "HTTP/1.1 200 OK\n\n",
           "HTTP/1.1 200 OK\r\nX : 1\r\n\r\n",
           "HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
           "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 204 X\r\nContent-Length: x\r\n\r\n",
           "<html>\r\n",
       }) {
    EXPECT_EQ(response_status(bytes), 400) << bytes;
  }
  EXPECT_EQ(response_status("HTTP/2.0 200 OK\r\n\r\n"), 505);
}

TEST(Fields, CountsAndComparesWithoutCase) {
  Fields fields;
  fields.add({"A-b", "1"});
  fields.add({"a-B", "2"});
  fields.add({"a_b", "3"});
  EXPECT_EQ(fields.count("A-B"), 2U);
  EXPECT_EQ(fields.find("a-b"), "1");
  EXPECT_FALSE(iequals("a-b", "a-bc"));
  EXPECT_FALSE(iequals("@", "`")) << "only letters fold";
}

TEST(Fields, NamesOfEverySizeAreComparedByteForByte) {
  for (const std::size_t size : {1U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 25U}) {
    std::string a(size, 'q');
    std::string b(size, 'Q');
    ASSERT_TRUE(iequals(a, b)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      for (int x = 0; x < 256; ++x) {
        for (const int change : {0, 0x01, 0x20, 0x21, 0x40, 0x80, 0xa0}) {
          a[at] = static_cast<char>(x);
          b[at] = static_cast<char>(x ^ change);
          const bool is_letter = (x >= 'A' && x <= 'Z') || (x >= 'a' && x <= 'z');
          ASSERT_EQ(iequals(a, b), change == 0 || (change == 0x20 && is_letter))
              << size << " at " << at << ": " << x << ", " << change;
        }
      }
      a[at] = b[at] = 'q';
    }
  }
}

TEST(Fields, EveryByteOfANameMustBeOfAToken) {
  constexpr std::string_view kToken = "!#$%&'*+-.^_`|~";
  RequestHead head;
  for (const std::size_t size : {1U, 15U, 16U, 17U, 33U}) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int x = 0; x < 256; ++x) {
        const char c = static_cast<char>(x);
        if (c == ':') continue;  // ends the name
        std::string name(size, 'n');
        name[at] = c;
        const bool is_alnum = (x >= '0' && x <= '9') || (x >= 'A' && x <= 'Z') || (x >= 'a' && x <= 'z');
        const std::string text = "GET / HTTP/1.1\r\nhost: h\r\n" + name + ": value\r\n\r\n";
        const HeadVerdict verdict = read_request_head(text, {}, head);
        ASSERT_EQ(verdict.kind == HeadVerdict::Kind::Complete,
                  is_alnum || kToken.find(c) != std::string_view::npos)
            << size << " at " << at << ": " << x;
      }
    }
  }
}

TEST(Fields, TakeOneHundredAndNoMore) {
  Fields fields;
  for (std::size_t i = 0; i < kFieldsMax; ++i) EXPECT_TRUE(fields.add({"a", "b"}));
  EXPECT_FALSE(fields.add({"a", "b"}));
  const Fields copy = fields;
  EXPECT_EQ(copy.count("a"), kFieldsMax);
}

TEST(Token, IsNotEmptyAndHasNoSeparators) {
  EXPECT_TRUE(is_token("x-Request_1"));
  EXPECT_FALSE(is_token(""));
  for (const char c : std::string_view("\"(),/:;<=>?@[\\]{} \t\r\n\x7f\x80")) {
    EXPECT_FALSE(is_token(std::string("a") + c)) << static_cast<int>(c);
  }
}

}  // namespace
}  // namespace qq::wire
