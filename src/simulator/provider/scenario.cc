#include "simulator/provider/scenario.h"

#include <fmt/format.h>

#include <array>

namespace qq::simulator {
namespace {

using wire::JsonElements;
using wire::JsonMembers;
using wire::JsonValue;

Error broken(std::string_view what) {
  return Error::gateway(ErrorKind::Config, fmt::format("scenario: {}", what));
}

bool matches(std::string_view pattern, std::string_view text) noexcept {
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == text;
}

// A script that starts from the scenario's defaults; `weight` is the mix's own.
Result<Script> parse_script(JsonValue value, const Script& defaults, std::uint64_t* weight = nullptr) {
  if (!value.is_object()) return fail(broken("a list of directives is an object, e.g. {\"fault\":\"429\"}"));
  Script script = defaults;
  std::string rest = "{";
  for (JsonMembers members(value); members.next();) {
    if (weight != nullptr && members.key_is("weight")) {
      const auto number = members.value().integer();
      if (!number || *number < 0) return fail(broken("a weight is a whole number from 0"));
      *weight = static_cast<std::uint64_t>(*number);
      continue;
    }
    if (rest.size() > 1) rest += ',';
    rest.append("\"").append(members.raw_key()).append("\":").append(members.value().text());
  }
  rest += '}';
  if (auto applied = apply_json(script, JsonValue(rest)); !applied)
    return fail(broken(applied.error().message));
  return script;
}

Result<Milliseconds> milliseconds(JsonValue object, std::string_view key) {
  const auto found = object.member(key);
  const auto number = found ? found->integer() : std::nullopt;
  if (!number || *number < 1) return fail(broken(fmt::format("flap.{} is a number of milliseconds", key)));
  return Milliseconds(*number);
}

template <typename Enum, std::size_t Size>
Result<Enum> word(JsonValue value, std::string_view field,
                  const std::array<std::pair<std::string_view, Enum>, Size>& words) {
  const std::string said = value.string();
  std::string known;
  for (const auto& [name, meaning] : words) {
    if (name == said) return meaning;
    known.append(known.empty() ? "" : ", ").append(name);
  }
  return fail(broken(fmt::format("{} is one of {}, not \"{}\"", field, known, said)));
}

}  // namespace

Result<Scenario::Rule> Scenario::parse_rule(JsonValue value, const Script& defaults) {
  if (!value.is_object()) return fail(broken("a rule is an object"));
  Rule rule;
  for (JsonMembers members(value); members.next();) {
    const JsonValue member = members.value();
    if (members.key_is("model")) {
      rule.model = member.string();
    } else if (members.key_is("key")) {
      rule.key = member.string();
    } else if (members.key_is("endpoint")) {
      rule.endpoint = member.string();
    } else if (members.key_is("attempts")) {
      for (JsonElements items(member); items.next();) {
        QQ_TRY(Script script, parse_script(items.value(), defaults));
        rule.attempts.push_back(std::move(script));
      }
    } else if (members.key_is("then")) {
      constexpr std::array<std::pair<std::string_view, Then>, 3> kWords = {
          {{"normal", Then::Normal}, {"last", Then::Last}, {"repeat", Then::Repeat}}};
      QQ_TRY(rule.then, word(member, "then", kWords));
    } else if (members.key_is("count_by")) {
      constexpr std::array<std::pair<std::string_view, CountBy>, 3> kWords = {
          {{"rule", CountBy::Rule}, {"key", CountBy::Key}, {"model", CountBy::Model}}};
      QQ_TRY(rule.count_by, word(member, "count_by", kWords));
    } else if (members.key_is("mix")) {
      for (JsonElements items(member); items.next();) {
        Weighted weighted;
        QQ_TRY(weighted.script, parse_script(items.value(), defaults, &weighted.weight));
        rule.mix.push_back(std::move(weighted));
      }
    } else if (members.key_is("flap")) {
      QQ_TRY(rule.up, milliseconds(member, "up_ms"));
      QQ_TRY(rule.down, milliseconds(member, "down_ms"));
    } else if (members.key_is("do")) {
      QQ_TRY(rule.always, parse_script(member, defaults));
    } else {
      return fail(
          broken(fmt::format("a rule has no \"{}\"; it has model, key, endpoint, attempts, then, "
                             "count_by, mix, flap and do",
                             members.raw_key())));
    }
  }
  if (rule.down.count() > 0 && !rule.always) return fail(broken("a rule with flap needs do"));
  if (rule.attempts.empty() && rule.mix.empty() && !rule.always) {
    return fail(broken("a rule needs attempts, mix or do"));
  }
  return rule;
}

Result<Scenario> Scenario::parse(std::string_view json) {
  if (const auto error = wire::check_json(json)) {
    return fail(broken(fmt::format("{} at byte {}", error->reason, error->offset)));
  }
  const JsonValue root(json);
  if (!root.is_object()) return fail(broken("the file is one object"));
  Scenario scenario;
  if (const auto defaults = root.member("defaults")) {
    QQ_TRY(scenario.defaults_, parse_script(*defaults, Script{}));
  }
  for (JsonMembers members(root); members.next();) {
    const JsonValue member = members.value();
    if (members.key_is("seed")) {
      const auto seed = member.integer();
      if (!seed) return fail(broken("seed is a whole number"));
      scenario.seed_ = static_cast<std::uint64_t>(*seed);
    } else if (members.key_is("rules")) {
      for (JsonElements items(member); items.next();) {
        QQ_TRY(Rule rule, parse_rule(items.value(), scenario.defaults_));
        scenario.rules_.push_back(std::move(rule));
      }
    } else if (members.key_is("connections")) {
      constexpr std::array<std::pair<std::string_view, ConnectionOrder>, 4> kWords = {
          {{"serve", ConnectionOrder::Serve},
           {"close", ConnectionOrder::Close},
           {"reset", ConnectionOrder::Reset},
           {"stall", ConnectionOrder::Stall}}};
      for (JsonElements items(member); items.next();) {
        QQ_TRY(const ConnectionOrder order, word(items.value(), "connections", kWords));
        scenario.connections_.push_back(order);
      }
    } else if (!members.key_is("defaults")) {
      return fail(broken(
          fmt::format("there is no \"{}\"; use seed, defaults, rules and connections", members.raw_key())));
    }
  }
  scenario.random_ = Random(scenario.seed_);
  return scenario;
}

const Script& Scenario::apply(std::size_t index, const Situation& situation) {
  const Rule& rule = rules_[index];
  if (rule.down.count() > 0) {
    const auto phase =
        std::chrono::duration_cast<Milliseconds>(situation.now - *started_) % (rule.up + rule.down);
    return phase < rule.up ? defaults_ : *rule.always;
  }
  if (!rule.mix.empty()) {
    std::uint64_t total = 0;
    for (const Weighted& weighted : rule.mix) total += weighted.weight;
    std::uint64_t drawn = random_.below(total > 0 ? total : 1);
    for (const Weighted& weighted : rule.mix) {
      if (drawn < weighted.weight) return weighted.script;
      drawn -= weighted.weight;
    }
    return defaults_;
  }
  if (!rule.attempts.empty()) {
    std::string counter = std::to_string(index);
    if (rule.count_by == CountBy::Key) counter.append("/").append(situation.key);
    if (rule.count_by == CountBy::Model) counter.append("/").append(situation.model);
    const std::size_t attempt = counts_[counter]++;
    if (attempt < rule.attempts.size()) return rule.attempts[attempt];
    if (rule.then == Then::Repeat) return rule.attempts[attempt % rule.attempts.size()];
    if (rule.then == Then::Last) return rule.attempts.back();
    return defaults_;
  }
  return *rule.always;
}

Script Scenario::choose(const Situation& situation) {
  if (!started_) started_ = situation.now;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    if (!matches(rule.model, situation.model) || !matches(rule.key, situation.key)) continue;
    if (!rule.endpoint.empty() && rule.endpoint != to_string(situation.route)) continue;
    return apply(i, situation);
  }
  return defaults_;
}

ConnectionOrder Scenario::next_connection() noexcept {
  return connection_ < connections_.size() ? connections_[connection_++] : ConnectionOrder::Serve;
}

void Scenario::restart() {
  random_ = Random(seed_);
  connection_ = 0;
  counts_.clear();
  started_.reset();
}

}  // namespace qq::simulator
