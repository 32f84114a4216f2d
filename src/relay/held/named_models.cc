#include "relay/held/named_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "relay/held/only_member.h"

namespace qq::relay {
namespace {

Error bad_batch(std::string message, std::string param) {
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(message), std::move(param));
  error.type = "invalid_request_error";
  return error;
}

Error too_many_requests() {
  return bad_batch(fmt::format("a batch may have {} requests; split it", NamedModels::kRequestsMax), {});
}

Error not_json(std::string_view what, const wire::JsonError& wrong) {
  return bad_batch(fmt::format("{} is no JSON: {} at byte {}", what, wrong.reason, wrong.offset), {});
}

}  // namespace

// "line 3", "requests[2]"
std::string NamedModels::Where::text() const {
  return of == Of::Lines ? fmt::format("line {}", index + 1) : fmt::format("requests[{}]", index);
}

// `request` was checked.
Result<> NamedModels::take(wire::JsonValue request, Where where) {
  if (requests_++ == kRequestsMax) return fail(too_many_requests());
  const bool is_line = where.of == Where::Of::Lines;
  const std::string_view member = is_line ? "body" : "params";
  if (may_name_files(request.text())) {
    add_file_ids(request, is_line ? Inputs::Read : Inputs::OfTools, file_ids_);
  }
  std::optional<wire::JsonValue> asked;
  if (!only_member(request, member, asked) || !asked || !asked->is_object()) {
    return fail(bad_batch(
        fmt::format("{}: `{}` must be an object, the request itself, and given once", where.text(), member),
        where.text()));
  }
  std::optional<wire::JsonValue> model;
  if (!only_member(*asked, "model", model)) {
    return fail(
        bad_batch(fmt::format("{}: `{}.model` must be given once and written plainly", where.text(), member),
                  where.text()));
  }
  if (!model && is_line) return {};
  if (!model || !model->is_string() || model->is_blank_string()) {
    return fail(
        bad_batch(fmt::format("{}: `{}.model` must be the name of a model or route", where.text(), member),
                  where.text()));
  }
  std::string name = model->string();
  // Most batches have one model only.
  auto known = std::ranges::find(names_, name);
  if (known == names_.end()) {
    if (names_.size() == kNamesMax) {
      return fail(bad_batch(fmt::format("a batch may name {} models; split it", kNamesMax), "model"));
    }
    known = names_.insert(names_.end(), std::move(name));
  }
  places_.push_back({model->text(), static_cast<std::uint32_t>(known - names_.begin())});
  return {};
}

Result<NamedModels> NamedModels::in_lines(std::string_view lines, const wire::JsonLimits& limits) {
  NamedModels named;
  for (std::size_t index = 0; !lines.empty(); ++index) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const wire::JsonValue request(line);
    if (request.text().empty()) continue;
    const Where where{Where::Of::Lines, index};
    if (const auto wrong = wire::check_json(line, limits)) return fail(not_json(where.text(), *wrong));
    QQ_CHECK(named.take(request, where));
  }
  return named;
}

Result<NamedModels> NamedModels::in_requests(std::string_view body, const wire::JsonLimits& limits) {
  if (const auto wrong = wire::check_json(body, limits)) return fail(not_json("the request's body", *wrong));
  std::optional<wire::JsonValue> requests;
  if (!only_member(wire::JsonValue(body), "requests", requests) || !requests || !requests->is_array()) {
    return fail(bad_batch("`requests` must be an array of requests, and given once", "requests"));
  }
  NamedModels named;
  std::size_t index = 0;
  for (wire::JsonElements elements(*requests); elements.next(); ++index) {
    QQ_CHECK(named.take(elements.value(), {Where::Of::Requests, index}));
  }
  if (index == 0) return fail(bad_batch("`requests` is empty; give at least one", "requests"));
  return named;
}

std::string NamedModels::renamed(std::string_view text, const std::vector<std::string>& others) const {
  if (others == names_) return {};
  std::vector<std::string> written(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) wire::append_json_string(written[i], others[i]);
  std::string out;
  out.reserve(text.size() + places_.size() * 8);
  const char* from = text.data();
  for (const Place& place : places_) {
    out.append(from, place.value.data()).append(written[place.name]);
    from = place.value.data() + place.value.size();
  }
  out.append(from, text.data() + text.size());
  return out;
}

}  // namespace qq::relay
