#include "wire/multipart.h"

#include <gtest/gtest.h>

#include <string>

namespace qq::wire {
namespace {

// "|" stands for CRLF.
std::string lines(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') {
      out += "\r\n";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string reason_of(const std::string& body, const FormLimits& limits = {}) {
  const auto form = read_form(body, "B", limits);
  return form ? "" : form.error().reason;
}

constexpr std::string_view kTwo =
    "--B|Content-Disposition: form-data; name=\"model\"||m-1|"
    "--B|content-type: audio/wav|content-disposition: form-data; name=file; filename=\"a "
    "b;c.wav\"||--|B--||--B--|";

TEST(Form, GivesItsPartsInOrder) {
  const std::string body = lines(kTwo);
  const auto form = read_form(body, "B");
  ASSERT_TRUE(form) << form.error().reason;
  ASSERT_EQ(form->size(), 2U);
  EXPECT_EQ((*form)[0].name, "model");
  EXPECT_EQ((*form)[0].value, "m-1");
  EXPECT_FALSE((*form)[0].is_file);
  EXPECT_EQ((*form)[0].begin, 0U);
  EXPECT_EQ((*form)[0].end, (*form)[1].begin);
  EXPECT_EQ((*form)[1].name, "file");
  EXPECT_EQ((*form)[1].value, lines("--|B--|")) << "no boundary, as it looks like one only";
  EXPECT_TRUE((*form)[1].is_file);
  EXPECT_EQ(body.substr((*form)[1].end), lines("--B--|"));
}

TEST(Form, WithoutOnePartIsAFormAsWell) {
  const std::string body = lines(kTwo);
  const auto form = read_form(body, "B");
  ASSERT_TRUE(form);
  for (const FormPart& part : *form) {
    const std::string rest = body.substr(0, part.begin) + body.substr(part.end);
    const auto again = read_form(rest, "B");
    ASSERT_TRUE(again) << again.error().reason;
    EXPECT_EQ(again->size(), 1U);
    EXPECT_NE((*again)[0].name, part.name);
  }
}

TEST(Form, MayHoldAnyBytesAndNone) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  for (const std::string& value : {bytes, std::string(), std::string("\r\n"), std::string("\r\n--")}) {
    const std::string body =
        lines("--B|Content-Disposition: form-data; name=\"f\"||") + value + lines("|--B--");
    const auto form = read_form(body, "B");
    ASSERT_TRUE(form) << form.error().reason;
    EXPECT_EQ(form->at(0).value, value);
  }
  EXPECT_TRUE(read_form("--B--", "B")->empty());
}

TEST(Form, HasAFileWhereAFileNameStandsInEitherForm) {
  for (const std::string_view file :
       {"filename=x", "filename=\"\"", "filename*=UTF-8''x", "FileName=\"\xc3\xa9\""}) {
    const std::string body =
        lines("--B|Content-Disposition: form-data; name=\"f\"; " + std::string(file) + "||x|--B--|");
    const auto form = read_form(body, "B");
    ASSERT_TRUE(form) << file << form.error().reason;
    EXPECT_TRUE(form->at(0).is_file) << file;
  }
}

struct NoForm {
  std::string_view body;
  std::string_view reason;
};

TEST(Form, IsRefusedWhereReadersCouldDiffer) {
  constexpr NoForm kNone[] = {
      {"", "no boundary at the beginning"},
      {"{\"model\":\"m\"}", "no boundary at the beginning"},
      {"|--B|Content-Disposition: form-data; name=\"a\"||x|--B--|", "no boundary at the beginning"},
      {"hello|--B|Content-Disposition: form-data; name=\"a\"||x|--B--|", "no boundary at the beginning"},
      {"--B|Content-Disposition: form-data; name=\"a\"||x|--B--|more", "bytes behind the last boundary"},
      {"--B|Content-Disposition: form-data; name=\"a\"||x|--B--|--B|", "bytes behind the last boundary"},
      {"--B |Content-Disposition: form-data; name=\"a\"||x|--B--|",
       "a boundary that is not alone on its line"},
      {"--B|Content-Disposition: form-data; name=\"a\"||x|--Bad|--B--|",
       "a boundary that is not alone on its line"},
      {"--B|Content-Disposition: form-data; name=\"a\"||x|--B", "a boundary that is not alone on its line"},
      {"--B|Content-Disposition: form-data; name=\"a\"||x\n--B--|", "a boundary behind half a line end"},
      {"--B|Content-Disposition: form-data; name=\"a\"||x\r--B--|", "a boundary behind half a line end"},
      {"--B|Content-Disposition: form-data; name=\"a\"||--B--|",
       "a part that is not separated from the next boundary"},
      {"--B|Content-Disposition: form-data; name=\"a\"||x", "an unfinished part"},
      {"--B|Content-Disposition: form-data; name=\"a\"", "an unfinished part"},
      {"--B|", "an unfinished part"},
      {"--B|--B--|", "a boundary in the head of a part"},
      {"--B||x|--B--|", "a part without Content-Disposition"},
      {"--B|Content-Disposition: form-data||x|--B--|", "a part without a name"},
      {"--B|Content-Disposition: form-data; name=\"\"||x|--B--|", "a part without a name"},
      {"--B|Content-Disposition: attachment; name=\"a\"||x|--B--|", "a part that is not form-data"},
      {"--B|Content-Disposition: form-data; name=\"a\"; name=\"b\"||x|--B--|", "a part with two names"},
      {"--B|Content-Disposition: form-data; name=\"a\"; filename=b; filename=c||x|--B--|",
       "a part with two file names"},
      {"--B|Content-Disposition: form-data; name=a|Content-Disposition: form-data; name=b||x|--B--|",
       "a part with two Content-Disposition"},
      {"--B|Content-Disposition: form-data; name*=UTF-8''model||x|--B--|", "a part whose name is encoded"},
      {"--B|Content-Disposition: form-data; name=\"mod\\el\"||x|--B--|", "a name written with escapes"},
      {"--B|Content-Disposition: form-data; name=\"mod%65l\"||x|--B--|", "a name written with escapes"},
      {"--B|Content-Disposition: form-data; name=\"a\"; filename=\"b\\\"; c=\"d\"||x|--B--|",
       "a malformed Content-Disposition"},
      {"--B|Content-Disposition: form-data; name=\"a||x|--B--|", "a malformed Content-Disposition"},
      {"--B|Content-Disposition: form-data; name=\"a\"b||x|--B--|", "a malformed Content-Disposition"},
      {"--B|Content-Disposition: form-data; name=a\"b\"||x|--B--|", "a malformed Content-Disposition"},
      {"--B|Content-Disposition: form-data name=\"a\"||x|--B--|", "a malformed Content-Disposition"},
      {"--B|Content-Disposition: form-data;| name=\"a\"||x|--B--|", "a malformed Content-Disposition"},
      {"--B|Content-Disposition: form-data; name=\"a\"| more||x|--B--|", "a malformed header line"},
      {"--B|Content-Disposition : form-data; name=\"a\"||x|--B--|", "a malformed header line"},
      {"--B|Content-Disposition: form-data; name=\"a\nb\"||x|--B--|", "a header line with control bytes"},
      {"--B|Content-Disposition: form-data; name=\"a\"|Content-Transfer-Encoding: quoted-printable||x|--B--|",
       "a part whose content is encoded"},
  };
  for (const NoForm& none : kNone) EXPECT_EQ(reason_of(lines(none.body)), none.reason) << none.body;
}

TEST(Form, HasLimits) {
  std::string body;
  for (int i = 0; i < 3; ++i) body += lines("--B|Content-Disposition: form-data; name=\"a\"||x|");
  body += "--B--";
  EXPECT_EQ(reason_of(body, {.parts_max = 3}), "");
  const auto many = read_form(body, "B", {.parts_max = 2});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().limit, FormError::Limit::Parts);

