#include "simulator/provider/other_endpoints.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "base/base64.h"
#include "dialects/gemini/count_tokens.h"
#include "simulator/provider/chat.h"
#include "simulator/provider/vectors.h"
#include "simulator/provider/vendor_errors.h"
#include "wire/json_writer.h"

namespace qq::simulator {
namespace {

constexpr std::array<std::string_view, 10> kModels = {
    "sim-gpt",      "sim-gpt-mini", "sim-claude",    "sim-gemini",     "sim-gemini-3",
    "sim-reasoner", "sim-vision",   "sim-embedding", "sim-moderation", "sim-image"};

constexpr std::array<std::string_view, 13> kCategories = {"harassment",
                                                          "harassment/threatening",
                                                          "hate",
                                                          "hate/threatening",
                                                          "illicit",
                                                          "illicit/violent",
                                                          "self-harm",
                                                          "self-harm/intent",
                                                          "self-harm/instructions",
                                                          "sexual",
                                                          "sexual/minors",
                                                          "violence",
                                                          "violence/graphic"};

std::uint64_t dimensions_of(const Asked& asked) {
  if (const auto found = asked.body.member("dimensions")) {
    const std::int64_t wanted = found->integer().value_or(0);
    if (wanted > 0) return static_cast<std::uint64_t>(std::min<std::int64_t>(wanted, 16'384));
  }
  if (asked.model.find("3-large") != std::string::npos) return 3072;
  if (asked.model.find("3-small") != std::string::npos || asked.model.find("ada-002") != std::string::npos) {
    return 1536;
  }
  return 256;
}

std::string little_endian(std::span<const float> vector) {
  std::string bytes;
  bytes.reserve(vector.size() * 4);
  for (const float value : vector) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xffU);
  }
  return bytes;
}

void append_big_endian(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
}

void append_png_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_big_endian(out, static_cast<std::uint32_t>(data.size()));
  std::string checked(type);
  checked += data;
  out += checked;
  append_big_endian(out, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                                          static_cast<uInt>(checked.size()))));
}

// 8x8 pixels of one colour (W3C PNG, third edition).
std::string tiny_png(std::uint64_t hash) {
  constexpr std::size_t kSide = 8;
  std::string rows;
  for (std::size_t y = 0; y < kSide; ++y) {
    rows += '\0';  // no filter
    for (std::size_t x = 0; x < kSide; ++x) {
      for (unsigned shift = 0; shift < 24; shift += 8) rows += static_cast<char>(hash >> shift & 0xffU);
    }
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
           static_cast<uLong>(rows.size()));
  packed.resize(size);
  std::string header;
  append_big_endian(header, kSide);
  append_big_endian(header, kSide);
  header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, RGB
  std::string png = "\x89PNG\r\n\x1a\n";
  append_png_chunk(png, "IHDR", header);
  append_png_chunk(png, "IDAT", packed);
  append_png_chunk(png, "IEND", {});
  return png;
}

void append_model(std::string& out, std::string_view id, ListForm form) {
  wire::JsonWriter json(out);
  json.begin_object();
  switch (form) {
    case ListForm::Anthropic:
      json.member("type", "model").member("id", id).member("display_name", id);
      json.member("created_at", "2026-01-01T00:00:00Z");
      break;
    case ListForm::Ollama:
      json.member("name", id).member("model", id).member("modified_at", "2026-01-01T00:00:00Z");
      json.member("size", 1).member("digest", stable_id("", stable_hash(id), 12));
      break;
    default:
      json.member("id", id).member("object", "model").member("created", kCreated);
      json.member("owned_by", "simulator");
      break;
  }
  json.end_object();
}

}  // namespace

Reply embeddings_reply(const Asked& asked, const Script& script) {
  const std::uint64_t dimensions = dimensions_of(asked);
  const auto format = asked.body.member("encoding_format");
  const bool base64 = format && format->string() == "base64";
  std::string out = "{\"object\":\"list\",\"data\":[";
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < asked.inputs.size(); ++i) {
    bytes += asked.inputs[i].size();
    const std::vector<float> vector = unit_vector(asked.inputs[i], dimensions);
    fmt::format_to(std::back_inserter(out),
                   "{}{{\"object\":\"embedding\",\"index\":{},\"embedding\":", i > 0 ? "," : "", i);
    if (base64) {
      out.append("\"").append(to_base64(little_endian(vector))).append("\"");
    } else {
      out += numbers_json(vector);
    }
    out += '}';
  }
  out += "],\"model\":";
  wire::append_json_string(out, asked.model);
  if (!script.faults.has(Fault::UsageMissing)) {
    const std::int64_t tokens = script.faults.has(Fault::UsageNegative) ? -5 : prompt_tokens(bytes);
    fmt::format_to(std::back_inserter(out), ",\"usage\":{{\"prompt_tokens\":{0},\"total_tokens\":{0}}}",
                   tokens);
  }
  out += '}';
  Reply reply = Reply::json(200, std::move(out));
  reply.what = "embeddings";
  return reply;
}

