// What a strict reader must take and must refuse (RFC 8259), class by class, in the manner and with the
// naming of N. Seriot's JSONTestSuite ("Parsing JSON is a Minefield", 2016): y_ must be taken, n_ must be
// refused, i_ is left open by the RFC and decided by us. The cases are our own.
#include "wire/json.h"

namespace qq::wire {
namespace {

using namespace std::string_literals;

struct Case {
  const char* name;  // y_, n_; i_y_ and i_n_ for what the RFC leaves open
  std::string text;
};

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

const std::vector<Case>& structures() {
  static const std::vector<Case> table = {
      {"y_structure_lonely_string", "\"asd\""},
      {"y_structure_lonely_int", "42"},
      {"y_structure_lonely_negative_real", "-0.1"},
      {"y_structure_lonely_null", "null"},
      {"y_structure_lonely_true", "true"},
      {"y_structure_lonely_false", "false"},
      {"y_structure_string_empty", "\"\""},
      {"y_structure_trailing_newline", "[\"a\"]\n"},
      {"y_structure_true_in_array", "[true]"},
      {"y_structure_whitespace_array", " [] "},
      {"y_structure_all_white_space", " \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n"},
      {"y_structure_depth_256", repeat("[", 256) + repeat("]", 256)},
      {"n_structure_no_data", ""},
      {"n_structure_only_space", " "},
      {"n_structure_only_newlines", "\n\r\n"},
      {"n_structure_100000_opening_arrays", repeat("[", 100000)},
      {"n_structure_100000_opening_objects", repeat("{\"\":", 100000)},
      {"n_structure_50000_array_object", repeat("[{\"\":", 50000)},
      {"n_structure_100000_closed_arrays", repeat("[", 100000) + repeat("]", 100000)},
      {"n_structure_array_trailing_garbage", "[1]x"},
      {"n_structure_array_with_extra_array_close", "[1]]"},
      {"n_structure_object_with_trailing_garbage", "{\"a\": true} \"x\""},
      {"n_structure_double_array", "[][]"},
      {"n_structure_two_values", "1 2"},
      {"n_structure_close_unopened_array", "1]"},
      {"n_structure_end_array", "]"},
      {"n_structure_end_object", "}"},
      {"n_structure_comma_instead_of_closing_brace", "{\"x\": true,"},
      {"n_structure_open_array_apostrophe", "['"},
      {"n_structure_open_array_comma", "[,"},
      {"n_structure_open_array_open_object", "[{"},
      {"n_structure_open_array_open_string", "[\"a"},
      {"n_structure_open_array_string", "[\"a\""},
      {"n_structure_open_object", "{"},
      {"n_structure_open_object_close_array", "{]"},
      {"n_structure_open_object_comma", "{,"},
      {"n_structure_open_object_open_array", "{["},
      {"n_structure_open_object_open_string", "{\"a"},
      {"n_structure_open_object_string_with_apostrophes", "{'a'"},
      {"n_structure_open_open", "[\"\\{[\"\\{[\"\\{[\"\\{"},
      {"n_structure_unclosed_array", "[1"},
      {"n_structure_unclosed_array_partial_null", "[ false, nul"},
      {"n_structure_unclosed_array_unfinished_true", "[ false, tru"},
      {"n_structure_unclosed_object", "{\"asd\":\"asd\""},
      {"n_structure_mismatched_closing", "[{\"a\":[}]}"},
      {"n_structure_array_closed_by_brace", "[1}"},
      {"n_structure_object_closed_by_bracket", "{\"a\":1]"},
      {"n_structure_angle_bracket_dot", "<.>"},
      {"n_structure_angle_bracket_null", "[<null>]"},
      {"n_structure_single_eacute", "\xe9"},
      {"n_structure_lone_invalid_utf8", "\x80"},
      {"n_structure_unicode_identifier", "\xc3\xa5"},
      {"n_structure_null_byte_outside_string", "[\0]"s},
      {"n_structure_null_byte_behind", "[]\0"s},
      {"n_structure_bom_no_data", "\xef\xbb\xbf"},
      {"i_n_structure_bom_empty_object", "\xef\xbb\xbf{}"},
      {"n_structure_incomplete_bom", "\xef\xbb{}"},
      {"n_structure_bom_behind", "{}\xef\xbb\xbf"},
      {"n_structure_utf16_le", "[\0]\0"s},
      {"n_structure_utf16_be_bom", "\xfe\xff\0[\0]"s},
      {"n_structure_whitespace_formfeed", "[\f]"},
      {"n_structure_whitespace_vertical_tab", "[\v]"},
      {"n_structure_whitespace_nbsp", "[\xc2\xa0]"},
      {"n_structure_whitespace_line_separator", "[\xe2\x80\xa8]"},
      {"n_structure_whitespace_word_joiner", "[\xe2\x81\xa0]"},
      {"n_structure_whitespace_backspace", "[1,\b2]"},
      {"n_structure_whitespace_raw_escape", "[\\n]"},
      {"n_structure_comment_slashes", "{\"a\":\"b\"}//"},
      {"n_structure_comment_block", "{\"a\":/*c*/\"b\"}"},
      {"n_structure_comment_slash", "{\"a\":\"b\"}/"},
      {"n_structure_comment_hash", "{\"a\":\"b\"}#"},
      {"n_structure_comment_html", "<!-- -->[]"},
      {"n_structure_capitalized_true", "[True]"},
      {"n_structure_upper_null", "[NULL]"},
      {"n_structure_undefined", "[undefined]"},
      {"n_structure_incomplete_false", "[fals]"},
      {"n_structure_incomplete_null", "nul"},
      {"n_structure_incomplete_true", "tru"},
      {"n_structure_true_with_tail", "truer"},
      {"n_structure_true_false", "[truefalse]"},
      {"n_structure_nullnull", "nullnull"},
      {"n_structure_json_lines", "{}\n{}"},
      {"n_structure_sequence_separator", "\x1e{}"},
      {"n_structure_trailing_escape", "[]\\"},
      {"n_structure_double_colon_value", "[1:2]"},
      {"n_structure_lone_comma", ","},
      {"n_structure_lone_colon", ":"},
      {"n_structure_lone_quote", "\""},
      {"n_structure_lone_backslash", "\\"},
  };
  return table;
}

const std::vector<Case>& arrays_and_objects() {
  static const std::vector<Case> table = {
      {"y_array_empty", "[]"},
      {"y_array_arrays_with_spaces", "[[]   ]"},
      {"y_array_ending_with_newline", "[\"a\"\n]"},
      {"y_array_heterogeneous", "[null, 1, \"1\", {}, [], true, false, -1e1]"},
      {"y_array_with_leading_space", " [1]"},
      {"y_array_with_several_null", "[1,null,null,null,2]"},
      {"y_array_without_white_space", "[[[1],[2]],[3,{\"a\":[4]}]]"},
      {"n_array_1_true_without_comma", "[1 true]"},
      {"n_array_two_strings_without_comma", "[\"a\" \"b\"]"},
      {"n_array_arrays_without_comma", "[[][]]"},
      {"n_array_colon_instead_of_comma", "[\"\": 1]"},
      {"n_array_comma_after_close", "[\"\"],"},
      {"n_array_comma_and_number", "[,1]"},
      {"n_array_double_comma", "[1,,2]"},
      {"n_array_double_extra_comma", "[\"x\",,]"},
      {"n_array_extra_close", "[\"x\"]]"},
      {"n_array_extra_comma", "[\"\",]"},
      {"n_array_number_and_comma", "[1,]"},
      {"n_array_just_comma", "[,]"},
      {"n_array_just_minus", "[-]"},
      {"n_array_missing_value", "[   , \"\"]"},
      {"n_array_items_separated_by_semicolon", "[1;2]"},
      {"n_array_inner_array_no_comma", "[3[4]]"},
      {"n_array_incomplete", "[\"x\""},
      {"n_array_newlines_unclosed", "[\"a\",\n4\n,1,"},
      {"n_array_spaces_vertical_tab_formfeed", "[\"\va\"\\f]"},
      {"n_array_star_inside", "[*]"},
      {"n_array_unclosed_trailing_comma", "[1,"},
      {"n_array_unclosed_with_object_inside", "[{}"},
      {"n_array_invalid_utf8", "[\xff]"},
      {"n_array_bare_word", "[a]"},
      {"n_array_dots", "[...]"},
      {"y_object_basic", "{\"asd\":\"sdf\"}"},
      {"y_object_empty", "{}"},
      {"y_object_empty_key", "{\"\":0}"},
      {"y_object_duplicated_key", "{\"a\":\"b\",\"a\":\"c\"}"},
      {"y_object_duplicated_key_and_value", "{\"a\":\"b\",\"a\":\"b\"}"},
      {"y_object_escaped_null_in_key", "{\"foo\\u0000bar\": 42}"},
      {"y_object_long_strings",
       "{\"x\":[{\"id\":\"" + repeat("x", 300) + "\"}], \"id\":\"" + repeat("y", 300) + "\"}"},
      {"y_object_string_unicode", "{\"t\":\"\\u041f\\u043e\"}"},
      {"y_object_with_newlines", "{\n\"a\": \"b\"\n}"},
      {"y_object_extreme_numbers", "{\"min\":-1.0e+28,\"max\":1.0e+28}"},
      {"y_object_nested", "{\"a\":{\"b\":{\"c\":{}}},\"d\":[{\"e\":[]}]}"},
      {"n_object_bad_value", "{\"x\": truth}"},
      {"n_object_bracket_key", "{[: \"x\"}"},
      {"n_object_comma_instead_of_colon", "{\"x\", null}"},
      {"n_object_double_colon", "{\"x\"::\"b\"}"},
      {"n_object_emoji_key", "{\xf0\x9f\x87\xa8}"},
      {"n_object_garbage_at_end", "{\"a\":\"a\" 123}"},
      {"n_object_key_with_single_quotes", "{key: 'value'}"},
      {"n_object_single_quote", "{'a':0}"},
      {"n_object_lone_continuation_byte_in_key", "{\"\xb9\":\"0\"}"},
      {"n_object_missing_colon", "{\"a\" b}"},
      {"n_object_missing_key", "{:\"b\"}"},
      {"n_object_missing_semicolon", "{\"a\" \"b\"}"},
      {"n_object_missing_value", "{\"a\":}"},
      {"n_object_missing_value_before_comma", "{\"a\":,\"b\":1}"},
      {"n_object_no_colon", "{\"a\""},
      {"n_object_no_value", "{\"a\":"},
      {"n_object_non_string_key", "{1:1}"},
      {"n_object_non_string_key_huge", "{9999E9999:1}"},
      {"n_object_null_key", "{null:null}"},
      {"n_object_array_key", "{[]:1}"},
      {"n_object_repeated_null_null", "{null:null,null:null}"},
      {"n_object_several_trailing_commas", "{\"id\":0,,,,,}"},
      {"n_object_trailing_comma", "{\"id\":0,}"},
      {"n_object_leading_comma", "{,\"id\":0}"},
      {"n_object_two_commas_in_a_row", "{\"a\":\"b\",,\"c\":\"d\"}"},
      {"n_object_just_comma", "{,}"},
      {"n_object_trailing_comment", "{\"a\":\"b\"}/**/"},
      {"n_object_trailing_comment_open", "{\"a\":\"b\"}/**//"},
      {"n_object_unquoted_key", "{a: \"b\"}"},
      {"n_object_unterminated_value", "{\"a\":\"a"},
      {"n_object_with_single_string", "{ \"foo\" : \"bar\", \"a\" }"},
      {"n_object_with_trailing_garbage", "{\"a\":\"b\"}#"},
      {"n_object_value_then_colon", "{\"a\":1:2}"},
      {"n_object_equals", "{\"a\"=1}"},
      {"n_object_arrow", "{\"a\"=>1}"},
      {"n_object_control_in_key", "{\"a\n\":1}"},
  };
  return table;
}

const std::vector<Case>& numbers() {
  static const std::vector<Case> table = {
      {"y_number", "[123e65]"},
      {"y_number_0e_plus_1", "[0e+1]"},
      {"y_number_0e1", "[0e1]"},
      {"y_number_after_space", "[ 4]"},
      {"y_number_close_to_zero", "[-0." + repeat("0", 80) + "1]"},
      {"y_number_int_with_exp", "[20e1]"},
      {"y_number_minus_zero", "[-0]"},
      {"y_number_minus_zero_real", "[-0.0e-0]"},
      {"y_number_negative_int", "[-123]"},
      {"y_number_negative_one", "[-1]"},
      {"y_number_real_capital_e", "[1E22]"},
      {"y_number_real_capital_e_neg_exp", "[1E-2]"},
      {"y_number_real_capital_e_pos_exp", "[1E+2]"},
      {"y_number_real_exponent", "[123.45e67]"},
      {"y_number_real_fraction_exponent", "[123.456e78]"},
      {"y_number_exponent_leading_zeros", "[1e007]"},
      {"y_number_simple_int", "[123]"},
      {"y_number_simple_real", "[123.456789]"},
      {"y_number_zero", "0"},
      {"i_y_number_too_big_pos_int", "[100000000000000000000]"},
      {"i_y_number_too_big_neg_int", "[-123123123123123123123123123123]"},
      {"i_y_number_2_to_64", "[18446744073709551616]"},
      {"i_y_number_pos_double_huge_exp", "[1.5e+9999]"},
      {"i_y_number_neg_int_huge_exp", "[-1e+9999]"},
      {"i_y_number_1e400", "[1e400]"},
      {"i_y_number_underflow", "[123e-10000000]"},
      {"i_y_number_huge_exp",
       "[0.4e00669999999999999999999999999999999999999999999999999999999999999999999]"},
      {"i_y_number_a_million_digits", repeat("7", 1 << 20)},
      {"n_number_plus_plus", "[++1234]"},
      {"n_number_plus_1", "[+1]"},
      {"n_number_plus_inf", "[+Inf]"},
      {"n_number_minus_01", "[-01]"},
      {"n_number_minus_1_dot_0_dot", "[-1.0.]"},
      {"n_number_minus_2_dot", "[-2.]"},
      {"n_number_minus_nan", "[-NaN]"},
      {"n_number_dot_minus_1", "[.-1]"},
      {"n_number_dot_2e_minus_3", "[.2e-3]"},
      {"n_number_0_dot_1_dot_2", "[0.1.2]"},
      {"n_number_0_dot_3e_plus", "[0.3e+]"},
      {"n_number_0_dot_3e", "[0.3e]"},
      {"n_number_0_dot_e1", "[0.e1]"},
      {"n_number_0_capital_e_plus", "[0E+]"},
      {"n_number_0_capital_e", "[0E]"},
      {"n_number_0e", "[0e]"},
      {"n_number_0e_plus", "[0e+]"},
      {"n_number_1_dot_0e_minus", "[1.0e-]"},
      {"n_number_1_dot_0e", "[1.0e]"},
      {"n_number_1_000", "[1 000.0]"},
      {"n_number_1ee2", "[1eE2]"},
      {"n_number_1e_plus_minus_2", "[1e+-2]"},
      {"n_number_1e_dot", "[1e1.5]"},
      {"n_number_2_dot_e_plus_3", "[2.e+3]"},
      {"n_number_2_dot_e_minus_3", "[2.e-3]"},
      {"n_number_2_dot_e3", "[2.e3]"},
      {"n_number_9_dot_e_plus", "[9.e+]"},
      {"n_number_inf", "[Inf]"},
      {"n_number_nan", "[NaN]"},
      {"n_number_infinity", "[Infinity]"},
      {"n_number_minus_infinity", "[-Infinity]"},
      {"n_number_fullwidth_digit_one", "[\xef\xbc\x91]"},
      {"n_number_expression", "[1+2]"},
      {"n_number_hex_1_digit", "[0x1]"},
      {"n_number_hex_2_digits", "[0x42]"},
      {"n_number_octal", "[0o17]"},
      {"n_number_leading_zero", "[012]"},
      {"n_number_two_zeros", "[00]"},
      {"n_number_minus_sign_with_trailing_garbage", "[-foo]"},
      {"n_number_minus_space_1", "[- 1]"},
      {"n_number_double_minus", "[--1]"},
      {"n_number_neg_int_starting_with_zero", "[-012]"},
      {"n_number_neg_real_without_int_part", "[-.123]"},
      {"n_number_neg_with_garbage_at_end", "[-1x]"},
      {"n_number_real_garbage_after_e", "[1ea]"},
      {"n_number_real_with_invalid_utf8_after_e", "[1e\xe5]"},
      {"n_number_real_without_fractional_part", "[1.]"},
      {"n_number_starting_with_dot", "[.123]"},
      {"n_number_u_plus_0041", "[1\xc3\xa9]"},
      {"n_number_with_alpha", "[1.2a-3]"},
      {"n_number_with_alpha_char", "[1.8011670033376514H-308]"},
      {"n_number_underscore", "[1_000]"},
      {"n_number_suffix_n", "[1n]"},
      {"n_number_comma_as_point", "[1,5,]"},
      {"n_number_lone_minus", "-"},
      {"n_number_lone_dot", "."},
      {"n_number_trailing_dot_at_end", "1."},
      {"n_number_trailing_e_at_end", "1e"},
      {"n_number_trailing_sign_at_end", "1e+"},
  };
  return table;
}

const std::vector<Case>& strings() {
  static const std::vector<Case> table = {
      {"y_string_simple_ascii", "[\"asd \"]"},
      {"y_string_allowed_escapes", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]"},
      {"y_string_1_2_3_bytes_utf8", "[\"\\u0060\\u012a\\u12AB\"]"},
      {"y_string_surrogate_pair", "[\"\\uD801\\udc37\"]"},
      {"y_string_two_surrogate_pairs", "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]"},
      {"y_string_backslash_and_u_escaped_zero", "[\"\\\\u0000\"]"},
      {"y_string_backslash_doublequotes", "[\"\\\"\"]"},
      {"y_string_comments", "[\"a/*b*/c/*d//e\"]"},
      {"y_string_double_escape_a", "[\"\\\\a\"]"},
      {"y_string_double_escape_n", "[\"\\\\n\"]"},
      {"y_string_escaped_control_character", "[\"\\u0012\"]"},
      {"y_string_escaped_noncharacter", "[\"\\uFFFF\"]"},
      {"y_string_last_surrogates", "[\"\\uDBFF\\uDFFF\"]"},
      {"y_string_nbsp_uescaped", "[\"new\\u00A0line\"]"},
      {"y_string_noncharacter_utf8_10ffff", "[\"\xf4\x8f\xbf\xbf\"]"},
      {"y_string_noncharacter_utf8_ffff", "[\"\xef\xbf\xbf\"]"},
      {"y_string_null_escape", "[\"\\u0000\"]"},
      {"y_string_one_byte_utf8", "[\"\\u002c\"]"},
      {"y_string_pi", "[\"\xcf\x80\"]"},
      {"y_string_reserved_character_utf8", "[\"\xf0\x9b\xbf\xbf\"]"},
      {"y_string_u_2028_line_sep", "[\"\xe2\x80\xa8\"]"},
      {"y_string_u_2029_par_sep", "[\"\xe2\x80\xa9\"]"},
      {"y_string_unescaped_del", "[\"\x7f\"]"},
      {"y_string_utf8", "[\"\xe2\x82\xac\xf0\x9d\x84\x9e\xc2\x80\xdf\xbf\xe0\xa0\x80\xf0\x90\x80\x80\"]"},
      {"y_string_bom_inside", "[\"\xef\xbb\xbf\"]"},
      {"y_string_uescaped_newline", "[\"new\\u000Aline\"]"},
      {"y_string_with_brackets", "[\"][}{,:\"]"},
      {"i_y_string_1st_surrogate_but_2nd_missing", "[\"\\uDADA\"]"},
      {"i_y_string_1st_valid_surrogate_2nd_invalid", "[\"\\uD888\\u1234\"]"},
      {"i_y_string_incomplete_surrogate_and_escape", "[\"\\uD800\\n\"]"},
      {"i_y_string_inverted_surrogates", "[\"\\uDd1e\\uD834\"]"},
      {"i_y_string_lone_second_surrogate", "[\"\\uDFAA\"]"},
      {"i_y_string_two_first_surrogates", "[\"\\uD800\\uD800\"]"},
      {"n_string_1_surrogate_then_escape_u", "[\"\\uD800\\u\"]"},
      {"n_string_1_surrogate_then_escape_u1", "[\"\\uD800\\u1\"]"},
      {"n_string_1_surrogate_then_escape_u1x", "[\"\\uD800\\u1x\"]"},
      {"n_string_1_surrogate_then_escape", "[\"\\uD800\\\"]"},
      {"n_string_accentuated_char_no_quotes", "[\xc3\xa9]"},
      {"n_string_backslash_00", "[\"\\\0\"]"s},
      {"n_string_escape_x", "[\"\\x00\"]"},
      {"n_string_escaped_backslash_bad", "[\"\\\\\\\"]"},
      {"n_string_escaped_ctrl_char_tab", "[\"\\\t\"]"},
      {"n_string_escaped_emoji", "[\"\\\xf0\x9f\x8c\x80\"]"},
      {"n_string_escaped_apostrophe", "[\"\\'\"]"},
      {"n_string_escaped_newline", "[\"\\\n\"]"},
      {"n_string_escape_capital_u", "[\"\\U0041\"]"},
      {"n_string_escape_capital_n", "[\"\\N\"]"},
      {"n_string_escape_a", "[\"\\a\"]"},
      {"n_string_escape_v", "[\"\\v\"]"},
      {"n_string_escape_0", "[\"\\0\"]"},
      {"n_string_incomplete_escape", "[\"\\\"]"},
      {"n_string_incomplete_escaped_character", "[\"\\u00A\"]"},
      {"n_string_incomplete_surrogate", "[\"\\uD834\\uDd\"]"},
      {"n_string_incomplete_surrogate_escape_invalid", "[\"\\uD800\\uD800\\x\"]"},
      {"n_string_invalid_unicode_escape", "[\"\\uqqqq\"]"},
      {"n_string_unicode_escape_with_sign", "[\"\\u+041\"]"},
      {"n_string_unicode_escape_with_space", "[\"\\u 041\"]"},
      {"n_string_unicode_escape_braces", "[\"\\u{41}\"]"},
      {"n_string_leading_uescaped_thinspace", "[\\u0020\"asd\"]"},
      {"n_string_no_quotes_with_bad_escape", "[\\n]"},
      {"n_string_single_doublequote", "\""},
      {"n_string_single_quote", "['single quote']"},
      {"n_string_backticks", "[`a`]"},
      {"n_string_single_string_no_double_quotes", "abc"},
      {"n_string_start_escape_unclosed", "[\"\\"},
      {"n_string_unescaped_newline", "[\"new\nline\"]"},
      {"n_string_unescaped_carriage_return", "[\"a\rb\"]"},
      {"n_string_unescaped_tab", "[\"\t\"]"},
      {"n_string_unescaped_null", "[\"a\0a\"]"s},
      {"n_string_unescaped_unit_separator", "[\"a\x1f\"]"},
      {"n_string_control_far_behind", "[\"" + repeat("a", 100) + "\x01\"]"},
      {"n_string_with_trailing_garbage", "\"\"x"},
      {"n_string_unterminated", "\"abc"},
      {"n_string_unterminated_long", "\"" + repeat("abc", 100)},
      {"n_string_unterminated_after_escaped_quote", "\"abc\\\""},
      {"n_string_two_quotes", "\"a\"b\"c\""},
      {"n_utf8_invalid", "[\"\xff\"]"},
      {"n_utf8_fe", "[\"\xfe\"]"},
      {"n_utf8_iso_latin_1", "[\"\xe9\"]"},
      {"n_utf8_lone_continuation_byte", "[\"\x81\"]"},
      {"n_utf8_two_continuation_bytes", "[\"\x80\xbf\"]"},
      {"n_utf8_truncated_2", "[\"\xc3\"]"},
      {"n_utf8_truncated_3", "[\"\xe0\xa4\"]"},
      {"n_utf8_truncated_4", "[\"\xf0\x9f\x98\"]"},
      {"n_utf8_truncated_then_text", "[\"\xe2\x82 text\"]"},
      {"n_utf8_overlong_2_bytes", "[\"\xc0\xaf\"]"},
      {"n_utf8_overlong_c1", "[\"\xc1\xbf\"]"},
      {"n_utf8_overlong_3_bytes", "[\"\xe0\x80\xaf\"]"},
      {"n_utf8_overlong_4_bytes", "[\"\xf0\x80\x80\xaf\"]"},
      {"n_utf8_overlong_5_bytes", "[\"\xf8\x80\x80\x80\xaf\"]"},
      {"n_utf8_overlong_6_bytes_null", "[\"\xfc\x80\x80\x80\x80\x80\"]"},
      {"n_utf8_overlong_quote", "[\"\xc0\xa2\"]"},
      {"n_utf8_surrogate_d800", "[\"\xed\xa0\x80\"]"},
      {"n_utf8_surrogate_dfff", "[\"\xed\xbf\xbf\"]"},
      {"n_utf8_surrogate_pair_cesu", "[\"\xed\xa0\xbd\xed\xb8\x80\"]"},
      {"n_utf8_above_10ffff", "[\"\xf4\x90\x80\x80\"]"},
      {"n_utf8_f5", "[\"\xf5\x80\x80\x80\"]"},
      {"n_utf8_utf16_in_string", "[\"\xff\xfe\x41\"]"},
      {"n_utf8_bad_far_behind", "[\"" + repeat("\xc3\xa9", 200) + "\xc3\"]"},
      {"n_utf8_bad_in_long_ascii", "[\"" + repeat("a", 333) + "\x80" + repeat("a", 333) + "\"]"},
  };
  return table;
}

void expect_verdicts(const std::vector<Case>& table) {
  for (const Case& c : table) {
    const std::string_view name = c.name;
    const bool take = name.starts_with("y_") || name.starts_with("i_y_");
    ASSERT_TRUE(take || name.starts_with("n_") || name.starts_with("i_n_")) << name;
    // An exact copy on the heap, so that a sanitizer sees a read beyond it.
    const std::vector<char> bytes(c.text.begin(), c.text.end());
    const auto error = check_json({bytes.data(), bytes.size()});
    EXPECT_EQ(!error, take) << name << (error ? error->reason : "");
    if (error) {
      EXPECT_LE(error->offset, bytes.size()) << name;
    }
  }
}

TEST(JsonSuite, Structures) {
  expect_verdicts(structures());
}
TEST(JsonSuite, ArraysAndObjects) {
  expect_verdicts(arrays_and_objects());
}
TEST(JsonSuite, Numbers) {
  expect_verdicts(numbers());
}
TEST(JsonSuite, Strings) {
  expect_verdicts(strings());
}

// Every proper prefix of an object or array is refused: nothing is taken for complete too early.
TEST(JsonSuite, EveryProperPrefixOfADocumentIsRefused) {
  const std::string text = R"({"a":[1,-2.5e+3,true,false,null,{"b":"c\u00e9\n\"d\\"}],"model":"x","long":")" +
                           repeat("0123456789", 5) + "\"}";
  ASSERT_EQ(check_json(text), std::nullopt);
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_TRUE(check_json(text.substr(0, size))) << size;
}

TEST(JsonSuite, HoldsAtLeastOneHundredAndFiftyDistinctCases) {
  std::map<std::string, int> names;
  for (const auto* table : {&structures(), &arrays_and_objects(), &numbers(), &strings()}) {
    for (const Case& c : *table) ++names[c.name];
  }
  for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
  EXPECT_GE(names.size(), 150U);
}

}  // namespace
}  // namespace qq::wire
