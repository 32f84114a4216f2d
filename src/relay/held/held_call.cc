#include "relay/held/held_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "relay/called.h"
#include "relay/path_form.h"
#include "wire/multipart.h"

namespace qq::relay {
namespace {

using Verb = HeldCall::Verb;

struct HeldPath {
  std::string_view method;
  std::string_view path;  // {} stands for one segment
  Verb verb;
  HoldingKind kind;
};
constexpr std::array kHeldPaths = {
    HeldPath{"POST", "/v1/files", Verb::Create, HoldingKind::File},
    HeldPath{"GET", "/v1/files", Verb::List, HoldingKind::File},
    HeldPath{"GET", "/v1/files/{}", Verb::Get, HoldingKind::File},
    HeldPath{"DELETE", "/v1/files/{}", Verb::Delete, HoldingKind::File},
    HeldPath{"GET", "/v1/files/{}/content", Verb::Content, HoldingKind::File},
    HeldPath{"POST", "/v1/batches", Verb::Create, HoldingKind::Batch},
    HeldPath{"GET", "/v1/batches", Verb::List, HoldingKind::Batch},
    HeldPath{"GET", "/v1/batches/{}", Verb::Get, HoldingKind::Batch},
    HeldPath{"POST", "/v1/batches/{}/cancel", Verb::Cancel, HoldingKind::Batch},
    HeldPath{"POST", "/v1/messages/batches", Verb::Create, HoldingKind::MessageBatch},
    HeldPath{"GET", "/v1/messages/batches", Verb::List, HoldingKind::MessageBatch},
    HeldPath{"GET", "/v1/messages/batches/{}", Verb::Get, HoldingKind::MessageBatch},
    HeldPath{"DELETE", "/v1/messages/batches/{}", Verb::Delete, HoldingKind::MessageBatch},
    HeldPath{"POST", "/v1/messages/batches/{}/cancel", Verb::Cancel, HoldingKind::MessageBatch},
    HeldPath{"GET", "/v1/messages/batches/{}/results", Verb::Content, HoldingKind::MessageBatch},
};

bool is_anthropics(const wire::RequestHead& head) noexcept {
  return head.fields.find("anthropic-version") || head.fields.find("anthropic-beta");
}

// How many a page has: as its API has it, but that a page of files, which OpenAI lets have ten thousand, is
// no longer than a thousand here.
struct PageLimits {
  std::size_t usual;
  std::size_t most;
};
PageLimits page_limits(HoldingKind kind) noexcept {
  switch (kind) {
    case HoldingKind::File: return {10'000, 10'000};
    case HoldingKind::Batch: return {20, 100};
    default: return {20, 1'000};
  }
}
constexpr std::size_t kPageMax = 1'000;

Error bad_held_query(std::string_view name, std::string_view why) {
  Error error = Error::client(ErrorKind::InvalidRequest, fmt::format("{} {}", name, why), std::string(name));
  error.type = "invalid_request_error";
  return error;
}

Result<> take_parameter(std::string_view name, std::string_view value, HeldCall& call) {
  const bool is_openais = call.kind == HoldingKind::File || call.kind == HoldingKind::Batch;
  HoldingQuery& query = call.query;
  if (name == "limit") {
    const std::size_t most = page_limits(call.kind).most;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), query.limit);
    const bool whole = failed == std::errc{} && end == value.data() + value.size();
    if (!whole || query.limit < 1 || query.limit > most) {
      return fail(bad_held_query(name, fmt::format("must be a number from 1 to {}", most)));
    }
  } else if (name == "order" && call.kind == HoldingKind::File) {
    if (value != "asc" && value != "desc") return fail(bad_held_query(name, "must be asc or desc"));
    query.order = value == "asc" ? HoldingQuery::Order::OldestFirst : HoldingQuery::Order::NewestFirst;
  } else if (name == "purpose" && call.kind == HoldingKind::File) {
    if (!is_object_id(value)) return fail(bad_held_query(name, "must be one of a file's purposes"));
    query.purpose = value;
  } else if (is_openais ? name == "after" : name == "after_id" || name == "before_id") {
    if (!is_object_id(value)) return fail(bad_held_query(name, "must be the id of an object of the list"));
    if (!query.after.empty()) return fail(bad_held_query(name, "is given beside another; give one of them"));
    query.after = value;
    call.backwards = name == "before_id";
  }
  return {};
}

Result<> read_held_query(std::string_view query, HeldCall& call) {
  call.query.kind = call.kind;
  call.query.limit = page_limits(call.kind).usual;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    QQ_CHECK(take_parameter(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())), call));
  }
  call.query.limit = std::min(call.query.limit, kPageMax);
  return {};
}

Result<HeldCall> read_held(const HeldPath& form, std::string_view id, const wire::RequestHead& head) {
  HeldCall call;
  call.verb = form.verb;
  call.kind = form.kind;
  if (form.kind == HoldingKind::File && is_anthropics(head)) call.kind = HoldingKind::MessageFile;
  call.method = form.method;
  call.path = form.path;
  call.id = id;
  if (form.verb == Verb::List) QQ_CHECK(read_held_query(head.query(), call));
  if (form.verb != Verb::Create) return call;
  if (const auto model = head.fields.find("x-queqiao-model")) call.model = *model;
  const auto type = head.fields.find("content-type");
  if (type && wire::is_form_type(*type)) call.form_type = *type;
  return call;
}

}  // namespace

model::Dialect dialect_of_head(const wire::RequestHead& head) noexcept {
  const std::string_view path = head.path();
  const bool is_files = path == "/v1/files" || path.starts_with("/v1/files/");
  if (is_files && is_anthropics(head)) return model::Dialect::Anthropic;
  return dialect_of_path(path);
}

std::string_view held_methods(std::string_view path) noexcept {
  std::array<std::string_view, 2> segments;
  const auto has = [&](std::string_view method) {
    return std::ranges::any_of(kHeldPaths, [&](const HeldPath& form) {
      return form.method == method && matches_form(form.path, path, segments);
    });
  };
  if (has("GET")) return has("POST") ? "GET, POST" : (has("DELETE") ? "GET, DELETE" : "GET");
  return has("POST") ? "POST" : "";
}

std::optional<Result<HeldCall>> held_call(const wire::RequestHead& head) {
  for (const HeldPath& form : kHeldPaths) {
    std::array<std::string_view, 2> segments;
    if (head.method == form.method && matches_form(form.path, head.path(), segments)) {
      return read_held(form, segments[0], head);
    }
  }
  return std::nullopt;
}

}  // namespace qq::relay
