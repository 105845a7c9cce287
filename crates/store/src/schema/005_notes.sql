-- What people say of things, by the id of the thing: never part of any hash. `pinned` keeps a snapshot from being collected.
CREATE TABLE notes (
    object BLOB NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (object, key)
) STRICT, WITHOUT ROWID;
