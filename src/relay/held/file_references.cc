#include "relay/held/file_references.h"

#include <fmt/format.h>

#include <algorithm>

namespace qq::relay {
namespace {

// Whatever is sent as JSON may reach a provider as it is: an endpoint that knows no files is no exception.
bool is_sent_as_json(const RequestState& state) noexcept {
  const NativeHead* const native = state.incoming.native.get();
  return !state.incoming.realtime && (native == nullptr || native->form_type.empty());
}

Error bad_reference(std::string message) {
  Error error = Error::client(ErrorKind::InvalidRequest, std::move(message), "file_id");
  error.type = "invalid_request_error";
  return error;
}

}  // namespace

bool may_refer_to_files(const RequestState& state) noexcept {
  const HoldingStore* const store = state.services.holdings;
  return store != nullptr && store->may_hold_any() && is_sent_as_json(state) &&
         may_name_files(state.incoming.body);
}

Task<Result<std::string>> account_of_files(RequestState& state, HoldingKind kind, FileIds ids) {
  if (ids.size() > kFileIdsMax) {
    co_return fail(
        bad_reference(fmt::format("the request names more than {} files; name fewer", kFileIdsMax)));
  }
  std::string account;
  for (const std::string& id : ids) {
    const StoreCall call(state.services.loop, state.incoming.key->owner, state.services.loop.wall_now(),
                         state.scope());
    auto holder = co_await state.services.holdings->holder(call, kind, id);
    if (!holder) co_return fail(std::move(holder).error());
    if (holder->who == Holder::Who::Others) {
      Error error = holding_not_found(kind, id);
      error.param = "file_id";
      co_return fail(std::move(error));
    }
    if (holder->who == Holder::Who::Nobody) continue;
    if (!account.empty() && account != holder->account) {
      co_return fail(bad_reference(
          "the request names files that are held by different accounts; no provider can read them all"));
    }
    account = std::move(holder->account);
  }
  co_return account;
}

Task<Result<>> pin_to_files(RequestState& state) {
  FileIds ids;
  const bool is_anthropics = model::dialect_of(state.incoming.endpoint) == model::Dialect::Anthropic;
  add_file_ids(wire::JsonValue(state.incoming.body), is_anthropics ? Inputs::OfTools : Inputs::Read, ids);
  if (ids.empty()) co_return Result<>();
  const HoldingKind kind = is_anthropics ? HoldingKind::MessageFile : HoldingKind::File;
  auto account = co_await account_of_files(state, kind, std::move(ids));
  if (!account) co_return fail(std::move(account).error());
  if (account->empty()) co_return Result<>();
  std::erase_if(state.plan.targets,
                [&](const model::Target* target) { return target->account_name != *account; });
  if (state.plan.targets.empty()) {
    co_return fail(
        bad_reference("the file is held by an account that this model is not at: upload it for this model "
                      "(x-queqiao-model)"));
  }
  co_return Result<>();
}

}  // namespace qq::relay
