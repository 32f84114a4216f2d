#include "relay/held/serve_held.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "providers/percent.h"
#include "relay/client_words.h"
#include "relay/delivery.h"
#include "relay/held/account_choice.h"
#include "relay/held/held_creation.h"
#include "relay/held/held_exchange.h"
#include "relay/held/held_object.h"
#include "relay/held/held_reply.h"
#include "relay/last_words.h"
#include "relay/reply_head.h"
#include "relay/settle.h"

namespace qq::relay {
namespace {

using HeldVerb = HeldCall::Verb;

// For the store. The client has the request's own time to take what it is told.
constexpr Milliseconds kHoldingWait{5'000};
// For the provider, to take back what cannot be noted: neither the client nor the request's deadline ends it.
constexpr Milliseconds kTakingBack{15'000};
// Of an object, kept for lists: they have some hundred bytes, and metadata that is a caller's.
constexpr std::size_t kObjectKept = 64U << 10U;
// Of a list: so many batches that were not over are asked for again, one after another, and for so long.
// Whoever waits for a batch by listing waits for the newest.
constexpr int kRefreshedMost = 8;
constexpr Milliseconds kRefreshing{3'000};

// A text in which names were replaced stands beside the body while it is sent.
Error no_room_for_names() {
  Error error = Error::gateway(
      ErrorKind::Saturated,
      "too many large requests are in flight (limits.bodies_in_flight_max); try again shortly");
  error.retry_after = Milliseconds{1'000};
  return error;
}

// One call of a client's. What is answered is a document, or nothing where the reply has gone out already.
class HeldServing {
 public:
  using Answer = std::optional<std::string>;

  explicit HeldServing(RequestState& state)
      : state_(state), call_(*state.incoming.held), store_(*state.services.holdings) {}

  Task<Result<Answer>> answer() {
    switch (call_.verb) {
      case HeldVerb::Create: return create();
      case HeldVerb::List: return list();
      case HeldVerb::Get: return get();
      case HeldVerb::Content: return content();
      case HeldVerb::Delete: return remove();
      case HeldVerb::Cancel: return cancel();
    }
    std::unreachable();
  }

 private:
  // What is asked for its own sake ends with the client; what notes something that was done does not.
  [[nodiscard]] StoreCall asking() const {
    return {loop(), owner(), loop().wall_now(), state_.scope().until(loop().now() + kHoldingWait)};
  }
  [[nodiscard]] StoreCall noting() const {
    return {loop(), owner(), loop().wall_now(), net::Scope{loop().now() + kHoldingWait, nullptr}};
  }
  [[nodiscard]] net::EventLoop& loop() const noexcept { return state_.services.loop; }
  [[nodiscard]] const std::string& owner() const noexcept { return state_.incoming.key->owner; }

  Task<Result<Answer>> create() {
    auto room = co_await store_.has_room(asking());
    if (!room) co_return fail(std::move(room).error());
    if (!*room) {
      co_return fail(Error::client(ErrorKind::InvalidRequest,
                                   "you have as many files and batches as this gateway lets you have "
                                   "(storage.objects.owner_entries_max); delete some"));
    }
    auto creation = co_await plan_creation(state_);
    if (!creation) co_return fail(std::move(creation).error());
    std::optional<Error> error;
    for (const model::Target* const target : creation->targets) {
      if (error && !surely_refused(*error)) break;
      std::string own;
      const HeldQuestion question = question_for(state_, *creation, *target, own);
      const std::size_t held = state_.incoming.body.size() + own.size();
      if (!state_.incoming.budget.grow_to(state_.services, held)) co_return fail(no_room_for_names());
      auto reply = co_await ask_target(state_, *target, question);
      if (!reply) {
        error = std::move(reply).error();
        continue;
      }
      auto document = co_await read_document(state_, **reply, question);
      if (!document) co_return fail(std::move(document).error());
      state_.incoming.free_body();
      co_return co_await made(*target, *std::move(document), std::move(creation->known_models));
    }
    co_return fail(*std::move(error));
  }

  // An object that nobody would find is taken back, as far as that goes.
  Task<Result<Answer>> made(const model::Target& target, std::string document, std::string models) {
    auto said = read_held_object(call_.kind, document, target.quirks);
    if (!said) {
      co_await take_back(target, id_in(document));
      co_return fail(std::move(said).error());
    }
    const std::string id = said->id;
    Noting what;
    what.account = target.account_name;
    what.models = std::move(models);
    auto told = co_await note(std::move(what), *std::move(said), std::move(document));
    if (!told) co_await take_back(target, id);
    co_return told;
  }

  // As the provider has written it, which may be no id that we would ask for.
  static std::string id_in(std::string_view document) {
    const auto id = wire::JsonValue(document).member("id");
    return id && id->is_string() ? id->string() : std::string();
  }

  // What is left over is the operator's to find: the log has its id and account.
  Task<void> take_back(const model::Target& target, std::string id) {
    constexpr std::size_t kLongest = 1'024;
    if (id.empty() || id.size() > kLongest || id == "." || id == "..") co_return;
    std::string below = providers::percent_encoded(id);
    const bool is_file = call_.kind == HoldingKind::File || call_.kind == HoldingKind::MessageFile;
    if (!is_file) below.append("/cancel");
    HeldQuestion question;
    question.method = is_file ? UpstreamCall::Method::Delete : UpstreamCall::Method::Post;
    question.path = held_path(state_, target, below);
    question.within = net::Scope{loop().now() + kTakingBack, nullptr};
    auto reply = co_await ask_target(state_, target, question);
    if (reply) co_return;
    std::string& message = state_.attempts.back().error->message;
    message = fmt::format("{} is left at {}, since it cannot be taken back: {}", below, target.account_name,
                          message);
  }

  struct Noting {
    std::string account;
    std::string models{};  // of a batch's file that was made
    std::string before{};  // what was noted of the object until now
    bool is_new = true;    // an object that was there may have been deleted meanwhile, and stays so
    bool settles = true;   // what a batch has used is this request's
  };

  // Notes what the provider has said, and what came of it: files that a batch has left, and what it used.
  // Of an object that was noted before, all is told even if that fails: it is known where it is.
  Task<Result<Answer>> note(Noting what, HeldObject said, std::string document) {
    std::string told = told_object(call_.kind, std::move(document), said.id);
    Result<> left = co_await note_left(what, said);
    if (!left && what.is_new) co_return fail(std::move(left).error());
    Holding holding;
    holding.kind = call_.kind;
    holding.id = said.id;
    holding.account = std::move(what.account);
    holding.purpose = std::move(said.purpose);
    holding.models = std::move(what.models);
    // Files that could not be noted are looked for again as long as this says nothing of them.
    if (left && told.size() <= kObjectKept) holding.object = told;
    Result<> put;
    if (what.is_new) {
      put = co_await store_.put(noting(), std::move(holding));
    } else {
      put = co_await store_.update(noting(), std::move(holding));
    }
    if (!put && what.is_new) co_return fail(std::move(put).error());
    if (what.settles && said.ended && said.usage != model::Usage()) {
      // Whoever cannot say whether it was told before does not tell it again.
      const auto first = co_await store_.settle(noting(), call_.kind, said.id);
      if (first && *first) state_.attempts.back().usage = said.usage;
    }
    co_return Answer(std::move(told));
  }

  // The files that a batch has left since it was last noted: one that was deleted is not noted again.
  Task<Result<>> note_left(const Noting& what, const HeldObject& said) {
    const auto before = read_held_object(call_.kind, what.before, {});
    for (const std::string& file : said.left) {
      if (before && std::ranges::find(before->left, file) != before->left.end()) continue;
      auto known = co_await store_.get(noting(), HoldingKind::File, file);
      if (known) continue;
      Holding left;
      left.id = file;
      left.account = what.account;
      left.purpose = "batch_output";
      Result<> put = co_await store_.put(noting(), std::move(left));
      if (!put) co_return put;
    }
    co_return Result<>();
  }

  Task<Result<Answer>> list() {
    HoldingQuery query = call_.query;
    const bool newest_first = query.order == HoldingQuery::Order::NewestFirst;
    if (call_.backwards) {
      query.order = newest_first ? HoldingQuery::Order::OldestFirst : HoldingQuery::Order::NewestFirst;
    }
    auto page = co_await store_.list(asking(), std::move(query));
    if (!page) co_return fail(std::move(page).error());
    if (call_.backwards) std::ranges::reverse(page->holdings);
    const bool is_file = call_.kind == HoldingKind::File || call_.kind == HoldingKind::MessageFile;
    if (!is_file) co_await refresh(*page);
    co_return Answer(encode_page(call_.kind, *page));
  }

  // What cannot be read now is told as it was.
  Task<void> refresh(HoldingPage& page) {
    const MonotonicTime until = loop().now() + kRefreshing;
    int refreshed = 0;
    for (Holding& holding : page.holdings) {
      if (refreshed == kRefreshedMost || loop().now() >= until || state_.client.gone().cancelled()) co_return;
      const auto known = read_held_object(call_.kind, holding.object, {});
      const model::Target* const target = target_of_account(state_, holding.account);
      if (!known || known->ended || target == nullptr) continue;
      ++refreshed;
      HeldQuestion question;
      question.path = held_path(state_, *target, holding.id);
      question.within = state_.scope().until(until);
      auto reply = co_await ask_target(state_, *target, question);
      if (!reply) continue;
      auto document = co_await read_document(state_, **reply, question);
      if (!document) continue;
      auto said = read_held_object(call_.kind, *document, target->quirks);
      if (!said || said->id != holding.id) continue;
      Noting what;
      what.account = holding.account;
      what.before = holding.object;
      what.is_new = false;
      what.settles = false;
      auto told = co_await note(std::move(what), *std::move(said), *std::move(document));
      if (told) holding.object = **std::move(told);
    }
  }

  // The account that holds the object; errors also where it is not there any more.
  struct Held {
    const model::Target* target = nullptr;
    std::string object;  // what was noted of it
  };
  Task<Result<Held>> holder() {
    auto holding = co_await store_.get(asking(), call_.kind, call_.id);
    if (!holding) co_return fail(std::move(holding).error());
    const model::Target* const target = target_of_account(state_, holding->account);
    if (target == nullptr) {
      co_return fail(Error::gateway(
          ErrorKind::NoTarget,
          fmt::format("the account that holds {} is not configured here any more; ask the operator",
                      call_.id)));
    }
    Held held;
    held.target = target;
    held.object = std::move(holding->object);
    co_return held;
  }

  // What the account says about the object, as a document.
  Task<Result<std::string>> ask(const model::Target& target, UpstreamCall::Method method,
                                std::string_view below) {
    HeldQuestion question;
    question.method = method;
    question.path = held_path(state_, target, call_.id);
    question.path.append(below);
    auto reply = co_await ask_holder(state_, target, question);
    if (!reply) co_return fail(std::move(reply).error());
    auto document = co_await read_document(state_, **reply, question);
    co_return document;
  }

  Task<Result<Answer>> ask_and_note(UpstreamCall::Method method, std::string_view below) {
    auto held = co_await holder();
    if (!held) co_return fail(std::move(held).error());
    auto document = co_await ask(*held->target, method, below);
    if (!document) {
      const bool is_gone = method == UpstreamCall::Method::Get && document.error().upstream_status == 404;
      if (is_gone) static_cast<void>(co_await store_.remove(noting(), call_.kind, call_.id));
      co_return fail(std::move(document).error());
    }
    auto said = read_held_object(call_.kind, *document, held->target->quirks);
    if (!said) co_return fail(std::move(said).error());
    // It is asked for by this id, whatever it calls itself.
    said->id = call_.id;
    Noting what;
    what.account = held->target->account_name;
    what.before = std::move(held->object);
    what.is_new = false;
    auto told = co_await note(std::move(what), *std::move(said), *std::move(document));
    co_return told;
  }

  Task<Result<Answer>> get() { return ask_and_note(UpstreamCall::Method::Get, {}); }
  Task<Result<Answer>> cancel() { return ask_and_note(UpstreamCall::Method::Post, "/cancel"); }

  Task<Result<Answer>> remove() {
    auto held = co_await holder();
    if (!held) co_return fail(std::move(held).error());
    auto document = co_await ask(*held->target, UpstreamCall::Method::Delete, {});
    const bool is_gone = document || document.error().upstream_status == 404;
    if (is_gone) {
      // If that fails it is still listed, until the next who asks hears that it is gone.
      static_cast<void>(co_await store_.remove(noting(), call_.kind, call_.id));
    }
    if (!document) co_return fail(std::move(document).error());
    co_return Answer(*std::move(document));
  }

  Task<Result<Answer>> content() {
    auto held = co_await holder();
    if (!held) co_return fail(std::move(held).error());
    const bool is_file = call_.kind == HoldingKind::File || call_.kind == HoldingKind::MessageFile;
    HeldQuestion question;
    question.path = held_path(state_, *held->target, call_.id);
    question.path.append(is_file ? "/content" : "/results");
    auto reply = co_await ask_holder(state_, *held->target, question);
    if (!reply) co_return fail(std::move(reply).error());
    Result<> relayed = co_await relay_content(state_, **reply);
    if (!relayed) co_return fail(std::move(relayed).error());
    co_return Answer();
  }

  RequestState& state_;
  const HeldCall& call_;
  HoldingStore& store_;
};

Task<Result<HeldServing::Answer>> held_answer(RequestState& state) {
  if (state.services.holdings == nullptr) {
    co_return fail(
        Error::client(ErrorKind::NotFound, "this gateway offers no files and batches (storage.objects)"));
  }
  HeldServing serving(state);
  Result<HeldServing::Answer> answer = co_await serving.answer();
  co_return answer;
}

std::string held_error_lines(const RequestState& state) {
  const model::Dialect dialect = model::dialect_of(state.incoming.endpoint);
  std::string lines = error_header_lines(dialect, state.incoming.id.text(), {}, {}, *state.error);
  // What may have been made must not be made again by a client's own retries.
  const bool may_be_made =
      state.incoming.held->verb == HeldVerb::Create &&
      std::ranges::any_of(state.attempts, [](const model::Attempt& attempt) {
        return attempt.reached_provider && !(attempt.error && surely_refused(*attempt.error));
      });
  if (may_be_made) lines.append("x-should-retry: false\r\n");
  return lines;
}

ClientPort::Taken tell_held(RequestState& state, Result<HeldServing::Answer> answer) {
  ClientPort& client = state.client;
  if (answer) {
    if (!*answer) return ClientPort::Taken::All;  // it has gone out
    const std::string_view body = **answer;
    return client.reply(200, held_header_lines(state, "application/json"), {&body, 1});
  }
  state.error = std::move(answer).error();
  if (is_lost_client(*state.error) || client.begun()) {
    state.interrupted = client.begun() && !is_lost_client(*state.error);
    client.abort();
    return ClientPort::Taken::All;
  }
  const auto told = encode_error(model::dialect_of(state.incoming.endpoint), error_to_tell(state),
                                 state.incoming.id.text());
  const std::string_view body = told.body;
  return client.reply(told.status, held_error_lines(state), {&body, 1});
}

}  // namespace

Task<void> serve_held(LoopServices& services, IncomingRequest incoming, ClientPort& client) {
  services.counters.requests_in_flight.add(1);
  RequestState state(services, client, incoming);
  state.deadline = incoming.started + state.snapshot.timers.total;
  incoming.body_bytes = incoming.body.size();
  Result<HeldServing::Answer> answer = co_await held_answer(state);
  const ClientPort::Taken taken = tell_held(state, std::move(answer));
  if (taken == ClientPort::Taken::Pending) {
    Result<> flushed = co_await client.flush(state.scope());
    if (!flushed) state.error = std::move(flushed).error();
  } else if (taken == ClientPort::Taken::Gone) {
    state.error = client_gone();
  }
  incoming.free_body();
  settle(state);
  services.counters.requests_in_flight.add(-1);
}

}  // namespace qq::relay
