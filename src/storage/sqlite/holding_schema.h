// The schema of holding_rows.h, as steps that are never changed once released; a change is a further one.
#pragma once
#include <array>

#include "storage/sqlite/migrations.h"

namespace qq::storage {

inline constexpr std::int32_t kHoldingsApplication = 0x5151686f;  // "QQho"

inline constexpr std::array kHoldingMigrations = {
    Migration{"who holds what", R"sql(
CREATE TABLE holdings (
  number          INTEGER PRIMARY KEY AUTOINCREMENT,  -- in the order of making
  owner           TEXT NOT NULL,
  kind            INTEGER NOT NULL,                   -- relay::HoldingKind
  id              TEXT NOT NULL,
  account         TEXT NOT NULL,                      -- "provider/account"
  purpose         TEXT NOT NULL,
  json            TEXT NOT NULL,                      -- what the provider last said
  created_unix_ms INTEGER NOT NULL,
  expires_unix_ms INTEGER NOT NULL,
  settled         INTEGER NOT NULL DEFAULT 0,         -- 1: what it has used was told
  UNIQUE (kind, id, owner)
) STRICT;
CREATE INDEX holdings_in_order ON holdings (owner, kind, number);
CREATE INDEX holdings_by_expiry ON holdings (expires_unix_ms, number);
)sql"},
    Migration{"models of batch files", R"sql(
ALTER TABLE holdings ADD COLUMN models TEXT NOT NULL DEFAULT '';  -- a JSON array; '': not known
)sql"},
};

}  // namespace qq::storage
