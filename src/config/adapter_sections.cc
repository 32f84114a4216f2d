// How a private back end is described (`providers[].adapter`); what the words mean is told in
// docs/cookbook/private-back-end.md.
#include "config/field_builders.h"
#include "config/sections.h"
#include "providers/declared_adapter.h"

namespace qq::config {

using namespace build;

namespace {

using providers::DeclaredWhereConfig;

constexpr std::size_t kTemplateMax = 16UL * 1024;

template <typename T>
Make template_of(std::string_view key, std::string T::* member) {
  return Make(text(key, member)).of_lines().longest(kTemplateMax);
}

const Section& header_section(bool is_signed) {
  using T = providers::DeclaredHeaderConfig;
  const auto make = [](std::string_view name, std::string_view id, std::string_view words) {
    return Section{
        .name = name,
        .id = id,
        .doc = words,
        .fields =
            {Make(text("name", &T::name)).doc("The header's name.").required(),
             Make(text("value", &T::value)).doc("Its value, a template.").required().longest(kTemplateMax)},
        .defaults = defaults_of<T>()};
  };
  static const Section kPlain = make("providers[].adapter.headers[]", "adapter_header",
                                     "A header of every request; may hold `{{model}}` and `{{user}}`.");
  static const Section kSigned = make("providers[].adapter.auth.hmac.headers[]", "adapter_hmac_header",
                                      "A header that goes along with the signature; may hold what "
                                      "`string_to_sign` may but for the body, and `{{signature}}`.");
  return is_signed ? kSigned : kPlain;
}

const Section& auth_header_section() {
  using T = providers::DeclaredAuthConfig::Header;
  Field prefix = text("prefix", &T::prefix);
  static const Section kSection{
      .name = "providers[].adapter.auth.header",
      .id = "adapter_auth_header",
      .doc = "The account's credential in a header of its own.",
      .fields = {Make(text("name", &T::name)).doc("The header's name.").required().like("x-api-key"),
                 Make(std::move(prefix))
                     .doc("What stands before the credential.")
                     .absent("nothing")
                     .like("Token ")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& hmac_section() {
  using T = providers::DeclaredHmacConfig;
  static const Section kSection{
      .name = "providers[].adapter.auth.hmac",
      .id = "adapter_hmac",
      .doc =
          "A signature over each request. The account's credential is its secret, or `ID:SECRET` where "
          "`{{key_id}}` is used.",
      .fields =
          {Make(text("header", &T::header)).doc("The signature's header.").required().like("x-signature"),
           Make(text("value", &T::value)).doc("Its value, a template.").longest(kTemplateMax),
           Make(word("algorithm", &T::algorithm, {"sha256", "sha1"})).doc("The hash of the HMAC."),
           Make(word("encoding", &T::encoding, {"hex", "base64"})).doc("How the signature is written."),
           Make(word("secret_form", &T::secret_form, {"text", "base64"}))
               .doc("`base64`: the secret is what its text decodes to."),
           Make(word("timestamp", &T::timestamp, {"seconds", "milliseconds", "iso8601", "iso8601_basic"}))
               .doc("How `{{timestamp}}` is written: Unix time, `2026-01-31T12:00:00Z` or "
                    "`20260131T120000Z`."),
           template_of("string_to_sign", &T::string_to_sign)
               .doc("What is signed: a template of `{{timestamp}}`, `{{nonce}}`, `{{method}}`, `{{host}}`, "
                    "`{{path}}`, `{{query}}`, `{{body}}`, `{{body_sha256}}`, `{{key_id}}`.")
               .required()
               .like("{{timestamp}}.{{body}}"),
           Make(maps("headers", &T::headers, header_section(true), "name"))
               .doc("Headers that go along with it.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& auth_section() {
  using T = providers::DeclaredAuthConfig;
  static const Section kSection{
      .name = "providers[].adapter.auth",
      .id = "adapter_auth",
      .doc = "How requests are authenticated; one of these.",
      .fields = {Make(boolean("bearer", &T::bearer))
                     .doc("`authorization: Bearer` and the credential.")
                     .absent("`true` if no other is given"),
                 Make(map("header", &T::header, auth_header_section())).doc("A header of its own."),
                 Make(map("hmac", &T::hmac, hmac_section())).doc("A signature.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& roles_section() {
  using T = providers::DeclaredRequestConfig::Roles;
  static const Section kSection{
      .name = "providers[].adapter.request.roles",
      .id = "adapter_roles",
      .doc = "The back end's words for who speaks: the values of `{{role}}`.",
      .fields = {Make(text("system", &T::system))
                     .doc("Makes the system's turns messages; without it they are joined in `{{system}}`.")
                     .absent("none"),
                 Make(text("user", &T::user)).doc("The user's turns."),
                 Make(text("assistant", &T::assistant)).doc("The model's turns.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& request_section() {
  using T = providers::DeclaredRequestConfig;
  static const Section kSection{
      .name = "providers[].adapter.request",
      .id = "adapter_request",
      .doc = "Templates of JSON: a string `{{word}}` stands for a value, and what has none is left out.",
      .fields =
          {template_of("body", &T::body)
               .doc("The request's body. Must hold `{{messages}}`.")
               .required()
               .like(R"({"engine": "{{model}}", "turns": "{{messages}}"})"),
           template_of("message", &T::message)
               .doc("A turn of the conversation: `{{role}}`, and `{{text}}` or `{{parts}}`.")
               .required()
               .like(R"({"from": "{{role}}", "words": "{{text}}"})"),
           Make(map("roles", &T::roles, roles_section())).doc("Words for `{{role}}`."),
           template_of("text_part", &T::text_part).doc("A text among `{{parts}}`.").absent("none"),
           template_of("image", &T::image)
               .doc("An image among `{{parts}}`: `{{url}}` (which may be a data URL), or `{{base64}}` and "
                    "`{{media_type}}`.")
               .absent("images are refused"),
           template_of("tool", &T::tool)
               .doc("A tool of `{{tools}}`: `{{name}}`, `{{description}}`, `{{schema}}`.")
               .absent("tools are refused"),
           template_of("tool_call", &T::tool_call)
               .doc("A call of `{{tool_calls}}`: `{{id}}`, `{{name}}`, `{{arguments}}` or "
                    "`{{arguments_text}}`.")
               .absent("none"),
           template_of("tool_result", &T::tool_result)
               .doc("A message with a call's result: `{{id}}`, `{{name}}`, `{{text}}`, `{{is_error}}`.")
               .absent("none")},
      .defaults = defaults_of<T>()};
  return kSection;
}

Make pointer(std::string_view key, auto member) {
  return Make(text(key, member)).absent("not read");
}

Section calls_fields(std::string_view name, std::string_view id) {
  using T = DeclaredWhereConfig::Calls;
  return Section{
      .name = name,
      .id = id,
      .doc = "Tool calls: a pointer to their list, and pointers inside each.",
      .fields =
          {pointer("list", &T::list).doc("The list of calls, or the one call.").required().like("/calls"),
           pointer("index", &T::index)
               .doc("Streams: which call a piece belongs to. Without it that is told by `id`."),
           pointer("id", &T::id).doc("Its id; without it one is made."),
           pointer("name", &T::name).doc("The tool's name.").required().like("/name"),
           pointer("arguments", &T::arguments)
               .doc("Its arguments, as JSON or as a text of JSON. In a stream texts are pieces.")
               .required()
               .like("/input")},
      .defaults = defaults_of<T>()};
}

Section usage_fields(std::string_view name, std::string_view id) {
  using T = DeclaredWhereConfig::Usage;
  return Section{
      .name = name,
      .id = id,
      .doc = "Pointers to token counts.",
      .fields = {pointer("input", &T::input).doc("Tokens of the request."),
                 pointer("output", &T::output).doc("Tokens of the answer."),
                 pointer("cache_read", &T::cache_read).doc("Input that was read from a prompt cache."),
                 pointer("cache_write", &T::cache_write).doc("Input that was written to one."),
                 pointer("reasoning", &T::reasoning).doc("Output that was thought."),
                 Make(boolean("input_includes_cache", &T::input_includes_cache))
                     .doc("Whether `input` counts the cached tokens, too."),
                 Make(boolean("output_includes_reasoning", &T::output_includes_reasoning))
                     .doc("Whether `output` counts the thoughts, too.")},
      .defaults = defaults_of<T>()};
}

const Section& answer_section() {
  using T = DeclaredWhereConfig;
  static const Section kCalls = calls_fields("providers[].adapter.answer.calls", "adapter_answer_calls");
  static const Section kUsage = usage_fields("providers[].adapter.answer.usage", "adapter_answer_usage");
  static const Section kSection{
      .name = "providers[].adapter.answer",
      .id = "adapter_answer",
      .doc = "Where a whole answer says what: JSON pointers (RFC 6901).",
      .fields = {pointer("text", &T::text).doc("Its text.").like("/result/words"),
                 pointer("reasoning", &T::reasoning).doc("Its thoughts."),
                 Make(map("calls", &T::calls, kCalls)).doc("Its tool calls.").absent("not read"),
                 pointer("finish", &T::finish).doc("Why it ended, a word of `finish_words`."),
                 pointer("id", &T::id).doc("Its id."),
                 pointer("model", &T::model).doc("The model that answered."),
                 Make(map("usage", &T::usage, kUsage)).doc("What it took.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& stream_section() {
  using T = providers::DeclaredStreamConfig;
  static const Section kCalls = calls_fields("providers[].adapter.stream.calls", "adapter_stream_calls");
  static const Section kUsage = usage_fields("providers[].adapter.stream.usage", "adapter_stream_usage");
  // A pointer to a base's member has the base's type until it is told otherwise.
  using Text = std::string T::*;
  static const Section kSection{
      .name = "providers[].adapter.stream",
      .id = "adapter_stream",
      .doc =
          "Where a stream's events say what: JSON pointers into each. An event's word is what stands at "
          "`type`, or the SSE event's name.",
      .fields =
          {Make(word("format", &T::format, {"sse", "ndjson", "none"}))
               .doc("Server-sent events, lines of JSON, or no streams: then whole answers are told as such."),
           pointer("type", static_cast<Text>(&T::type)).doc("The event's word."),
           pointer("text", static_cast<Text>(&T::text)).doc("The text."),
           Make(word("text_is", &T::text_is, {"deltas", "so_far"}))
               .doc("Whether an event has the next piece of text and thoughts, or all of them so far."),
           Make(texts("text_in", &T::text_in)).doc("The words of the events that have text.").absent("any"),
           pointer("reasoning", static_cast<Text>(&T::reasoning)).doc("The thoughts."),
           Make(texts("reasoning_in", &T::reasoning_in))
               .doc("The words of the events that have thoughts.")
               .absent("any"),
           Make(map("calls", static_cast<std::optional<DeclaredWhereConfig::Calls> T::*>(&T::calls), kCalls))
               .doc("Tool calls.")
               .absent("not read"),
           pointer("finish", static_cast<Text>(&T::finish))
               .doc(
                   "Why it ended, a word of `finish_words`. Where no mark tells the end, the stream is whole "
                   "if such a word came."),
           Make(text("done_data", &T::done_data))
               .doc("Data that is the end's mark.")
               .absent("none")
               .like("[DONE]"),
           pointer("done", static_cast<Text>(&T::done))
               .doc("What is true in the last event: not null, false, 0 or empty."),
           Make(texts("done_in", &T::done_in)).doc("The words of the last event.").absent("none"),
           Make(texts("error_in", &T::error_in))
               .doc("The words of events that are errors, whatever they hold.")
               .absent("none"),
           pointer("id", static_cast<Text>(&T::id)).doc("The answer's id."),
           pointer("model", static_cast<Text>(&T::model)).doc("The model that answers."),
           Make(map("usage", static_cast<DeclaredWhereConfig::Usage T::*>(&T::usage), kUsage))
               .doc("What it took; later figures replace earlier ones.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& finish_section() {
  using T = providers::DeclaredFinishConfig;
  const auto words = [](std::string_view key, std::vector<std::string> T::* member, std::string_view doc) {
    return Field(Make(texts(key, member)).doc(doc).absent("none"));
  };
  static const Section kSection{
      .name = "providers[].adapter.finish_words",
      .id = "adapter_finish_words",
      .doc = "What the back end's words for an answer's end mean. Words that stand nowhere mean `stop`.",
      .fields = {words("stop", &T::stop, "The model was done."),
                 words("stop_string", &T::stop_string, "One of the caller's stop strings came."),
                 words("length", &T::length, "A token limit."),
                 words("tool_calls", &T::tool_calls, "It waits for the results of its calls."),
                 words("filtered", &T::filtered, "A filter or guardrail."),
                 words("refusal", &T::refusal, "The model declined."),
                 words("broken", &T::broken, "The generation failed: an error, and others are tried.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& error_kind_section() {
  using T = providers::DeclaredErrorsConfig::Rule;
  static const Section kSection{
      .name = "providers[].adapter.errors.kinds[]",
      .id = "adapter_error_kind",
      .doc = "What a status, a code, or both together mean.",
      .fields =
          {Make(integer("status", &T::status, 400, 599)).doc("The HTTP status.").absent("any"),
           Make(text("code", &T::code)).doc("What stands at `code`, as text.").absent("any"),
           Make(word("kind", &T::kind, providers::declared_error_kinds()))
               .doc("What it means: `rate_limited` and `quota_exhausted` rest the account, "
                    "`credential_dead` takes it out, `refused` is the caller's own doing, the others let "
                    "another target be tried.")
               .required()},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& errors_section() {
  using T = providers::DeclaredErrorsConfig;
  static const Section kSection{
      .name = "providers[].adapter.errors",
      .id = "adapter_errors",
      .doc = "Errors, with an HTTP status of their own or inside a 200.",
      .fields =
          {pointer("code", &T::code).doc("The error's code. Inside a 200, one there makes it an error."),
           pointer("message", &T::message)
               .doc("What it says. Inside a 200 without `code`, one there makes it an error."),
           Make(texts("ok_codes", &T::ok_codes))
               .doc("Codes of a success, beside 0, `false` and null.")
               .absent("none"),
           Make(maps("kinds", &T::kinds, error_kind_section(), "kind"))
               .doc("What they mean; the first that fits counts. Others are judged by their status.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& poll_section() {
  using T = providers::DeclaredPollConfig;
  static const Section kSection{
      .name = "providers[].adapter.poll",
      .id = "adapter_poll",
      .doc =
          "A back end that is polled: what is sent to `path` begins an operation, which is asked about until "
          "it is over. Its last words are read as `answer` says.",
      .fields =
          {pointer("id", &T::id)
               .doc("The operation's id, in the reply to what was sent.")
               .required()
               .like("/job/id"),
           Make(text("path", &T::path))
               .doc("Where it is asked about, by GET: behind `base_url`, with `{{operation}}` and perhaps "
                    "`{{model}}`.")
               .required()
               .like("/v2/jobs/{{operation}}"),
           Make(duration("every", &T::every, Milliseconds(10), Milliseconds(600'000)))
               .doc("How long to wait before each time."),
           pointer("done", &T::done)
               .doc("What tells that it is over: not null, false, 0 or empty there, or a word of `done_in`.")
               .required()
               .like("/job/state"),
           Make(texts("done_in", &T::done_in))
               .doc("The words at `done` of an operation that is over.")
               .absent("any"),
           Make(texts("failed_in", &T::failed_in))
               .doc("The words at `done` of one that failed: an error, and others are tried.")
               .absent("none"),
           Make(integer("retries", &T::retries, 0, 100))
               .doc("How often a poll is repeated that fails (no connection, 429, 5xx), after longer and "
                    "longer waits and never before its `Retry-After`. Then the attempt has failed."),
           Make(text("cancel_path", &T::cancel_path))
               .doc("Where an operation is cancelled that nobody waits for any more: its client has left, or "
                    "its time is up.")
               .absent("it runs on")
               .like("/v2/jobs/{{operation}}/cancel"),
           Make(word("cancel_method", &T::cancel_method, {"post", "delete"})).doc("How it is asked for.")},
      .defaults = defaults_of<T>()};
  return kSection;
}

}  // namespace

const Section& adapter_section() {
  using T = providers::DeclaredConfig;
  static const Section kSection{
      .name = "providers[].adapter",
      .id = "adapter",
      .doc =
          "A private back end: how its requests are put together, where its answers say what, and how it "
          "wants to be authenticated. Told with an example in "
          "[cookbook/private-back-end.md](cookbook/private-back-end.md).",
      .fields =
          {Make(text("path", &T::path))
               .doc("Behind `base_url`; may hold `{{model}}`.")
               .required()
               .like("/v2/generate"),
           Make(text("stream_path", &T::stream_path))
               .doc("Of requests that stream.")
               .absent("the same as `path`"),
           Make(maps("headers", &T::headers, header_section(false), "name")).doc("Headers of every request."),
           Make(map("auth", &T::auth, auth_section())).doc("How requests are authenticated."),
           Make(map("request", &T::request, request_section())).doc("What is sent.").required(),
           Make(map("answer", &T::answer, answer_section())).doc("What comes back.").required(),
           Make(map("stream", &T::stream, stream_section())).doc("What comes back of a stream."),
           Make(map("finish_words", &T::finish_words, finish_section())).doc("Why answers end."),
           Make(map("errors", &T::errors, errors_section())).doc("What errors mean."),
           Make(map("poll", &T::poll, poll_section()))
               .doc("How an answer is waited for that does not come at once.")
               .absent("answers come at once")},
      .defaults = defaults_of<T>()};
  return kSection;
}

}  // namespace qq::config
