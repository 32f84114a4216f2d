#include <array>
#include <utility>

#include "config/config.h"
#include "config/field_builders.h"
#include "config/sections.h"
#include "relay/held/holding_storage.h"
#include "relay/response_storage.h"

namespace qq::config {

using namespace build;
using namespace std::chrono_literals;

namespace {

// The words of both stores' backends.
template <typename Backend>
constexpr std::array<std::pair<std::string_view, Backend>, 3> kBackends{
    {{"memory", Backend::Memory}, {"sqlite", Backend::Sqlite}, {"none", Backend::None}}};

template <typename T, typename Backend>
Field backend_field() {
  Field field;
  field.key = "backend";
  field.type = FieldType::Word;
  for (const auto& [word, backend] : kBackends<Backend>) field.words.push_back(word);
  field.store = [](void* object, const Scalar& value) -> std::string {
    for (const auto& [word, backend] : kBackends<Backend>) {
      if (word == value.text) as<T>(object).backend = backend;
    }
    return {};
  };
  field.read = [](const void* object) -> std::string {
    for (const auto& [word, backend] : kBackends<Backend>) {
      if (as<T>(object).backend == backend) return std::string(word);
    }
    return {};
  };
  return field;
}

const Section& responses_section() {
  using T = relay::ResponseStorage;
  constexpr double kMiB = 1U << 20U;
  constexpr double kTiB = kMiB * kMiB;
  static const Section kSection{
      .name = "storage.responses",
      .id = "responses_storage",
      .doc =
          "Answers of `/v1/responses` that later requests continue (`previous_response_id`), and "
          "conversations. Each entry holds all that its model was given. An owner sees its own only: "
          "providers, whose accounts owners share, are told to keep nothing (`store: false`), and an id that "
          "is not here is not found. Together with what it continues a request is at most as large as "
          "`limits.body_max`, and counts in `limits.bodies_in_flight_max`.",
      .fields =
          {Make(backend_field<T, relay::ResponseBackend>())
               .doc("`memory`: gone at the end of the process. `sqlite`: a file, which several processes of "
                    "one machine may share. `none`: nothing is kept, and a request that names an earlier "
                    "answer, a conversation or an item of them is refused.")
               .absent("`sqlite` if `path` is given, else `memory`")
               .restart()
               .known_as({"type", "kind", "driver"}),
           Make(text("path", &T::path))
               .doc("The file of `sqlite`, made if it does not exist; its folder must. It has the modes of a "
                    "secret (0600), since it holds what users wrote.")
               .longest(4096)
               .like("/var/lib/queqiao/responses.db")
               .restart()
               .known_as({"file", "database", "url", "dsn"}),
           Make(duration("ttl", &T::ttl, 1s, 24h * 3650))
               .doc("How long an answer is kept, and a conversation after its last change.")
               .restart()
               .known_as({"expires", "retention", "max_age"}),
           Make(size("entry_max", &T::entry_max, 1024, 512 * kMiB))
               .doc("Largest answer with its input, and largest conversation. A larger answer is told as "
                    "`store: false` and not kept (`queqiao_responses_not_kept_total`).")
               .restart(),
           Make(size("owner_max", &T::owner_max, 0, kTiB))
               .doc(
                   "All that one owner has, at least twice `entry_max`; beyond it the owner's oldest entries "
                   "go.")
               .absent("`0`: a quarter of `total_max`")
               .restart(),
           Make(integer("owner_entries_max", &T::owner_entries_max, 2, 1e9))
               .doc("Answers and conversations of one owner; beyond it the oldest go.")
               .restart(),
           Make(size("total_max", &T::total_max, 0, kTiB))
               .doc("All of all owners, at least `owner_max`; beyond it the oldest entries of whoever has "
                    "most "
                    "go.")
               .absent("`0`: 256 MiB in memory, 16 GiB in a file")
               .restart()},
      .defaults = defaults_of<T>()};
  return kSection;
}

const Section& objects_section() {
  using T = relay::HoldingStorage;
  static const Section kSection{
      .name = "storage.objects",
      .id = "objects_storage",
      .doc =
          "Which account holds which file and batch, and whose they are. The objects themselves are the "
          "provider's; kept here is the account of each, so that every later call goes there, and what the "
          "provider last said of it, for lists. An owner sees its own only.",
      .fields =
          {Make(backend_field<T, relay::HoldingBackend>())
               .doc(
                   "`memory`: gone at the end of the process, after which nobody finds what was made before. "
                   "`sqlite`: a file, which several processes of one machine may share. `none`: files and "
                   "batches are not offered.")
               .absent("`sqlite` if `path` is given, else `memory`")
               .restart()
               .known_as({"type", "kind", "driver"}),
           Make(text("path", &T::path))
               .doc("The file of `sqlite`, made if it does not exist; its folder must. It has the modes of a "
                    "secret (0600).")
               .longest(4096)
               .like("/var/lib/queqiao/objects.db")
               .restart()
               .known_as({"file", "database", "url", "dsn"}),
           Make(duration("ttl", &T::ttl, 1s, 24h * 3650))
               .doc("How long an object is known after it was made or last read. The provider may delete it "
                    "earlier, and is not told when it is forgotten here.")
               .restart()
               .known_as({"expires", "retention", "max_age"}),
           Make(integer("owner_entries_max", &T::owner_entries_max, 1, 1e7))
               .doc(
                   "Files and batches of one owner; beyond it no more are made until some are deleted or run "
                   "out.")
               .restart()},
      .defaults = defaults_of<T>()};
  return kSection;
}

}  // namespace

const Section& storage_section() {
  static const Section kSection{.name = "storage",
                                .id = "storage",
                                .doc = "What the gateway itself keeps.",
                                .fields = {Make(map("responses", &Config::responses, responses_section()))
                                               .doc("Answers and conversations of the responses API.")
                                               .restart(),
                                           Make(map("objects", &Config::holdings, objects_section()))
                                               .doc("Files and batches that are held at providers.")
                                               .restart()},
                                .defaults = defaults_of<Config>()};
  return kSection;
}

}  // namespace qq::config