Reply compact_reply(const Asked& asked) {
  const std::int64_t tokens = prompt_tokens(asked.prompt_bytes);
  std::string out = fmt::format(
      R"({{"id":"{}","object":"response.compaction","created_at":{},"output":[{{"id":"{}","type":"message",)"
      R"("role":"user","status":"completed","content":[{{"type":"input_text","text":)",
      stable_id("resp_", asked.hash), kCreated, stable_id("msg_", asked.hash));
  wire::append_json_string(out, asked.text);
  fmt::format_to(
      std::back_inserter(out),
      R"(}}]}},{{"id":"{}","type":"compaction","encrypted_content":"{}"}}],)"
      R"("usage":{{"input_tokens":{},"input_tokens_details":{{"cached_tokens":0}},"output_tokens":8,)"
      R"("output_tokens_details":{{"reasoning_tokens":0}},"total_tokens":{}}}}})",
      stable_id("cmp_", asked.hash), stable_id("sim-compacted-", asked.hash), tokens, tokens + 8);
  Reply reply = Reply::json(200, std::move(out));
  reply.what = "compaction";
  return reply;
}

Reply moderations_reply(const Asked& asked) {
  std::string out = fmt::format("{{\"id\":\"{}\",\"model\":", stable_id("modr-", asked.hash));
  wire::append_json_string(out, asked.model.empty() ? std::string_view("sim-moderation") : asked.model);
  out += ",\"results\":[";
  for (std::size_t i = 0; i < asked.inputs.size(); ++i) {
    const std::string& input = asked.inputs[i];
    const bool violent = input.find("kill") != std::string::npos ||
                         input.find("violence") != std::string::npos ||
                         input.find("暴力") != std::string::npos;
    fmt::format_to(std::back_inserter(out), "{}{{\"flagged\":{},\"categories\":{{", i > 0 ? "," : "",
                   violent);
    for (std::size_t j = 0; j < kCategories.size(); ++j) {
      fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", j > 0 ? "," : "", kCategories[j],
                     violent && kCategories[j] == "violence");
    }
    out += "},\"category_scores\":{";
    for (std::size_t j = 0; j < kCategories.size(); ++j) {
      fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", j > 0 ? "," : "", kCategories[j],
                     violent && kCategories[j] == "violence" ? 0.97 : 0.0001);
    }
    out += "}}";
  }
  out += "]}";
  Reply reply = Reply::json(200, std::move(out));
  reply.what = "moderations";
  return reply;
}

Reply images_reply(const Asked& asked) {
  const auto format = asked.body.member("response_format");
  const bool link = format && format->string() == "url";
  std::string out = fmt::format("{{\"created\":{},\"data\":[", kCreated);
  for (unsigned i = 0; i < asked.choices; ++i) {
    if (i > 0) out += ',';
    if (link) {
      fmt::format_to(std::back_inserter(out), "{{\"url\":\"https://images.example/{}.png\"}}",
                     stable_id("img-", asked.hash + i));
    } else {
      fmt::format_to(std::back_inserter(out), "{{\"b64_json\":\"{}\"}}", to_base64(tiny_png(asked.hash + i)));
    }
  }
  const std::int64_t tokens = prompt_tokens(asked.prompt_bytes);
  fmt::format_to(std::back_inserter(out),
                 "],\"usage\":{{\"input_tokens\":{0},\"input_tokens_details\":{{\"text_tokens\":{0},"
                 "\"image_tokens\":0}},\"output_tokens\":{1},\"total_tokens\":{2}}}}}",
                 tokens, 64 * asked.choices, tokens + 64 * asked.choices);
  Reply reply = Reply::json(200, std::move(out));
  reply.what = "images";
  return reply;
}

Reply models_reply(ListForm form) {
  std::string out;
  if (form == ListForm::Google) {
    std::array<model::ListedModel, kModels.size()> listed{};
    for (std::size_t i = 0; i < kModels.size(); ++i) listed[i].name = kModels[i];
    out = dialects::gemini::encode_models(listed);
  } else {
    out = form == ListForm::Ollama ? "{\"models\":[" : "{\"object\":\"list\",\"data\":[";
    if (form == ListForm::Anthropic) out = "{\"data\":[";
    for (std::size_t i = 0; i < kModels.size(); ++i) {
      if (i > 0) out += ',';
      append_model(out, kModels[i], form);
    }
    out += ']';
    if (form == ListForm::Anthropic) {
      fmt::format_to(std::back_inserter(out), R"(,"has_more":false,"first_id":"{}","last_id":"{}")",
                     kModels.front(), kModels.back());
    }
    out += '}';
  }
  Reply reply = Reply::json(200, std::move(out));
  reply.what = "models";
  return reply;
}

Reply model_reply(std::string_view id, ListForm form) {
  if (!id.starts_with("sim-") && !id.starts_with("rec:")) {
    VendorError error{.status = 404,
                      .code = "model_not_found",
                      .param = "model",
                      .message = fmt::format("The model '{}' does not exist", id)};
    if (form == ListForm::Anthropic) error.vendor = "anthropic";
    if (form == ListForm::Google) error.vendor = "gemini";
    return error_reply(error);
  }
  std::string out;
  if (form == ListForm::Google) {
    model::ListedModel listed;
    listed.name = id;
    out = dialects::gemini::encode_model(listed);
  } else {
    append_model(out, id, form);
  }
  Reply reply = Reply::json(200, std::move(out));
  reply.what = "model";
  return reply;
}

}  // namespace qq::simulator
