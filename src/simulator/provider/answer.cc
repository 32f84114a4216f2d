#include "simulator/provider/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "base/utf8_cut.h"
#include "simulator/provider/raw_text.h"
#include "simulator/provider/schema_instance.h"
#include "simulator/provider/tokens.h"

namespace qq::simulator {
namespace {

constexpr std::array<std::string_view, 16> kFiller = {
    " the", " bridge", " of",  " magpies", " carries", " every",  " word",    " across",
    " the", " river",  " and", " back",    " again",   " before", " morning", " comes"};

bool is_chinese(std::string_view text) noexcept {
  // CJK Unified Ideographs U+4E00 to U+9FFF start with E4 B8 to E9 BF.
  return std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) >= 0xe4 && static_cast<unsigned char>(c) <= 0xe9;
  });
}

std::string echo(const Asked& asked) {
  const std::string& question = asked.text.empty() && !asked.inputs.empty() ? asked.inputs[0] : asked.text;
  const bool chinese = is_chinese(question);
  if (!asked.tool_results.empty()) {
    std::vector<std::string_view> heads;
    for (const std::string& result : asked.tool_results) heads.push_back(cut_utf8(result, 200));
    return chinese ? fmt::format("工具返回了：{}。", fmt::join(heads, "；"))
                   : fmt::format("The tools returned: {}.", fmt::join(heads, "; "));
  }
  if (!asked.media.empty()) {
    return chinese ? fmt::format("我看到 {} 个附件：{}。", asked.media.size(), fmt::join(asked.media, "；"))
                   : fmt::format("I see {} attachment{}: {}.", asked.media.size(),
                                 asked.media.size() == 1 ? "" : "s", fmt::join(asked.media, "; "));
  }
  const std::string_view said = cut_utf8(question, 400);
  return chinese ? fmt::format("你好，我是鹊桥的模拟模型。你说的是：“{}”。", said)
                 : fmt::format("Hello! I am a simulated model. You said: \"{}\".", said);
}

std::string say(const Asked& asked, unsigned choice) {
  if (asked.schema) return schema_instance(*asked.schema, asked.hash + choice);
  if (asked.json_object) {
    std::string json = "{\"answer\":";
    wire::append_json_string(json, echo(asked));
    return json + "}";
  }
  std::string text = echo(asked);
  if (choice > 0) text += fmt::format(" ({})", choice + 1);
  return text;
}

std::vector<std::string> filler(std::uint64_t words) {
  std::vector<std::string> pieces;
  pieces.reserve(words);
  for (std::uint64_t i = 0; i < words; ++i) pieces.emplace_back(kFiller[i % kFiller.size()]);
  return pieces;
}

bool calls_tools(const Asked& asked, const Script& script) {
  if (asked.tools.empty() || asked.tool_choice == ToolChoice::None) return false;
  if (script.calls) return *script.calls > 0;
  return asked.tool_results.empty();
}

std::vector<ToolCall> make_calls(const Asked& asked, const Script& script, unsigned choice) {
  std::vector<const AskedTool*> candidates;
  for (const AskedTool& tool : asked.tools) {
    if (asked.tool_choice != ToolChoice::Named || tool.name == asked.named_tool) candidates.push_back(&tool);
  }
  if (candidates.empty()) return {};
  std::size_t wanted = std::min<std::size_t>(candidates.size(), asked.parallel_calls ? 2 : 1);
  if (script.calls) wanted = *script.calls;
  std::vector<ToolCall> calls;
  for (std::size_t i = 0; i < wanted; ++i) {
    const AskedTool& tool = *candidates[i % candidates.size()];
    const std::uint64_t seed = asked.hash + choice * 101 + i;
    calls.push_back({stable_id("call_", seed), tool.name, schema_instance(tool.parameters, seed)});
  }
  return calls;
}

void limit(std::vector<std::string>& pieces, std::uint64_t& left, bool& cut) {
  if (pieces.size() > left) {
    pieces.resize(left);
    cut = true;
  }
  left -= pieces.size();
}

// max_tokens counts reasoning too, as the real ones do.
void apply_limits(const Asked& asked, Answer& said) {
  if (!asked.stops.empty()) {
    std::string text;
    for (const std::string& piece : said.content) text += piece;
    std::size_t first = std::string::npos;
    for (const std::string& stop : asked.stops) {
      const std::size_t at = text.find(stop);
      if (at >= first) continue;
      first = at;
      said.stop_string = stop;
    }
    if (first != std::string::npos) said.content = token_pieces(std::string_view(text).substr(0, first));
  }
  if (!asked.max_tokens || !said.calls.empty()) return;
  std::uint64_t left = *asked.max_tokens;
  bool cut = false;
  limit(said.reasoning, left, cut);
  limit(said.content, left, cut);
  if (!cut) return;
  said.finish = "length";
  said.stop_string.clear();
}