  const std::string head = lines("Content-Disposition: form-data; name=\"a\"|x-more: 1||");
  const std::string long_head = lines("--B|") + head + lines("x|--B--");
  EXPECT_EQ(reason_of(long_head, {.part_head_max = head.size() - 2}), "");
  for (const std::size_t max : {head.size() - 3, head.size() - 12, std::size_t{10}, std::size_t{0}}) {
    const auto form = read_form(long_head, "B", {.part_head_max = max});
    ASSERT_FALSE(form) << max;
    EXPECT_EQ(form.error().limit, FormError::Limit::PartHead) << max;
  }
}

TEST(Form, CutAnywhereIsNone) {
  const std::string body = lines(kTwo);
  for (std::size_t size = 0; size < body.size(); ++size) {
    const std::string_view cut = std::string_view(body).substr(0, size);
    const bool is_whole = cut.ends_with("--B--");
    EXPECT_EQ(read_form(cut, "B").has_value(), is_whole) << size;
  }
}

TEST(FormBoundary, IsReadStrictly) {
  EXPECT_EQ(form_boundary("multipart/form-data; boundary=B"), "B");
  EXPECT_EQ(form_boundary("Multipart/Form-Data;charset=utf-8 ; Boundary=\"a b:c?\""), "a b:c?");
  EXPECT_EQ(form_boundary("multipart/form-data; boundary=----=_Part_1/2.3"), "----=_Part_1/2.3");
  EXPECT_EQ(form_boundary("multipart/form-data; boundary=" + std::string(70, 'x')), std::string(70, 'x'));
  for (const std::string& none :
       {std::string("application/json"), std::string("multipart/form-data"),
        std::string("multipart/form-data; boundary="), std::string("multipart/form-data; boundary=\"\""),
        std::string("multipart/form-data; boundary=\"a "),
        std::string("multipart/form-data; boundary=\"a \""),
        std::string("multipart/form-data; boundary=a; boundary=a"),
        std::string("multipart/form-data, boundary=a"), std::string("multipart/form-data; boundary=a*"),
        std::string("multipart/form-data; boundary=\"a\\\"b\""),
        std::string("multipart/form-datax; boundary=a"), std::string("multipart/mixed; boundary=a"),
        "multipart/form-data; boundary=" + std::string(71, 'x')}) {
    EXPECT_FALSE(form_boundary(none)) << none;
  }
}

}  // namespace
}  // namespace qq::wire
