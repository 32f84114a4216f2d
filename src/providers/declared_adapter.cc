#include "providers/declared_adapter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "providers/declared_templates.h"
#include "wire/http_head.h"
#include "wire/json_pointer.h"

namespace qq::providers {
namespace {

using model::JsonTemplate;
using model::Placeholder;
using model::Pointer;

struct KindWord {
  std::string_view word;
  ErrorKind kind;
};
// What a provider may say, in the words of logs and metrics.
constexpr std::array kErrorKinds = {
    KindWord{"rate_limited", ErrorKind::RateLimited},
    KindWord{"quota_exhausted", ErrorKind::QuotaExhausted},
    KindWord{"credential_dead", ErrorKind::CredentialDead},
    KindWord{"forbidden", ErrorKind::Forbidden},
    KindWord{"model_missing", ErrorKind::ModelMissing},
    KindWord{"refused", ErrorKind::Refused},
    KindWord{"overloaded", ErrorKind::Overloaded},
    KindWord{"server_error", ErrorKind::ServerError},
};

// Header lines that are the connection's own, or written by us for every request.
constexpr std::array<std::string_view, 12> kReservedHeaders = {
    "host",    "content-length", "transfer-encoding", "connection", "upgrade",      "te",
    "trailer", "expect",         "accept-encoding",   "user-agent", "content-type", "x-request-id"};

std::string lowered(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

class Maker {
 public:
  explicit Maker(const DeclaredConfig& config) noexcept : config_(config) {}

  std::expected<model::DeclaredAdapter, std::vector<DeclaredProblem>> run() {
    paths();
    out_.headers = headers("headers", config_.headers, TemplateUse::Header);
    auth();
    request();
    out_.answer = where("answer", config_.answer);
    if (config_.answer.text.empty() && !config_.answer.calls)
      report("answer", "`text`, the pointer to the answer's text, is required");
    stream();
    finish_words();
    errors();
    poll();
    tools();
    if (!problems_.empty()) return std::unexpected(std::move(problems_));
    return std::move(out_);
  }

 private:
  void report(std::string field, std::string message) {
    problems_.push_back({std::move(field), std::move(message)});
  }

  // ---- pieces

  Pointer pointer(std::string_view field, const std::string& text) {
    if (text.empty()) return {};
    auto tokens = wire::parse_json_pointer(text);
    if (tokens) return *std::move(tokens);
    report(std::string(field),
           "expected a JSON pointer such as /choices/0/text; '~' is written ~0 in it, and '/' in a name ~1");
    return {};
  }
  Pointer pointer(std::string_view section, std::string_view key, const std::string& text) {
    return pointer(std::string(section) + "." + std::string(key), text);
  }

  JsonTemplate json(std::string_view field, const std::string& text, TemplateUse use) {
    if (text.empty()) return {};
    auto read = read_json_template(text, use);
    if (read) return *std::move(read);
    report(std::string(field), std::move(read).error());
    return {};
  }

  model::TextTemplate text(std::string_view field, const std::string& words, TemplateUse use) {
    auto read = read_text_template(words, use);
    if (!read) {
      report(std::string(field), std::move(read).error());
      return {};
    }
    return *std::move(read);
  }

  void header_name(const std::string& field, const std::string& name) {
    if (name.empty()) return;  // reported as missing
    if (!wire::is_token(name)) return report(field, "expected the name of an HTTP header");
    if (std::ranges::find(kReservedHeaders, lowered(name)) != kReservedHeaders.end())
      report(field, "this header is written by the gateway");
  }

  std::vector<model::DeclaredHeader> headers(const std::string& list,
                                             const std::vector<DeclaredHeaderConfig>& wanted,
                                             TemplateUse use) {
    std::vector<model::DeclaredHeader> made;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string at = list + "[" + std::to_string(i) + "]";
      header_name(at + ".name", wanted[i].name);
      if (!wire::is_safe_field_value(wanted[i].value))
        report(at + ".value", "holds a line break or another control character");
      made.push_back({lowered(wanted[i].name), text(at + ".value", wanted[i].value, use)});
    }
    return made;
  }

  model::TextTemplate path(const char* field, const std::string& words,
                           TemplateUse use = TemplateUse::UrlPath) {
    if (words.empty()) return {};
    const bool printable =
        std::ranges::all_of(words, [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
    if (!words.starts_with('/') || !printable) {
      report(field, "expected a path that begins with '/', without spaces and '#'");
      return {};
    }
    return text(field, words, use);
  }

  // ---- sections

  void paths() {
    static_cast<void>(path("path", config_.path));
    static_cast<void>(path("stream_path", config_.stream_path));
  }

  void auth() {
    const DeclaredAuthConfig& auth = config_.auth;
    const int forms = (auth.bearer ? 1 : 0) + (auth.header ? 1 : 0) + (auth.hmac ? 1 : 0);
    if (forms > 1) report("auth", "expected one of `bearer`, `header` and `hmac`");
    if (auth.header) {
      header_name("auth.header.name", auth.header->name);
      if (!wire::is_safe_field_value(auth.header->prefix))
        report("auth.header.prefix", "holds a line break or another control character");
    }
    if (auth.hmac) hmac(*auth.hmac);
  }

  void hmac(const DeclaredHmacConfig& config) {
    using Scheme = model::HmacScheme;
    Scheme scheme;
    if (config.algorithm == "sha1") scheme.algorithm = Scheme::Algorithm::Sha1;
    if (config.encoding == "base64") scheme.encoding = Scheme::Encoding::Base64;
    if (config.secret_form == "base64") scheme.secret_form = Scheme::SecretForm::Base64;
    if (config.timestamp == "milliseconds") scheme.clock = Scheme::Clock::Milliseconds;
    if (config.timestamp == "iso8601") scheme.clock = Scheme::Clock::Iso;
    if (config.timestamp == "iso8601_basic") scheme.clock = Scheme::Clock::IsoBasic;
    scheme.string_to_sign =
        text("auth.hmac.string_to_sign", config.string_to_sign, TemplateUse::StringToSign);
    scheme.headers = headers("auth.hmac.headers", config.headers, TemplateUse::SignedHeader);
    header_name("auth.hmac.header", config.header);
    scheme.headers.insert(
        scheme.headers.begin(),
        {lowered(config.header), text("auth.hmac.value", config.value, TemplateUse::SignedHeader)});
    if (!wire::is_safe_field_value(config.value))
      report("auth.hmac.value", "holds a line break or another control character");
    const auto any_header_has = [&](Placeholder placeholder) {
      return std::ranges::any_of(scheme.headers, [&](const model::DeclaredHeader& header) {
        return model::uses(header.value, placeholder);
      });
    };
    if (!any_header_has(Placeholder::Signature))
      report("auth.hmac", "no header holds {{signature}}, so the signature would not be sent");
    scheme.has_key_id =
        any_header_has(Placeholder::KeyId) || model::uses(scheme.string_to_sign, Placeholder::KeyId);
    // Who checks a signature must know what was signed.
    for (const auto& [placeholder, name] :
         {std::pair(Placeholder::Timestamp, "{{timestamp}}"), std::pair(Placeholder::Nonce, "{{nonce}}")}) {
      if (model::uses(scheme.string_to_sign, placeholder) && !any_header_has(placeholder))
        report("auth.hmac.headers", std::string("no header holds ") + name + ", which is signed");
    }
    out_.hmac = std::move(scheme);
  }

  void request() {
    const DeclaredRequestConfig& config = config_.request;
    model::DeclaredRequest& request = out_.request;
    request.body = json("request.body", config.body, TemplateUse::Body);
    request.message = json("request.message", config.message, TemplateUse::Message);
    request.text_part = json("request.text_part", config.text_part, TemplateUse::TextPart);
    request.image = json("request.image", config.image, TemplateUse::Image);
    request.tool = json("request.tool", config.tool, TemplateUse::Tool);
    request.tool_call = json("request.tool_call", config.tool_call, TemplateUse::ToolCall);
    request.tool_result = json("request.tool_result", config.tool_result, TemplateUse::ToolResult);
    request.system_role = config.roles.system;
    request.user_role = config.roles.user;
    request.assistant_role = config.roles.assistant;
    if (!request.body.empty()) {
      if (!model::uses(request.body, Placeholder::Messages))
        report("request.body", "holds no {{messages}}, so the conversation would not be sent");
      if (model::uses(request.body, Placeholder::System) && !request.system_role.empty()) {
        report("request.roles.system",
               "the body has {{system}}, so no message is the system's: remove one of the two");
      }
    }
    if (request.message.empty()) return;
    const bool has_parts = model::uses(request.message, Placeholder::Parts);
    if (!has_parts && !model::uses(request.message, Placeholder::Text))
      report("request.message", "holds neither {{text}} nor {{parts}}, so nothing would be said");
    if (has_parts && config.text_part.empty())
      report("request", "`text_part` is required, since `message` has {{parts}}");
    if (!has_parts && !config.text_part.empty())
      report("request.text_part", "is not used: `message` has no {{parts}}");
    if (!has_parts && !config.image.empty())
      report("request.image", "is not used: `message` has no {{parts}}");
    if (!request.image.empty() && !model::uses(request.image, Placeholder::Url) &&
        !model::uses(request.image, Placeholder::Base64))
      report("request.image", "holds neither {{url}} nor {{base64}}, so the image would not be sent");
  }

  // Tools work only if they can be offered, called, called again in the history and answered.
  void tools() {
    const model::DeclaredRequest& request = out_.request;
    const bool offered = model::uses(request.body, Placeholder::Tools);
    const bool called = model::uses(request.message, Placeholder::ToolCalls);
    const DeclaredRequestConfig& config = config_.request;
    if (!offered) {
      for (const auto& [key, given] :
           {std::pair("tool", &config.tool), std::pair("tool_call", &config.tool_call),
            std::pair("tool_result", &config.tool_result)}) {
        if (!given->empty()) report(std::string("request.") + key, "is not used: `body` has no {{tools}}");
      }
      return;
    }
    if (config.tool.empty()) report("request", "`tool` is required, since `body` has {{tools}}");
    if (config.tool_call.empty()) report("request", "`tool_call` is required, since `body` has {{tools}}");
    if (config.tool_result.empty())
      report("request", "`tool_result` is required, since `body` has {{tools}}");
    if (!called && !request.message.empty())
      report("request.message", "holds no {{tool_calls}}, which a `body` with {{tools}} needs");
    if (!config_.answer.calls) report("answer", "`calls` is required, since `request.body` has {{tools}}");
    if (out_.stream.format != model::DeclaredStream::Format::None && !config_.stream.calls)
      report("stream", "`calls` is required, since `request.body` has {{tools}}");
  }

  model::DeclaredWhere where(std::string_view section, const DeclaredWhereConfig& config) {
    model::DeclaredWhere out;
    out.id = pointer(section, "id", config.id);
    out.model = pointer(section, "model", config.model);
    out.text = pointer(section, "text", config.text);
    out.reasoning = pointer(section, "reasoning", config.reasoning);
    out.finish = pointer(section, "finish", config.finish);
    if (config.calls) {
      out.calls.list = pointer(section, "calls.list", config.calls->list);
      out.calls.index = pointer(section, "calls.index", config.calls->index);
      out.calls.id = pointer(section, "calls.id", config.calls->id);
      out.calls.name = pointer(section, "calls.name", config.calls->name);
      out.calls.arguments = pointer(section, "calls.arguments", config.calls->arguments);
    }
    const DeclaredWhereConfig::Usage& usage = config.usage;
    out.usage.input = pointer(section, "usage.input", usage.input);
    out.usage.output = pointer(section, "usage.output", usage.output);
    out.usage.cache_read = pointer(section, "usage.cache_read", usage.cache_read);
    out.usage.cache_write = pointer(section, "usage.cache_write", usage.cache_write);
    out.usage.reasoning = pointer(section, "usage.reasoning", usage.reasoning);
    out.usage.input_includes_cache = usage.input_includes_cache;
    out.usage.output_includes_reasoning = usage.output_includes_reasoning;
    return out;
  }

  void stream() {
    using Stream = model::DeclaredStream;
    const DeclaredStreamConfig& config = config_.stream;
    Stream& stream = out_.stream;
    if (config.format == "sse") stream.format = Stream::Format::Sse;
    if (config.format == "ndjson") stream.format = Stream::Format::Ndjson;
    if (config.text_is == "so_far") stream.text = Stream::Text::SoFar;
    stream.where = where("stream", config);
    stream.type = pointer("stream.type", config.type);
    stream.done = pointer("stream.done", config.done);
    stream.text_in = config.text_in;
    stream.reasoning_in = config.reasoning_in;
    stream.done_data = config.done_data;
    stream.done_in = config.done_in;
    stream.error_in = config.error_in;
    if (stream.format == Stream::Format::None) {
      if (!config.text.empty() || stream.has_done_mark())
        report("stream.format", "expected `sse` or `ndjson`, since the stream's events are described");
      if (!config_.stream_path.empty()) report("stream_path", "is not used: `stream.format` is `none`");
      return;
    }
    if (config.text.empty() && !config.calls)
      report("stream", "`text`, the pointer to an event's text, is required");
    if (!stream.has_done_mark() && config.finish.empty()) {
      report("stream",
             "nothing tells the stream's end: give `done`, `done_data`, `done_in` or `finish`, so that one "
             "that breaks off is not taken for a whole one");
    }
    const bool has_words = !config.type.empty() || stream.format == Stream::Format::Sse;
    if (has_words) return;
    for (const auto& [key, list] :
         {std::pair("text_in", &config.text_in), std::pair("reasoning_in", &config.reasoning_in),
          std::pair("done_in", &config.done_in), std::pair("error_in", &config.error_in)}) {
      if (!list->empty())
        report(std::string("stream.") + key,
               "lines of JSON have no words without `type`, the pointer to them");
    }
  }

  void finish_words() {
    using model::Finish;
    const DeclaredFinishConfig& config = config_.finish_words;
    for (const auto& [key, list, finish] :
         {std::tuple("stop", &config.stop, Finish::Stop),
          std::tuple("stop_string", &config.stop_string, Finish::StopString),
          std::tuple("length", &config.length, Finish::Length),
          std::tuple("tool_calls", &config.tool_calls, Finish::ToolCalls),
          std::tuple("filtered", &config.filtered, Finish::Filtered),
          std::tuple("refusal", &config.refusal, Finish::Refusal),
          std::tuple("broken", &config.broken, Finish::Broken)}) {
      for (const std::string& word : *list) {
        const bool taken =
            std::ranges::find(out_.finish_words, word, &model::FinishWord::word) != out_.finish_words.end();
        if (taken) report(std::string("finish_words.") + key, "one of its words has another meaning already");
        out_.finish_words.push_back({word, finish});
      }
    }
  }

  void errors() {
    const DeclaredErrorsConfig& config = config_.errors;
    out_.errors.code = pointer("errors.code", config.code);
    out_.errors.message = pointer("errors.message", config.message);
    out_.errors.ok_codes = config.ok_codes;
    for (std::size_t i = 0; i < config.kinds.size(); ++i) {
      const DeclaredErrorsConfig::Rule& rule = config.kinds[i];
      const std::string at = "errors.kinds[" + std::to_string(i) + "]";
      const auto* const kind = std::ranges::find(kErrorKinds, rule.kind, &KindWord::word);
      if (kind == kErrorKinds.end()) continue;  // reported as no such word
      if (!rule.status && rule.code.empty()) report(at, "`status` or `code` is required");
      if (!rule.code.empty() && config.code.empty())
        report(at + ".code", "there is no `errors.code`, the pointer to codes");
      out_.errors.rules.push_back({rule.status.value_or(0), rule.code, kind->kind});
    }
  }

  model::TextTemplate operation_path_of(const char* field, const std::string& words) {
    model::TextTemplate made = path(field, words, TemplateUse::PollPath);
    if (!made.empty() && !model::uses(made, Placeholder::Operation))
      report(field, "holds no {{operation}}, so nobody could tell which one is meant");
    return made;
  }

  void poll() {
    if (!config_.poll) return;
    const DeclaredPollConfig& config = *config_.poll;
    model::DeclaredPoll& poll = out_.poll.emplace();
    poll.id = pointer("poll.id", config.id);
    poll.path = operation_path_of("poll.path", config.path);
    poll.every = config.every;
    poll.done = pointer("poll.done", config.done);
    poll.done_in = config.done_in;
    poll.failed_in = config.failed_in;
    poll.retries = config.retries;
    poll.cancel_path = operation_path_of("poll.cancel_path", config.cancel_path);
    if (config.cancel_method == "delete") poll.cancel_method = model::DeclaredPoll::Cancel::Delete;
    for (const std::string& word : config.failed_in) {
      if (std::ranges::find(config.done_in, word) != config.done_in.end())
        report("poll.failed_in", "one of its words stands in `done_in`, too");
    }
    if (out_.stream.format != model::DeclaredStream::Format::None)
      report("stream.format", "expected `none`: a back end that is polled does not stream");
  }

  const DeclaredConfig& config_;
  model::DeclaredAdapter out_;
  std::vector<DeclaredProblem> problems_;
};

}  // namespace

std::expected<model::DeclaredAdapter, std::vector<DeclaredProblem>> make_declared_adapter(
    const DeclaredConfig& config) {
  return Maker(config).run();
}

std::vector<std::string_view> declared_error_kinds() {
  std::vector<std::string_view> words;
  for (const KindWord& word : kErrorKinds) words.push_back(word.word);
  return words;
}

}  // namespace qq::providers
