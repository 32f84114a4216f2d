// The models that a batch names, request by request: what must be known to choose an account that has them
// all, and replaced by what the provider there calls them. All other bytes stay as they are.
//
//   OpenAI's batch files: a line for each request, {"custom_id": …, "body": {"model": …}}
//   Anthropic's batches:  {"requests": [{"custom_id": …, "params": {"model": …}}]}
//
// Pure. Views point into the text that was given, which outlives this.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "relay/held/file_ids.h"
#include "wire/json.h"

namespace qq::relay {

class NamedModels {
 public:
  // OpenAI lets a batch have 50,000 requests, Anthropic 100,000.
  static constexpr std::size_t kRequestsMax = 100'000;
  static constexpr std::size_t kNamesMax = 64;  // a guess: most batches have one

  // A file of lines; empty ones are passed over. A line whose body names no model is let be: moderations may
  // leave it out. Errors: InvalidRequest with the line's number.
  static Result<NamedModels> in_lines(std::string_view lines, const wire::JsonLimits& limits);
  // Errors: InvalidRequest with the place: `requests[3].params.model`.
  static Result<NamedModels> in_requests(std::string_view body, const wire::JsonLimits& limits);

  // Each once, in the order in which they are first named.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  // Ids of files that the requests refer to.
  [[nodiscard]] const FileIds& file_ids() const noexcept { return file_ids_; }

  // The text with each name replaced; `others` as `names`. Empty where that would be the text itself.
  [[nodiscard]] std::string renamed(std::string_view text, const std::vector<std::string>& others) const;

 private:
  struct Place {
    std::string_view value;  // with its quotes
    std::uint32_t name = 0;  // in names_
  };
  // Where a request stands, for errors.
  struct Where {
    enum class Of : bool { Lines, Requests };
    Of of;
    std::size_t index;  // from 0
    [[nodiscard]] std::string text() const;
  };
  Result<> take(wire::JsonValue request, Where where);

  std::size_t requests_ = 0;
  std::vector<Place> places_;
  std::vector<std::string> names_;
  FileIds file_ids_;
};

}  // namespace qq::relay
