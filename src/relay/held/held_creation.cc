#include "relay/held/held_creation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "relay/held/file_references.h"
#include "relay/held/held_call.h"
#include "relay/held/only_member.h"
#include "wire/json_writer.h"

namespace qq::relay {
namespace {

wire::JsonLimits json_limits_of(const RequestState& state) {
  wire::JsonLimits limits;
  limits.nodes_max = state.snapshot.limits.json_nodes_max;
  limits.depth_max = state.snapshot.limits.json_depth_max;
  return limits;
}

// By what the caller says, what the requests of a batch name, or what there is.
Result<Targets> first_targets(RequestState& state, std::string_view said, const NamedModels& models) {
  if (!said.empty()) return targets_of_model(state, said);
  if (!models.names().empty()) return targets_of_model(state, models.names().front());
  return targets_of_only_account(state);
}

// The models' and the files' account is the batch's.
Task<Result<>> narrow(RequestState& state, Creation& creation, HoldingKind files) {
  QQ_CO_CHECK(keep_those_with(state, creation.models.names(), creation.targets));
  FileIds ids = creation.models.file_ids();
  auto account = co_await account_of_files(state, files, std::move(ids));
  if (!account) co_return fail(std::move(account).error());
  if (account->empty()) co_return Result<>();
  std::erase_if(creation.targets,
                [&](const model::Target* target) { return target->account_name != *account; });
  if (creation.targets.empty()) {
    co_return fail(Error::client(
        ErrorKind::InvalidRequest,
        "the batch names files that another account holds than the one of its models", "file_id"));
  }
  co_return Result<>();
}

// As Holding::models has them.
std::string models_text(const std::vector<std::string>& names) {
  std::string out;
  wire::JsonWriter json(out);
  json.begin_array();
  for (const std::string& name : names) json.string(name);
  json.end_array();
  return out;
}

Task<Result<Creation>> plan_file(RequestState& state) {
  const HeldCall& call = *state.incoming.held;
  Creation creation;
  QQ_CO_TRY(creation.form, read_held_form(call.kind, call.form_type, state.incoming.body));
  const bool is_batch = call.kind == HoldingKind::File && creation.form.purpose == "batch";
  if (is_batch) {
    creation.models_in = creation.form.file;
    QQ_CO_TRY(creation.models, NamedModels::in_lines(creation.models_in, json_limits_of(state)));
  }
  std::string_view said = call.model;
  if (said.empty()) said = creation.form.model;
  QQ_CO_TRY(creation.targets, first_targets(state, said, creation.models));
  if (is_batch) {
    QQ_CO_CHECK(co_await narrow(state, creation, HoldingKind::File));
    creation.known_models = models_text(creation.models.names());
  }
  co_return creation;
}

// A batch runs what its file names, so the file must have been looked into, and its models be this key's: one
// owner's keys may differ in that.
Result<> check_batch_file(const RequestState& state, const Holding& file) {
  if (file.models.empty()) {
    return fail(Error::client(ErrorKind::InvalidRequest,
                              "`input_file_id` must be of a file that was uploaded here with the purpose "
                              "\"batch\"; upload it again as such",
                              "input_file_id"));
  }
  const wire::JsonValue models(file.models);
  for (wire::JsonElements names(models); names.next();) {
    if (admission::may_use(*state.incoming.key, names.value().string())) continue;
    return fail(Error::client(
        ErrorKind::InvalidRequest,
        fmt::format("the file of `input_file_id` names {}, which this key may not use", names.value().text()),
        "input_file_id"));
  }
  return {};
}

// A batch's model is that of its file's lines; some providers would take another from here.
Result<> check_names_no_model(wire::JsonValue body) {
  for (wire::JsonMembers members(body); members.next();) {
    for (const std::string_view name : {"model", "model_id"}) {
      if (!key_resembles(members, name)) continue;
      return fail(
          Error::client(ErrorKind::InvalidRequest,
                        fmt::format("`{}` is not possible here: each line of the file names its own", name),
                        std::string(name)));
    }
  }
  return {};
}

// It is where its file is.
Task<Result<Creation>> plan_batch(RequestState& state) {
  const std::string_view body = state.incoming.body;
  if (const auto wrong = wire::check_json(body, json_limits_of(state))) {
    co_return fail(Error::client(ErrorKind::InvalidRequest,
                                 std::string("the request's body is no JSON: ") + wrong->reason));
  }
  QQ_CO_CHECK(check_names_no_model(wire::JsonValue(body)));
  std::optional<wire::JsonValue> file;
  if (!only_member(wire::JsonValue(body), "input_file_id", file) || !file || !file->is_string()) {
    co_return fail(Error::client(ErrorKind::InvalidRequest,
                                 "`input_file_id` must be the id of a file, and given once",
                                 "input_file_id"));
  }
  const StoreCall call(state.services.loop, state.incoming.key->owner, state.services.loop.wall_now(),
                       state.scope());
  auto holding = co_await state.services.holdings->get(call, HoldingKind::File, file->string());
  if (!holding) {
    Error error = std::move(holding).error();
    if (error.kind == ErrorKind::NotFound) error.param = "input_file_id";
    co_return fail(std::move(error));
  }
  QQ_CO_CHECK(check_batch_file(state, *holding));
  Creation creation;
  const model::Target* const target = target_of_account(state, holding->account);
  if (target == nullptr) {
    co_return fail(
        Error::gateway(ErrorKind::NoTarget,
                       "the account that holds this file makes no batches, or is not configured here "
                       "any more; upload the file again"));
  }
  creation.targets.push_back(target);
  co_return creation;
}

Task<Result<Creation>> plan_message_batch(RequestState& state) {
  Creation creation;
  creation.models_in = state.incoming.body;
  QQ_CO_TRY(creation.models, NamedModels::in_requests(creation.models_in, json_limits_of(state)));
  QQ_CO_TRY(creation.targets, first_targets(state, state.incoming.held->model, creation.models));
  QQ_CO_CHECK(co_await narrow(state, creation, HoldingKind::MessageFile));
  co_return creation;
}

}  // namespace

Task<Result<Creation>> plan_creation(RequestState& state) {
  switch (state.incoming.held->kind) {
    case HoldingKind::Batch: return plan_batch(state);
    case HoldingKind::MessageBatch: return plan_message_batch(state);
    case HoldingKind::File:
    case HoldingKind::MessageFile: break;
  }
  return plan_file(state);
}

HeldQuestion question_for(const RequestState& state, const Creation& creation, const model::Target& target,
                          std::string& own) {
  const std::string_view body = state.incoming.body;
  HeldQuestion question;
  question.method = UpstreamCall::Method::Post;
  question.creates = true;
  question.path = held_path(state, target, {});
  own = creation.models.renamed(creation.models_in, upstream_names(state, creation.models.names(), target));
  const std::string_view named = own.empty() ? creation.models_in : std::string_view(own);
  const HoldingKind kind = state.incoming.held->kind;
  if (kind == HoldingKind::File || kind == HoldingKind::MessageFile) {
    question.content_type = state.incoming.held->form_type;
    question.pieces =
        form_pieces(creation.form, body, creation.models_in.empty() ? creation.form.file : named);
  } else {
    question.pieces.push_back(creation.models_in.empty() ? body : named);
  }
  return question;
}

}  // namespace qq::relay
