// The schema of a database as a list of steps, each applied once and in one transaction; which ones were is
// in the table `schema_migrations` of the file itself.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "storage/sqlite/database.h"

namespace qq::storage {

struct Migration {
  std::string_view name;
  const char* sql;
};

// Brings `database` to the last of `migrations`, whose order never changes: number n is the n-th.
// `application` marks a file as ours for this use (PRAGMA application_id), so that another program's database
// is left alone. Several processes may do it at the same time. Errors: Config for a file of another kind, and
// for one that a newer Queqiao wrote.
Result<> migrate(Database& database, std::int32_t application, std::span<const Migration> migrations,
                 WallTime now);

}  // namespace qq::storage
