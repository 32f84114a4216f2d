#include "app/demo_text.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "wire/json.h"

namespace qq::app {
namespace {

// One cannot connect to "all interfaces", but to the loopback they hold.
std::string site_of(const net::Address& address) {
  const std::string host = address.host_text();
  if (host == "0.0.0.0") return fmt::format("http://127.0.0.1:{}", address.port());
  if (host == "::") return fmt::format("http://[::1]:{}", address.port());
  return "http://" + address.text();
}

std::vector<std::string> all_models(const DemoConfig& demo) {
  std::vector<std::string> names = demo.simulated_models;
  names.insert(names.end(), demo.real_models.begin(), demo.real_models.end());
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// `options` of curl, `key_header` with the key in it, `fields` in front of the messages.
std::string curl_line(std::string_view options, const std::string& url, const std::string& key_header,
                      std::string_view fields) {
  return fmt::format(
      "curl {}{} -H '{}' -H 'Content-Type: application/json' "
      "-d '{{{},\"messages\":[{{\"role\":\"user\",\"content\":\"Hello! 你好！\"}}]}}'",
      options, url, key_header, fields);
}

void append_json_strings(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  bool first = true;
  for (const std::string& text : texts) {
    if (!std::exchange(first, false)) out += ',';
    wire::append_json_string(out, text);
  }
  out += ']';
}

}  // namespace

std::string demo_json(const DemoPlace& place, const DemoConfig& demo) {
  const std::string admin_url = site_of(place.admin);
  std::string out = R"({"base_url":)";
  wire::append_json_string(out, site_of(place.api) + "/v1");
  out += R"(,"api_key":)";
  wire::append_json_string(out, place.key);
  out += R"(,"models":)";
  append_json_strings(out, all_models(demo));
  out += R"(,"missing":)";
  append_json_strings(out, demo.missing);
  out += R"(,"admin_url":)";
  wire::append_json_string(out, admin_url);
  out += R"(,"metrics_url":)";
  wire::append_json_string(out, admin_url + "/metrics");
  out += "}\n";
  return out;
}

std::string demo_text(const DemoPlace& place, const DemoConfig& demo) {
  const std::string site = site_of(place.api);
  const std::string chat = site + "/v1/chat/completions";
  const std::string bearer = "Authorization: Bearer " + place.key;
  std::string out = "\nQueqiao 鹊桥 is running with simulated providers.";
  if (!place.api.is_loopback()) {
    out += fmt::format(
        "\nWARNING: it listens on {} without TLS: other machines can connect, and all that keeps them "
        "out is the key.",
        place.api.text());
  } else if (demo.real_models.empty()) {
    out += " Nothing leaves this machine.";
  } else {
    out += " Nothing leaves this machine but what you send to the real models.";
  }
  out += fmt::format(
      "\n\n  base URL  {0}/v1 for OpenAI's SDKs, {0} for Anthropic's and Google's\n"
      "  API key   {1}\n  models    {2}\n  metrics   {3}/metrics\n",
      site, place.key, joined(all_models(demo)), site_of(place.admin));
  for (const std::string& line : demo.missing) out += fmt::format("  missing   {}\n", line);
  out += fmt::format(
      "\nTry it:\n\n  {}\n\n"
      "Streamed, with a provider that is down (the header x-queqiao-attempts tells):\n\n  {}\n\n"
      "In Anthropic's words:\n\n  {}\n\n",
      curl_line("", chat, bearer, R"("model":"sim-chat")"),
      curl_line("-iN ", chat, bearer, R"("model":"sim-fallback","stream":true)"),
      curl_line("", site + "/v1/messages", "x-api-key: " + place.key,
                R"("model":"sim-chat","max_tokens":256)"));
  out +=
      "A real provider: stop this, set its key (OPENAI_API_KEY, ANTHROPIC_API_KEY, DEEPSEEK_API_KEY, ...) "
      "in\n"
      "the environment and start again; its models join the list. For a set-up that lasts, write a\n"
      "configuration (examples/openai.yaml) and run `queqiao serve --config FILE`. Stop with Ctrl-C.\n\n";
  return out;
}

}  // namespace qq::app
