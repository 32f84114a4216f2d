// A description of a made-up back end, for tests and the fuzzer of its decoders: every pointer is set, and
// each format of a stream can be had.
#pragma once
#include <memory>

#include "model/target.h"

namespace qq::testing {

inline model::DeclaredWhere declared_where() {
  model::DeclaredWhere where;
  where.id = {"trace"};
  where.model = {"engine"};
  where.text = {"out", "words"};
  where.reasoning = {"out", "thoughts"};
  where.finish = {"ended"};
  where.calls = {
      .list = {"actions"}, .index = {"slot"}, .id = {"ref"}, .name = {"name"}, .arguments = {"input"}};
  where.usage = {.input = {"cost", "in"},
                 .output = {"cost", "out"},
                 .cache_read = {"cost", "cached"},
                 .cache_write = {"cost", "stored"},
                 .reasoning = {"cost", "thought"}};
  return where;
}

inline model::DeclaredAdapter declared_adapter(
    model::DeclaredStream::Format format = model::DeclaredStream::Format::Sse) {
  model::DeclaredAdapter made;
  made.answer = declared_where();
  made.stream.format = format;
  made.stream.where = declared_where();
  made.finish_words = {{"complete", model::Finish::Stop},
                       {"limit", model::Finish::Length},
                       {"action", model::Finish::ToolCalls},
                       {"crash", model::Finish::Broken}};
  made.errors.code = {"fault", "code"};
  made.errors.message = {"fault", "text"};
  made.errors.ok_codes = {"OK"};
  made.errors.rules = {{.status = 0, .code = "SLOW", .kind = ErrorKind::RateLimited}};
  return made;
}

inline model::Target declared_target(model::DeclaredAdapter adapter) {
  model::Target target;
  target.kind = "declared";
  target.upstream_model = "large";
  target.declared = std::make_shared<const model::DeclaredAdapter>(std::move(adapter));
  return target;
}

}  // namespace qq::testing
