#include "dialects/openai/replay.h"

namespace qq::dialects::openai::testing {
namespace {

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out;
}

std::string figure(std::string_view name, const std::optional<model::TokenCount>& count) {
  return std::string(name) + "=" + (count ? std::to_string(*count) : "-");
}

// Keeps the raw bytes of events that come in pieces, as the relay does.
class Player {
 public:
  Player(model::Endpoint endpoint, const model::Target& target, const EventRules& rules)
      : judge_(endpoint, target), rules_(rules) {}

  void feed(std::string_view piece) {
    std::size_t consumed = 0;
    std::size_t taken = 0;
    wire::SseEvent event;
    while (decoder_.next(piece, consumed, event)) {
      pending_.append(piece.substr(taken, event.end - taken));
      taken = event.end;
      take(event);
    }
    pending_.append(piece.substr(taken));
  }

  Replay finish() {
    wire::SseEvent event;
    if (decoder_.finish(event)) take(event);
    replay_.forwarded += pending_;
    const auto fault = judge_.fault_at_end();
    std::string& end = replay_.end;
    end = "end: " + std::string(fault ? to_string(*fault) : "proper") + "\n";
    end += std::string("content: ") + (judge_.content_seen() ? "yes" : "no");
    if (judge_.empty_is_legitimate()) end += " (empty would be fine)";
    end += "\nfinish: " + std::string(judge_.finish_reason()) + "\nusage: " + describe(judge_.usage()) + "\n";
    return std::move(replay_);
  }

 private:
  void take(const wire::SseEvent& event) {
    const EventFacts facts = event.has_data ? judge_.judge(event) : judge_.judge_raw(pending_);
    std::string line = describe(facts);
    std::string edited;
    switch (edit_event(rules_, facts, event, pending_, edited)) {
      case Edit::Keep: replay_.forwarded += pending_; break;
      case Edit::Drop: line += " | drop"; break;
      case Edit::Rewrite:
        line += " | " + escaped(edited);
        replay_.forwarded += edited;
        break;
    }
    replay_.events.push_back(line);
    pending_.clear();
  }

  StreamJudge judge_;
  EventRules rules_;
  wire::SseDecoder decoder_;
  std::string pending_;
  Replay replay_;
};

}  // namespace

std::string describe(const model::Usage& usage) {
  if (usage.source == model::UsageSource::None) return "none";
  return figure("uncached", usage.input_uncached) + " " + figure("read", usage.cache_read) + " " +
         figure("written", usage.cache_write) + " " + figure("text", usage.output_text) + " " +
         figure("reasoning", usage.reasoning);
}

std::string describe(const EventFacts& facts) {
  std::string out;
  const auto add = [&out](bool is, std::string_view word) {
    if (!is) return;
    if (!out.empty()) out += ' ';
    out += word;
  };
  add(facts.content, "content");
  add(facts.terminal, "terminal");
  add(facts.done_marker, "done");
  add(facts.usage_only, "usage_only");
  add(facts.keep_alive, "keep_alive");
  if (facts.error) {
    add(true, "error(" + std::string(to_string(facts.error->kind)) + ", type=" + facts.error->type +
                  ", code=" + facts.error->code + "): " + facts.error->message);
  }
  return out.empty() ? "nothing" : out;
}

Replay replay(std::string_view body, const std::vector<std::size_t>& cuts, model::Endpoint endpoint,
              const model::Target& target, const EventRules& rules) {
  Player player(endpoint, target, rules);
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    player.feed(body.substr(at, cut - at));
    at = cut;
  }
  player.feed(body.substr(at));
  return player.finish();
}

}  // namespace qq::dialects::openai::testing
