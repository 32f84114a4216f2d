// The schema of response_rows.h, as steps that are never changed once released; a change is a further one.
#pragma once
#include <array>

#include "storage/sqlite/migrations.h"

namespace qq::storage {

inline constexpr std::int32_t kResponsesApplication = 0x51517273;  // "QQrs"

inline constexpr std::array kResponseMigrations = {
    Migration{"answers and conversations", R"sql(
CREATE TABLE entries (
  entry           INTEGER PRIMARY KEY,
  owner           TEXT NOT NULL,
  kind            INTEGER NOT NULL,   -- 0 answer, 1 conversation
  id              TEXT NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  changed_unix_ms INTEGER NOT NULL,   -- the oldest of an owner go first
  expires_unix_ms INTEGER NOT NULL,
  bytes           INTEGER NOT NULL,   -- as relay::bytes_of counts, items included
  model           TEXT NOT NULL,      -- of answers, as the next two
  previous_id     TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  json            TEXT NOT NULL,      -- the response object, or a conversation's metadata
  UNIQUE (owner, kind, id)
) STRICT;
CREATE INDEX entries_by_age ON entries (owner, changed_unix_ms, entry);
CREATE INDEX entries_by_expiry ON entries (expires_unix_ms, entry);

CREATE TABLE inputs (
  entry INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE,
  json  TEXT NOT NULL
) STRICT;

CREATE TABLE items (
  item  INTEGER PRIMARY KEY,          -- later ones are larger
  entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
  id    TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  json  TEXT NOT NULL,
  UNIQUE (entry, id)
) STRICT;
CREATE INDEX items_in_order ON items (entry, item);

CREATE TABLE owners (
  owner   TEXT PRIMARY KEY,
  bytes   INTEGER NOT NULL,
  entries INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX owners_by_bytes ON owners (bytes DESC, owner);
CREATE TABLE totals (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL) STRICT;
INSERT INTO totals VALUES (1, 0);

CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
  INSERT INTO owners VALUES (new.owner, new.bytes, 1)
    ON CONFLICT (owner) DO UPDATE SET bytes = bytes + new.bytes, entries = entries + 1;
  UPDATE totals SET bytes = bytes + new.bytes;
END;
CREATE TRIGGER entry_resized AFTER UPDATE OF bytes ON entries BEGIN
  UPDATE owners SET bytes = bytes + new.bytes - old.bytes WHERE owner = old.owner;
  UPDATE totals SET bytes = bytes + new.bytes - old.bytes;
END;
CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
  UPDATE owners SET bytes = bytes - old.bytes, entries = entries - 1 WHERE owner = old.owner;
  DELETE FROM owners WHERE owner = old.owner AND entries = 0;
  UPDATE totals SET bytes = bytes - old.bytes;
END;
)sql"},
    Migration{"the items of answers", R"sql(
CREATE TABLE answer_items (
  id    TEXT NOT NULL,
  entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
  PRIMARY KEY (id, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_items_by_entry ON answer_items (entry);
)sql"},
};

}  // namespace qq::storage
