// The neutral request to a body by the description's templates.
#include "dialects/calls.h"
#include "dialects/declared/message_encode.h"
#include "dialects/declared/render.h"
#include "dialects/declared/sides.h"
#include "dialects/declared/support.h"
#include "dialects/reasoning.h"
#include "wire/http_head.h"
#include "wire/json.h"

namespace qq::dialects::declared {
namespace {

using model::Placeholder;
using model::ToolChoice;

class RequestEncoder {
 public:
  RequestEncoder(const model::ChatRequest& request, const model::Target& target, Losses& losses)
      : request_(request), target_(target), adapter_(*adapter_of(target)), losses_(losses) {}

  Result<EncodedRequest> run() {
    QQ_CHECK(check_support(request_, model::Dialect::Declared, support_of(adapter_), losses_));
    QQ_TRY(EncodedMessages messages, encode_messages(request_, adapter_.request, losses_));
    values_.set_json(Placeholder::Messages, std::move(messages.messages));
    if (!messages.system.empty()) values_.set_text(Placeholder::System, messages.system);
    values_.set_text(Placeholder::Model, target_.upstream_model);
    set_stream();
    set_sampling();
    QQ_CHECK(set_tools());
    set_reasoning();
    if (request_.output && request_.output->kind == model::OutputFormat::Kind::JsonSchema)
      values_.set_json(Placeholder::JsonSchema,
                       request_.output->schema.empty() ? "{}" : request_.output->schema);
    if (!request_.user.empty()) values_.set_text(Placeholder::User, request_.user);
    values_.set_json(Placeholder::Metadata, request_.metadata);

    EncodedRequest out;
    render(adapter_.request.body, values_, out.body);
    QQ_CHECK(write_headers(out.header_lines));
    return out;
  }

 private:
  [[nodiscard]] bool body_has(Placeholder placeholder) const noexcept {
    return model::uses(adapter_.request.body, placeholder);
  }

  // A back end that does not stream is not asked to.
  void set_stream() {
    values_.set_boolean(Placeholder::Stream,
                        request_.stream && adapter_.stream.format != model::DeclaredStream::Format::None);
  }

  void set_sampling() {
    const model::Sampling& sampling = request_.sampling;
    values_.set_number(Placeholder::Temperature, sampling.temperature);
    values_.set_number(Placeholder::TopP, sampling.top_p);
    values_.set_integer(Placeholder::TopK, sampling.top_k);
    values_.set_number(Placeholder::PresencePenalty, sampling.presence_penalty);
    values_.set_number(Placeholder::FrequencyPenalty, sampling.frequency_penalty);
    values_.set_integer(Placeholder::Seed, sampling.seed);
    values_.set_integer(Placeholder::MaxOutputTokens, sampling.max_output_tokens);
    if (sampling.stop.empty()) return;
    std::string list = "[";
    for (const std::string& stop : sampling.stop) {
      if (list.size() > 1) list += ',';
      wire::append_json_string(list, stop);
    }
    values_.set_json(Placeholder::Stop, list + "]");
  }

  // ---- tools

  Result<> set_tools() {
    const std::optional<ToolChoice>& choice = request_.tool_choice;
    // Where nothing can be forbidden in words, tools are left out.
    if (choice && choice->mode == ToolChoice::Mode::None && !body_has(Placeholder::ToolChoice)) return {};
    const ChosenTools chosen(request_);
    std::string list = "[";
    for (const model::Tool& tool : request_.tools) {
      // A choice among some of the tools is made by offering no others.
      if (!chosen.has(tool.name)) continue;
      Values values;
      values.set_text(Placeholder::Name, tool.name);
      if (!tool.description.empty()) values.set_text(Placeholder::Description, tool.description);
      values.set_json(Placeholder::Schema, tool.schema);
      const std::size_t before = list.size();
      if (before > 1) list += ',';
      if (!render(adapter_.request.tool, values, list)) list.resize(before);
    }
    if (list.size() == 1) return {};
    values_.set_json(Placeholder::Tools, list + "]");
    if (request_.parallel_tool_calls)
      values_.set_boolean(Placeholder::ParallelToolCalls, *request_.parallel_tool_calls);
    return choice ? set_choice(*choice) : Result<>();
  }

  Result<> set_choice(const ToolChoice& choice) {
    const bool must = choice.mode == ToolChoice::Mode::Required;
    const bool one = must && choice.only.size() == 1;
    if (must && !body_has(Placeholder::ToolChoice) && !(one && body_has(Placeholder::ToolName))) {
      return fail(
          not_possible(name_of(Field::ToolChoice, request_.dialect), "it may always answer without a call"));
    }
    values_.set_text(Placeholder::ToolChoice, must                                    ? "required"
                                              : choice.mode == ToolChoice::Mode::Auto ? "auto"
                                                                                      : "none");
    if (one) values_.set_text(Placeholder::ToolName, choice.only.front());
    return {};
  }

  void set_reasoning() {
    if (!request_.reasoning) return;
    if (const auto effort = effort_of(*request_.reasoning))
      values_.set_text(Placeholder::ReasoningEffort, word_of(*effort));
    values_.set_integer(Placeholder::ReasoningBudget, budget_of(*request_.reasoning));
  }

  // ---- headers

  Result<> write_headers(std::string& lines) {
    for (const model::DeclaredHeader& header : adapter_.headers) {
      const std::optional<std::string> value = render(header.value, values_);
      if (!value) continue;
      // What a caller says must not begin a header of its own.
      if (!wire::is_safe_field_value(*value)) {
        return fail(not_possible(name_of(Field::User, request_.dialect),
                                 "it goes into a header, and a line break or control character cannot"));
      }
      lines.append(header.name).append(": ").append(*value).append("\r\n");
    }
    return {};
  }

  const model::ChatRequest& request_;
  const model::Target& target_;
  const model::DeclaredAdapter& adapter_;
  Losses& losses_;
  Values values_;
};

}  // namespace

Result<EncodedRequest> encode_request(const model::ChatRequest& request, const model::Target& target,
                                      Losses& losses) {
  return RequestEncoder(request, target, losses).run();
}

}  // namespace qq::dialects::declared
