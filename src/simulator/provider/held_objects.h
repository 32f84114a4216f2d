// Files and batches that the simulated provider keeps, in OpenAI's shapes and in Anthropic's, each visible to
// the key that made it only. They live as long as the simulator, or until /sim/reset.
//
//   …/files  …/files/{id}  …/files/{id}/content    a form with `file` (and `purpose`, OpenAI's)
//   …/batches  …/batches/{id}  …/{id}/cancel       OpenAI's: the requests are lines of a file
//   …/messages/batches  …/{id}  …/{id}/cancel  …/{id}/results
//
// A batch ends at the second look at it, or at the one that its `metadata.sim_polls` says (OpenAI's). Each of
// its requests is answered as if it came alone; those that are refused are OpenAI's error file.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/provider/library.h"
#include "simulator/provider/reply.h"
#include "simulator/provider/request_text.h"

namespace qq::simulator {

class HeldObjects {
 public:
  // Nothing for paths that are none of these. `key`: who asks.
  std::optional<Reply> answer(const RequestText& request, std::string_view path, std::string_view key,
                              const Library& library);
  void clear() noexcept { objects_.clear(); }

 private:
  struct Object {
    std::string key;
    bool is_file = true;
    bool is_anthropics = false;
    std::uint64_t number = 0;  // in the order of making
    std::string name;          // of a file
    std::string purpose;
    std::string content;  // of a file; of Anthropic's batches the requests
    // Of a batch:
    std::string status;
    std::string endpoint;
    std::string input_file;
    std::string metadata = "null";
    std::string output_file;  // ids, or Anthropic's results themselves
    std::string error_file;
    int polls_left = 0;
    std::int64_t requests = 0;
    std::int64_t refused = 0;
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
  };
  struct Asked;

  Reply make_file(const Asked& asked);
  Reply make_batch(const Asked& asked);
  Reply list(const Asked& asked) const;
  Reply of_one(const Asked& asked, const std::string& id, Object& object);
  void look(Object& batch, const std::string& id, const Library& library);
  void run(Object& batch, const std::string& id, const Library& library);
  void run_messages(Object& batch, const Library& library);
  std::string keep(Object object, std::string_view prefix);
  [[nodiscard]] std::string shown(const Object& object, const std::string& id, std::string_view host) const;

  std::map<std::string, Object, std::less<>> objects_;  // by id
  std::uint64_t next_number_ = 1;
};

}  // namespace qq::simulator
