// queqiao translate
#include <fmt/core.h>

#include <array>
#include <istream>
#include <iterator>
#include <ostream>

#include "app/cli/commands.h"
#include "dialects/dialect.h"
#include "providers/catalogue.h"

namespace qq::app::cli {
namespace {

std::optional<model::Dialect> dialect_named(std::string_view name) {
  for (std::size_t i = 0; i < model::kDialectCount; ++i) {
    const auto dialect = static_cast<model::Dialect>(i);
    if (model::to_string(dialect) == name) return dialect;
  }
  return std::nullopt;
}

// Ids and times are fixed, so that the same body always gives the same text.
constexpr std::string_view kRequestId = "01TRANSLATE";
constexpr std::int64_t kNow = 1'700'000'000;

struct Sides {
  const dialects::ClientDialect* client = nullptr;
  const dialects::ProviderDialect* provider = nullptr;
};

class Work {
 public:
  Work(const TranslateOptions& options, const Streams& streams) : options_(options), streams_(streams) {}

  int request(const Sides& sides, const std::string& body);
  int answer(const Sides& sides, const std::string& body);
  int stream(const Sides& sides, const std::string& body);

  // Its habits are what counts; it is never asked.
  bool find_target();

 private:
  int fail_with(const Error& error) {
    const bool names_it = error.param.empty() || error.message.starts_with(error.param);
    streams_.err << (names_it ? error.message : error.param + ": " + error.message) << '\n';
    return kFailed;
  }
  void tell_losses() {
    for (const dialects::Loss& loss : losses_)
      streams_.err << "lost: " << loss.field << ": " << loss.why << '\n';
  }
  [[nodiscard]] dialects::AnswerHead head() const {
    return {.model = options_.name, .request_id = kRequestId, .now = kNow};
  }

  const TranslateOptions& options_;
  const Streams& streams_;
  model::Target target_;
  dialects::Losses losses_;
};

bool Work::find_target() {
  target_.upstream_model = options_.model;
  if (options_.kind.empty()) return true;
  const providers::ProviderKind* kind = providers::find_kind(options_.kind);
  if (kind == nullptr) return false;
  target_.kind = options_.kind;
  target_.quirks = kind->quirks;
  return true;
}

int Work::request(const Sides& sides, const std::string& body) {
  dialects::RequestHead said;
  said.path_model = options_.name;
  auto decoded = sides.client->decode_request(body, said);
  if (!decoded) return fail_with(decoded.error());
  if (target_.upstream_model.empty()) target_.upstream_model = decoded->model;
  const auto encoded = sides.provider->encode_request(*decoded, target_, losses_);
  if (!encoded) return fail_with(encoded.error());
  streams_.err << encoded->header_lines;
  tell_losses();
  streams_.out << encoded->body << '\n';
  return kGood;
}

int Work::answer(const Sides& sides, const std::string& body) {
  const auto decoded = sides.provider->decode_answer(body, target_, kRequestId);
  if (!decoded) return fail_with(decoded.error());
  const model::ChatRequest asked;
  streams_.out << sides.client->encode_answer(*decoded, asked, head(), losses_) << '\n';
  tell_losses();
  return kGood;
}

int Work::stream(const Sides& sides, const std::string& body) {
  class Sink final : public dialects::EventSink {
   public:
    explicit Sink(dialects::StreamEncoder& to) noexcept : encoder(to) {}
    void on_event(const model::StreamEvent& event) override {
      if (event.kind == model::StreamEvent::Kind::Failed) error = *event.error;
      encoder.encode(event, out);
    }
    dialects::StreamEncoder& encoder;
    std::string out;
    std::optional<Error> error;
  };
  model::ChatRequest asked;
  asked.stream = true;
  asked.usage_in_stream = true;
  const auto encoder = sides.client->stream_encoder(asked, head());
  const auto decoder = sides.provider->stream_decoder(target_, kRequestId);
  Sink sink(*encoder);
  decoder->feed(body, sink);
  decoder->finish(sink);
  streams_.out << sink.out;
  return sink.error ? fail_with(*sink.error) : kGood;
}

int wrong(const Streams& streams, std::string_view option, std::string_view value, std::string_view why) {
  streams.err << fmt::format("{} {}: {}\n", option, value, why);
  return kUsage;
}

}  // namespace

int run_translate(const TranslateOptions& options, const Streams& streams) {
  const auto from = dialect_named(options.from);
  if (!from) return wrong(streams, "--from", options.from, "there is no such dialect");
  const auto to = dialect_named(options.to);
  if (!to) return wrong(streams, "--to", options.to, "there is no such dialect");
  const bool is_request = options.what == "request";
  const Sides sides{dialects::client_dialect(is_request ? *from : *to),
                    dialects::provider_dialect(is_request ? *to : *from)};
  const std::string_view client_option = is_request ? "--from" : "--to";
  const std::string_view provider_option = is_request ? "--to" : "--from";
  if (sides.client == nullptr) {
    return wrong(streams, client_option, is_request ? options.from : options.to, "no client speaks it here");
  }
  const bool is_described = (is_request ? *to : *from) == model::Dialect::Declared;
  if (sides.provider == nullptr || is_described) {
    return wrong(streams, provider_option, is_request ? options.to : options.from,
                 "it cannot be translated without its configuration");
  }
  Work work(options, streams);
  if (!work.find_target()) return wrong(streams, "--kind", options.kind, "there is no such provider kind");
  const std::string body{std::istreambuf_iterator<char>(streams.in), {}};
  if (is_request) return work.request(sides, body);
  return options.what == "answer" ? work.answer(sides, body) : work.stream(sides, body);
}

int run_translate(const TranslateOptions& options) {
  return on_process_streams([&](const Streams& streams) { return run_translate(options, streams); });
}

}  // namespace qq::app::cli
