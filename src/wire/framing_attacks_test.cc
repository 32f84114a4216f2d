// Request-framing attacks and their verdicts, written from RFC 9112 and RFC 9110. The rule is one verdict
// and no repair: where two readers could disagree on where a message ends, or on whom it is for, it is
// refused. Each row is read whole and one byte at a time.
#include "wire/body_reader.h"
#include "wire/http_head.h"
#include "wire/test_repeat.h"

namespace qq::wire {
namespace {

using namespace std::string_literals;

constexpr int kAccepted = 200;  // head and body read to their end
constexpr int kWaiting = 0;     // neither wrong nor finished

struct Attack {
  const char* name;
  std::string bytes;
  int verdict;            // kAccepted, kWaiting or the status of the refusal
  std::string body = {};  // accepted: its payload
  std::string next = {};  // accepted: the bytes left for the next request
};

std::string post(const std::string& fields, const std::string& body = {}) {
  return "POST /v1/x HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body;
}
std::string chunked(const std::string& body) {
  return post("Transfer-Encoding: chunked\r\n", body);
}
std::string get(const std::string& line, const std::string& fields = "Host: a\r\n") {
  return line + "\r\n" + fields + "\r\n";
}
std::string many_fields(int count) {
  std::string fields;
  for (int i = 0; i < count; ++i) fields += "X-" + std::to_string(i) + ": 1\r\n";
  return fields;
}

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> table = {
      // Two framings, or one that two readers read differently (RFC 9112 6.1 to 6.3).
      {"cl_te", post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nG"), 400},
      {"te_cl", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "8\r\nSMUGGLED\r\n0\r\n\r\n"),
       400},
      {"cl_zero_beside_te", post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {"cl_beside_te_identity", post("Content-Length: 1\r\nTransfer-Encoding: identity\r\n", "x"), 400},
      {"two_cl_different", post("Content-Length: 1\r\nContent-Length: 2\r\n", "xy"), 400},
      {"two_cl_equal", post("Content-Length: 1\r\nContent-Length: 1\r\n", "x"), 400},
      {"two_cl_other_case", post("Content-Length: 1\r\ncontent-length: 1\r\n", "x"), 400},
      {"cl_list_equal", post("Content-Length: 1, 1\r\n", "x"), 400},
      {"cl_list_different", post("Content-Length: 1, 2\r\n", "x"), 400},
      {"cl_empty", post("Content-Length:\r\n"), 400},
      {"cl_blank", post("Content-Length: \t \r\n"), 400},
      {"cl_plus", post("Content-Length: +1\r\n", "x"), 400},
      {"cl_minus", post("Content-Length: -1\r\n", "x"), 400},
      {"cl_minus_zero", post("Content-Length: -0\r\n"), 400},
      {"cl_hex", post("Content-Length: 0x1\r\n", "x"), 400},
      {"cl_hex_digit", post("Content-Length: a\r\n", "0123456789"), 400},
      {"cl_fraction", post("Content-Length: 1.0\r\n", "x"), 400},
      {"cl_exponent", post("Content-Length: 1e0\r\n", "x"), 400},
      {"cl_underscore", post("Content-Length: 1_0\r\n", "0123456789"), 400},
      {"cl_inner_space", post("Content-Length: 1 0\r\n", "0123456789"), 400},
      {"cl_trailing_comma", post("Content-Length: 1,\r\n", "x"), 400},
      {"cl_quoted", post("Content-Length: \"1\"\r\n", "x"), 400},
      {"cl_2_to_63", post("Content-Length: 9223372036854775808\r\n"), 400},
      {"cl_2_to_64_plus_1", post("Content-Length: 18446744073709551617\r\n", "x"), 400},
      {"cl_1000_digits", post("Content-Length: " + repeat("1", 1000) + "\r\n"), 400},
      {"cl_arabic_digit", post("Content-Length: \xd9\xa1\r\n", "x"), 400},
      {"cl_superscript", post("Content-Length: \xb2\r\n", "xx"), 400},
      {"cl_leading_zeros", post("Content-Length: 0003\r\n", "xyz"), kAccepted, "xyz"},
      {"cl_outer_white_space", post("Content-Length: \t 3 \t\r\n", "xyz"), kAccepted, "xyz"},
      {"cl_no_space", post("Content-Length:3\r\n", "xyz"), kAccepted, "xyz"},
      {"cl_short_body", post("Content-Length: 4\r\n", "xyz"), kWaiting},
      {"cl_on_get_leaves_no_second_request",
       "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 18\r\n\r\nGET /x HTTP/1.1\r\n\r", kAccepted,
       "GET /x HTTP/1.1\r\n\r"},
      {"no_framing_leaves_bytes_for_the_next", post("", "GET "), kAccepted, "", "GET "},
      {"te_gzip", post("Transfer-Encoding: gzip\r\n"), 400},
      {"te_gzip_chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 400},
      {"te_chunked_gzip", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), 400},
      {"te_chunked_twice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), 400},
      {"te_identity", post("Transfer-Encoding: identity\r\n"), 400},
      {"te_identity_chunked", post("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n"), 400},
      {"te_xchunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 400},
      {"te_chunkedx", post("Transfer-Encoding: chunkedx\r\n", "0\r\n\r\n"), 400},
      {"te_leading_comma", post("Transfer-Encoding: ,chunked\r\n", "0\r\n\r\n"), 400},
      {"te_trailing_comma", post("Transfer-Encoding: chunked,\r\n", "0\r\n\r\n"), 400},
      {"te_parameter", post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n"), 400},
      {"te_quoted", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 400},
      {"te_empty", post("Transfer-Encoding:\r\n"), 400},
      {"te_two_fields", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
       400},
      {"te_two_fields_one_unknown",
       post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "0\r\n\r\n"), 400},
      {"te_two_fields_one_empty", post("Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
       400},
      {"te_vertical_tab", post("Transfer-Encoding: \vchunked\r\n", "0\r\n\r\n"), 400},
      {"te_form_feed_behind", post("Transfer-Encoding: chunked\f\r\n", "0\r\n\r\n"), 400},
      {"te_nbsp",
       post("Transfer-Encoding: \xa0"
            "chunked\r\n",
            "0\r\n\r\n"),
       400},
      {"te_bare_cr_behind", post("Transfer-Encoding: chunked\r \r\n", "0\r\n\r\n"), 400},
      {"te_in_http_1_0", get("POST / HTTP/1.0", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400},
      {"te_other_case", post("transfer-ENCODING: CHUNKED\r\n", "0\r\n\r\n"), kAccepted},
      {"te_tabs_around", post("Transfer-Encoding:\tchunked\t\r\n", "0\r\n\r\n"), kAccepted},
      {"te_underscore_is_another_field", post("Transfer_Encoding: chunked\r\n", "0"), kAccepted, "", "0"},

      // Field lines (RFC 9112 5, RFC 9110 5.5).
      {"space_before_colon", post("Content-Length : 1\r\n", "x"), 400},
      {"tab_before_colon", post("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n"), 400},
      {"obs_fold_space", post("X: a\r\n b\r\n"), 400},
      {"obs_fold_tab", post("X: a\r\n\tb\r\n"), 400},
      {"obs_fold_in_te", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), 400},
      {"obs_fold_hides_cl", post("X: a\r\n Content-Length: 3\r\n", "xyz"), 400},
      {"space_before_first_field", "POST / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
      {"line_of_spaces", post("X: a\r\n   \r\n"), 400},
      {"bare_lf_ends_field", post("X: a\nContent-Length: 1\r\n", "x"), 400},
      {"bare_lf_ends_head", "POST / HTTP/1.1\r\nHost: a\r\n\n", 400},
      {"bare_lf_everywhere", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare_cr_in_value", post("X: a\rContent-Length: 1\r\n", "x"), 400},
      {"bare_cr_ends_head", "GET / HTTP/1.1\r\nHost: a\r\n\rX", 400},
      {"cr_cr_lf", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400},
      {"lf_cr", "GET / HTTP/1.1\r\nHost: a\n\r\n\r", 400},
      {"nul_in_value", post("X: a\0b\r\n"s), 400},
      {"nul_in_name", post("X\0: a\r\n"s), 400},
      {"nul_behind_te", post("Transfer-Encoding: chunked\0\r\n"s, "0\r\n\r\n"), 400},
      {"bell_in_value", post("X: \a\r\n"), 400},
      {"escape_in_value", post("X: \x1b[0m\r\n"), 400},
      {"del_in_value", post("X: \x7f\r\n"), 400},
      {"no_colon", post("Content-Length\r\n"), 400},
      {"empty_name", post(": 1\r\n"), 400},
      {"name_with_space", post("X Y: 1\r\n"), 400},
      {"name_with_parenthesis", post("X(: 1\r\n"), 400},
      {"name_with_slash", post("X/: 1\r\n"), 400},
      {"name_with_quote", post("\"Host\": b\r\n"), 400},
      {"name_with_obs_text", post("X\xff: 1\r\n"), 400},
      {"name_with_bom", "GET / HTTP/1.1\r\n\xef\xbb\xbfHost: a\r\n\r\n", 400},
      {"obs_text_in_value", post("X: \xff\xe9\x80\r\n"), kAccepted},
      {"tab_in_value", post("X: a\tb\r\n"), kAccepted},
      {"empty_value", post("X:\r\n"), kAccepted},
      {"colon_in_value", post("X::: b\r\n"), kAccepted},
      {"odd_token_name", post("!#$%&'*+-.^_`|~9: 1\r\n"), kAccepted},

      // Host (RFC 9112 3.2).
      {"no_host", get("GET / HTTP/1.1", ""), 400},
      {"two_hosts", get("GET / HTTP/1.1", "Host: a\r\nHost: b\r\n"), 400},
      {"two_equal_hosts", get("GET / HTTP/1.1", "Host: a\r\nHost: a\r\n"), 400},
      {"two_hosts_in_http_1_0", get("GET / HTTP/1.0", "Host: a\r\nHost: b\r\n"), 400},
      {"empty_host", get("GET / HTTP/1.1", "Host:\r\n"), 400},
      {"host_list", get("GET / HTTP/1.1", "Host: a,b\r\n"), 400},
      {"host_with_space", get("GET / HTTP/1.1", "Host: a b\r\n"), 400},
      {"host_with_path", get("GET / HTTP/1.1", "Host: a/b\r\n"), 400},
      {"host_with_user", get("GET / HTTP/1.1", "Host: u@a\r\n"), 400},
      {"host_with_scheme", get("GET / HTTP/1.1", "Host: http://a\r\n"), 400},
      {"host_with_obs_text", get("GET / HTTP/1.1", "Host: a\xff\r\n"), 400},
      {"host_bad_port", get("GET / HTTP/1.1", "Host: a:x\r\n"), 400},
      {"host_port_too_big", get("GET / HTTP/1.1", "Host: a:65536\r\n"), 400},
      {"host_two_ports", get("GET / HTTP/1.1", "Host: a:1:2\r\n"), 400},
      {"host_only_port", get("GET / HTTP/1.1", "Host: :80\r\n"), 400},
      {"host_open_bracket", get("GET / HTTP/1.1", "Host: [::1\r\n"), 400},
      {"host_ipv6", get("GET / HTTP/1.1", "Host: [::1]:8080\r\n"), kAccepted},
      {"host_port", get("GET / HTTP/1.1", "Host: api.a-b_c.example:443\r\n"), kAccepted},
      {"no_host_in_http_1_0", get("GET / HTTP/1.0", ""), kAccepted},

      // The request line (RFC 9112 3).
      {"http_0_9", "GET /\r\n", 400},
      {"http_0_9_with_space", "GET / \r\n", 400},
      {"http_1_2", get("GET / HTTP/1.2"), 505},
      {"http_2_0", get("GET / HTTP/2.0"), 505},
      {"http_2_preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"http_1_10", get("GET / HTTP/1.10"), 400},
      {"http_01_1", get("GET / HTTP/01.1"), 400},
      {"http_1", get("GET / HTTP/1"), 400},
      {"lower_case_version", get("GET / http/1.1"), 400},
      {"version_comma", get("GET / HTTP/1,1"), 400},
      {"version_inner_space", get("GET / HTTP/ 1.1"), 400},
      {"other_protocol", get("GET / ICY/1.1"), 400},
      {"tls_hello", "\x16\x03\x01\x02\x05\x01\r\n", 400},
      {"two_spaces_behind_method", get("GET  / HTTP/1.1"), 400},
      {"two_spaces_behind_target", get("GET /  HTTP/1.1"), 400},
      {"space_behind_version", get("GET / HTTP/1.1 "), 400},
      {"tab_as_separator", get("GET\t/\tHTTP/1.1"), 400},
      {"space_before_method", get(" GET / HTTP/1.1"), 400},
      {"space_in_target", get("GET /a b HTTP/1.1"), 400},
      {"method_with_colon", get("GET: / HTTP/1.1"), 400},
      {"method_with_obs_text", get("G\xc9T / HTTP/1.1"), 400},
      {"empty_method", "\r\n / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"bare_cr_in_line", get("GET / HTTP/1.1\rX"), 400},
      {"nul_in_target", get("GET /\0 HTTP/1.1"s), 400},
      {"control_in_target", get("GET /\x01 HTTP/1.1"), 400},
      {"obs_text_in_target", get("GET /\xc3\xa9 HTTP/1.1"), 400},
      {"fragment", get("GET /a#b HTTP/1.1"), 400},
      {"backslash", get("GET \\a HTTP/1.1"), 400},
      {"backslash_in_path", get("GET /a\\..\\b HTTP/1.1"), 400},
      {"relative_target", get("GET a HTTP/1.1"), 400},
      {"query_only", get("GET ?a HTTP/1.1"), 400},
      {"empty_target", get("GET  HTTP/1.1"), 400},
      {"asterisk_for_get", get("GET * HTTP/1.1"), 400},
      {"asterisk_for_options", get("OPTIONS * HTTP/1.1"), kAccepted},
      {"connect", get("CONNECT a:443 HTTP/1.1"), 501},
      {"authority_form_for_get", get("GET a:443 HTTP/1.1"), 400},
      {"one_empty_line_before", "\r\n" + get("GET / HTTP/1.1"), kAccepted},
      {"two_empty_lines_before", "\r\n\r\n" + get("GET / HTTP/1.1"), 400},
      {"bare_lf_before", "\n" + get("GET / HTTP/1.1"), 400},
      {"bare_cr_before", "\r" + get("GET / HTTP/1.1"), 400},

      // Absolute form (RFC 9112 3.2.2).
      {"absolute_form", get("GET http://b/x HTTP/1.1"), kAccepted},
      {"absolute_form_without_path", get("GET https://b?x HTTP/1.1"), kAccepted},
      {"absolute_form_upper_case", get("GET HTTP://b/x HTTP/1.1"), kAccepted},
      {"absolute_form_without_host_field", get("GET http://b/ HTTP/1.1", ""), 400},
      {"absolute_form_user", get("GET http://a@b/ HTTP/1.1"), 400},
      {"absolute_form_user_and_password", get("GET http://a:1@b/ HTTP/1.1"), 400},
      {"absolute_form_empty_authority", get("GET http:///x HTTP/1.1"), 400},
      {"absolute_form_one_slash", get("GET http:/b HTTP/1.1"), 400},
      {"absolute_form_bad_port", get("GET http://b:99999/ HTTP/1.1"), 400},
      {"absolute_form_fragment", get("GET http://b/#x HTTP/1.1"), 400},
      {"absolute_form_backslash", get("GET http://b\\@c/ HTTP/1.1"), 400},
      {"absolute_form_percent_host", get("GET http://b%00c/ HTTP/1.1"), 400},
      {"other_scheme", get("GET ftp://b/x HTTP/1.1"), 400},
      {"file_scheme", get("GET file:///etc/passwd HTTP/1.1"), 400},

      // Sizes.
      {"target_at_the_limit", get("GET /" + repeat("a", 8192 - 14) + " HTTP/1.1"), kAccepted},
      {"target_over_the_limit", get("GET /" + repeat("a", 8192 - 13) + " HTTP/1.1"), 414},
      {"endless_target", "GET /" + repeat("a", 9000), 414},
      {"endless_method", repeat("A", 9000), 414},
      {"fields_at_the_limit", get("GET / HTTP/1.1", "Host: a\r\n" + many_fields(99)), kAccepted},
      {"fields_over_the_limit", get("GET / HTTP/1.1", "Host: a\r\n" + many_fields(100)), 431},
      {"endless_fields", "GET / HTTP/1.1\r\nHost: a\r\n" + many_fields(200), 431},
      {"endless_value", "GET / HTTP/1.1\r\nHost: a\r\nX: " + repeat("a", 66000), 431},
      {"endless_name", "GET / HTTP/1.1\r\nHost: a\r\n" + repeat("a", 66000), 431},
      {"head_over_the_limit", post("X: " + repeat("a", 65536) + "\r\n"), 431},

      // Chunks (RFC 9112 7.1).
      {"chunk", chunked("3\r\nabc\r\n0\r\n\r\n"), kAccepted, "abc"},
      {"chunks_then_next_request", chunked("1\r\na\r\n2\r\nbc\r\n0\r\n\r\nGET "), kAccepted, "abc", "GET "},
      {"chunk_upper_and_lower_case_size", chunked("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"),
       kAccepted, "01234567890123456789"},
      {"chunk_leading_zeros", chunked("0003\r\nabc\r\n000\r\n\r\n"), kAccepted, "abc"},
      {"chunk_too_many_zeros", chunked("00000000000000003\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_negative", chunked("-1\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_plus", chunked("+3\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_0x", chunked("0x3\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_underscore", chunked("1_0\r\n0123456789abcdef\r\n0\r\n\r\n"), 400},
      {"chunk_fraction", chunked("3.0\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_not_hex", chunked("g\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_no_size", chunked("\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_only_extension", chunked(";a\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_2_to_63", chunked("8000000000000000\r\nabc"), 400},
      {"chunk_2_to_64_plus_3", chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_1000_digits", chunked(repeat("f", 1000) + "\r\n"), 400},
      {"chunk_space_before_size", chunked(" 3\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_space_behind_size", chunked("3 \r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_tab_behind_size", chunked("3\t\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_two_sizes", chunked("3 4\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_size_bare_lf", chunked("3\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_size_bare_cr", chunked("3\rabc\r\n0\r\n\r\n"), 400},
      {"chunk_size_cr_cr_lf", chunked("3\r\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_data_bare_lf", chunked("3\r\nabc\n0\r\n\r\n"), 400},
      {"chunk_data_bare_cr", chunked("3\r\nabc\r0\r\n\r\n"), 400},
      {"chunk_data_no_crlf", chunked("3\r\nabc0\r\n\r\n"), 400},
      {"chunk_data_longer_than_size", chunked("3\r\nabcd\r\n0\r\n\r\n"), 400},
      {"chunk_data_shorter_than_size", chunked("5\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_nul_behind_size", chunked("3\0\r\nabc\r\n0\r\n\r\n"s), 400},
      {"chunk_extension", chunked("3;a;b=c;d=\"e;\\\"f\"\r\nabc\r\n0;x=y\r\n\r\n"), kAccepted, "abc"},
      {"chunk_extension_bad_white_space", chunked("3 ; a = b\r\nabc\r\n0\r\n\r\n"), kAccepted, "abc"},
      {"chunk_extension_empty", chunked("3;\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_extension_bare_lf", chunked("3;a\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_extension_bare_cr", chunked("3;a\rb\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_extension_nul", chunked("3;a\0\r\nabc\r\n0\r\n\r\n"s), 400},
      {"chunk_extension_quoted_crlf", chunked("3;a=\"\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_extension_lf_in_quotes", chunked("3;a=\"\n\"\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_extension_at_the_limit", chunked("3;" + repeat("a", 255) + "\r\nabc\r\n0\r\n\r\n"), kAccepted,
       "abc"},
      {"chunk_extension_over_the_limit", chunked("3;" + repeat("a", 256) + "\r\nabc\r\n0\r\n\r\n"), 400},
      {"chunk_extension_flood", chunked(repeat("1;" + repeat("a", 200) + "\r\nx\r\n", 100)), 400},
      {"chunk_last_bare_lf", chunked("0\n\n"), 400},
      {"chunk_last_without_final_crlf", chunked("0\r\n"), kWaiting},
      {"chunk_last_final_bare_lf", chunked("0\r\n\n"), 400},
      {"chunk_last_final_cr_x", chunked("0\r\n\rX"), 400},
      {"trailers", chunked("0\r\nX-Sum: 1\r\nY:\r\n\r\nGET "), kAccepted, "", "GET "},
      {"trailer_content_length", chunked("0\r\nContent-Length: 5\r\n\r\nGET "), kAccepted, "", "GET "},
      {"trailer_obs_fold", chunked("0\r\nX: 1\r\n 2\r\n\r\n"), 400},
      {"trailer_no_colon", chunked("0\r\nGET / HTTP/1.1\r\n\r\n"), 400},
      {"trailer_space_before_colon", chunked("0\r\nX : 1\r\n\r\n"), 400},
      {"trailer_bare_lf", chunked("0\r\nX: 1\n\r\n"), 400},
      {"trailer_bare_cr", chunked("0\r\nX: 1\r\r\n\r\n"), 400},
      {"trailer_nul", chunked("0\r\nX: \0\r\n\r\n"s), 400},
      {"trailer_empty_name", chunked("0\r\n: 1\r\n\r\n"), 400},
      {"trailer_flood", chunked("0\r\n" + repeat("X: 0123456789\r\n", 2000)), 400},
  };
  return table;
}

struct Outcome {
  int verdict = kWaiting;
  std::string body;
  std::string next;
};

// Reads one request, `piece` more bytes at a time.
Outcome judge(std::string_view bytes, std::size_t piece) {
  Outcome outcome;
  RequestHead head;
  HeadVerdict verdict;
  std::size_t have = 0;
  while (have < bytes.size()) {
    const std::size_t before = have;
    have = std::min(have + piece, bytes.size());
    verdict = read_request_head(bytes.substr(0, have), HeadLimits{}, head, before);
    if (verdict.kind != HeadVerdict::Kind::Incomplete) break;
  }
  if (verdict.kind == HeadVerdict::Kind::Bad) outcome.verdict = verdict.status;
  if (verdict.kind != HeadVerdict::Kind::Complete) return outcome;
  BodyReader reader(head.framing);
  std::size_t at = verdict.consumed;
  while (!reader.done() && at < bytes.size()) {
    const auto step = reader.feed(bytes.substr(at, piece));
    if (step.error != nullptr) return {.verdict = 400};
    outcome.body += step.payload;
    at += step.consumed;
  }
  if (!reader.done()) return outcome;
  outcome.verdict = kAccepted;
  outcome.next = bytes.substr(at);
  return outcome;
}

TEST(FramingAttacks, TableHoldsAtLeastEightyDistinctCases) {
  std::map<std::string, int> names;
  for (const Attack& attack : attacks()) ++names[attack.name];
  for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
  EXPECT_GE(names.size(), 80U);
}

TEST(FramingAttacks, EachGetsItsVerdictWhenReadWhole) {
  for (const Attack& attack : attacks()) {
    const Outcome outcome = judge(attack.bytes, attack.bytes.size());
    EXPECT_EQ(outcome.verdict, attack.verdict) << attack.name;
    if (attack.verdict != kAccepted) continue;
    EXPECT_EQ(outcome.body, attack.body) << attack.name;
    EXPECT_EQ(outcome.next, attack.next) << attack.name;
  }
}

TEST(FramingAttacks, EachGetsTheSameVerdictByteByByte) {
  for (const Attack& attack : attacks()) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
      const Outcome outcome = judge(attack.bytes, piece);
      EXPECT_EQ(outcome.verdict, attack.verdict) << attack.name << " in pieces of " << piece;
      if (attack.verdict != kAccepted) continue;
      EXPECT_EQ(outcome.body, attack.body) << attack.name;
      EXPECT_EQ(outcome.next, attack.next) << attack.name;
    }
  }
}

}  // namespace
}  // namespace qq::wire