// Faults that are about what is said, not how it travels.
void apply_faults(const Script& script, Answer& said) {
  const FaultSet& faults = script.faults;
  if (faults.any(Fault::EmptyRoleOnly, Fault::EmptyNull, Fault::EmptyBlank, Fault::EmptyReasoningOnly)) {
    if (faults.has(Fault::EmptyReasoningOnly)) {
      if (said.reasoning.empty()) said.reasoning = token_pieces("Thinking, and then nothing.");
    } else {
      said.reasoning.clear();
    }
    said.content.clear();
    if (faults.has(Fault::EmptyBlank)) said.content.emplace_back(" \n\t ");
    said.calls.clear();
    said.refusal.clear();
    said.finish = "stop";
    said.null_content = faults.has(Fault::EmptyNull);
  }
  if (faults.has(Fault::InvalidUtf8)) said.content.emplace_back(kInvalidUtf8);
  if (faults.has(Fault::LoneSurrogate)) said.content.emplace_back(kLoneSurrogate);
  if (faults.has(Fault::Nul)) said.content.emplace_back(std::string("nul\0here", 8));
  if (faults.has(Fault::BigEvent)) {
    said.content.emplace_back(script.size > 0 ? script.size : 8U * 1024 * 1024, 'x');
  }
  if (!script.finish.empty()) said.finish = script.finish;
}

// Of all choices together.
constexpr std::uint64_t kWordsMax = 1'000'000;

Answer one_answer(const Asked& asked, const Script& script, unsigned choice) {
  Answer said;
  const bool thinks = script.reasoning.empty() ? asked.reasoning : script.reasoning == "on";
  if (thinks) {
    said.reasoning = token_pieces(is_chinese(asked.text) ? "用户在问一个问题，我来想一想怎么回答。"
                                                         : "The user asks something. Let me think it over.");
  }
  if (script.refusal) {
    said.refusal = "I'm sorry, I can't help with that.";
  } else if (calls_tools(asked, script)) {
    said.calls = make_calls(asked, script, choice);
    said.null_content = true;
    said.finish = "tool_calls";
  }
  if (said.refusal.empty() && said.calls.empty()) {
    said.null_content = false;
    said.finish = "stop";
    said.content = script.words ? filler(std::min(*script.words, kWordsMax / std::max(asked.choices, 1U)))
                                : token_pieces(say(asked, choice));
  }
  apply_limits(asked, said);
  apply_faults(script, said);
  return said;
}

}  // namespace

std::string stable_id(std::string_view prefix, std::uint64_t hash, std::size_t length) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  Random random(hash);
  std::string id(prefix);
  id.reserve(prefix.size() + length);
  for (std::size_t i = 0; i < length; ++i) id += kLetters[random.below(kLetters.size())];
  return id;
}

std::vector<Answer> answer(const Asked& asked, const Script& script) {
  std::vector<Answer> answers;
  if (script.faults.has(Fault::EmptyNoChoices)) return answers;
  for (unsigned choice = 0; choice < asked.choices; ++choice) {
    answers.push_back(one_answer(asked, script, choice));
  }
  return answers;
}

std::int64_t prompt_tokens(std::uint64_t prompt_bytes) noexcept {
  return static_cast<std::int64_t>((prompt_bytes + 3) / 4 + 3);
}

Usage bill(const Asked& asked, const std::vector<Answer>& answers, const Script& script) {
  Usage usage;
  usage.prompt = prompt_tokens(asked.prompt_bytes);
  // Prompts from 1,024 tokens on are cached in steps of 128, as OpenAI documents it.
  // Anthropic and Bedrock cache what was marked only.
  const bool marks_only = asked.route == Route::Messages || asked.route == Route::Converse;
  if (usage.prompt >= 1024 && (!marks_only || asked.cache_marked)) usage.cached = usage.prompt / 128 * 128;
  if (script.cached) usage.cached = std::min(*script.cached, usage.prompt);
  if (script.cache_write) usage.cache_write = std::min(*script.cache_write, usage.prompt - usage.cached);
  for (const Answer& said : answers) {
    usage.reasoning += static_cast<std::int64_t>(said.reasoning.size());
    usage.completion += static_cast<std::int64_t>(said.reasoning.size() + said.content.size());
    if (!said.refusal.empty())
      usage.completion += static_cast<std::int64_t>(token_pieces(said.refusal).size());
    for (const ToolCall& call : said.calls) {
      usage.completion += static_cast<std::int64_t>(token_pieces(call.arguments).size() + 1);
    }
  }
  if (script.faults.has(Fault::TinyEvents)) {
    usage.completion += static_cast<std::int64_t>(script.count > 0 ? script.count : 100'000);
  }
  if (script.faults.has(Fault::UsageNegative)) {
    usage.prompt = -5;
    usage.completion = -1;
  }
  if (script.faults.has(Fault::UsageAbsurd)) {
    usage.prompt = 1'000'000'000'000;
    usage.completion = 999'999'999'999;
  }
  return usage;
}

}  // namespace qq::simulator
