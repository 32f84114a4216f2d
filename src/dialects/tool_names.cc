#include "dialects/tool_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace qq::dialects {
namespace {

using model::Dialect;

struct NameRule {
  std::size_t longest = 0;  // 0: none is known
  std::string_view more;    // letters beyond the usual ones
  bool letter_first = false;
};

constexpr NameRule rule_of(Dialect target) noexcept {
  switch (target) {
    case Dialect::OpenAiChat:
    case Dialect::OpenAiResponses:
    case Dialect::Bedrock: return {.longest = 64};
    case Dialect::Anthropic: return {.longest = 128};
    case Dialect::Gemini: return {.longest = 64, .more = ".:", .letter_first = true};
    default: return {};
  }
}

constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_taken(char c, const NameRule& rule) noexcept {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || rule.more.contains(c);
}

bool fits(std::string_view name, const NameRule& rule) noexcept {
  // What has no name is for the encoder to judge.
  if (rule.longest == 0 || name.empty()) return true;
  return name.size() <= rule.longest && (!rule.letter_first || is_letter(name.front())) &&
         std::ranges::all_of(name, [&](char c) { return is_taken(c, rule); });
}

bool all_fit(const model::ChatRequest& request, const NameRule& rule) noexcept {
  const bool tools_fit = std::ranges::all_of(request.tools, [&](const model::Tool& tool) {
    return tool.kind == model::Tool::Kind::Hosted || fits(tool.name, rule);
  });
  if (!tools_fit) return false;
  const auto fit = [&](const model::Part& part) {
    const auto* call = part.as<model::ToolCallPart>();
    const auto* result = part.as<model::ToolResultPart>();
    return (call == nullptr || fits(call->name, rule)) && (result == nullptr || fits(result->name, rule));
  };
  return std::ranges::all_of(request.turns,
                             [&](const model::Turn& turn) { return std::ranges::all_of(turn.parts, fit); });
}

class RestoringEncoder final : public StreamEncoder {
 public:
  RestoringEncoder(std::unique_ptr<StreamEncoder> encoder, const ToolNames& names) noexcept
      : encoder_(std::move(encoder)), names_(names) {}
  void encode(const model::StreamEvent& event, std::string& out) override {
    if (event.kind != model::StreamEvent::Kind::PartStarted || event.part_kind != model::PartKind::ToolCall) {
      return encoder_->encode(event, out);
    }
    model::StreamEvent restored = event;
    restored.name = names_.original(event.name);
    encoder_->encode(restored, out);
  }
  [[nodiscard]] const Losses& losses() const noexcept override { return encoder_->losses(); }
  [[nodiscard]] const Error* fault() const noexcept override { return encoder_->fault(); }

 private:
  std::unique_ptr<StreamEncoder> encoder_;
  const ToolNames& names_;
};

}  // namespace

std::string ToolNames::fitting(std::string_view name, Dialect target) {
  const NameRule rule = rule_of(target);
  if (fits(name, rule)) return std::string(name);
  std::uint32_t hash = 2166136261U;  // FNV-1a
  std::string out;
  if (rule.letter_first && !is_letter(name.front())) out += '_';
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    out += is_taken(c, rule) ? c : '_';
  }
  constexpr std::size_t kHash = 9;  // with its '_'
  out.resize(std::min(out.size(), rule.longest - kHash));
  out += fmt::format("_{:08x}", hash);
  original_.insert_or_assign(out, std::string(name));
  return out;
}

std::optional<model::ChatRequest> ToolNames::fit(const model::ChatRequest& request, Dialect target) {
  original_.clear();
  if (request.dialect == target || all_fit(request, rule_of(target))) return std::nullopt;
  model::ChatRequest out = request;
  for (model::Tool& tool : out.tools) {
    if (tool.kind != model::Tool::Kind::Hosted) tool.name = fitting(tool.name, target);
  }
  if (out.tool_choice) {
    for (std::string& name : out.tool_choice->only) name = fitting(name, target);
  }
  for (model::Turn& turn : out.turns) {
    for (model::Part& part : turn.parts) {
      if (auto* call = part.as<model::ToolCallPart>()) call->name = fitting(call->name, target);
      if (auto* result = part.as<model::ToolResultPart>()) result->name = fitting(result->name, target);
    }
  }
  return out;
}

std::string_view ToolNames::original(std::string_view name) const {
  const auto found = original_.find(std::string(name));
  return found == original_.end() ? name : std::string_view(found->second);
}

void ToolNames::restore(model::ChatAnswer& answer) const {
  if (empty()) return;
  for (model::Choice& choice : answer.choices) {
    for (model::Part& part : choice.parts) {
      if (auto* call = part.as<model::ToolCallPart>()) call->name = std::string(original(call->name));
    }
  }
}

std::unique_ptr<StreamEncoder> with_original_names(std::unique_ptr<StreamEncoder> encoder,
                                                   const ToolNames& names) {
  return std::make_unique<RestoringEncoder>(std::move(encoder), names);
}

}  // namespace qq::dialects
