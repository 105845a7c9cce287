-- Names are found by a number made of them: `name_keys.rs` says how. The symbols of before are copied by it.
DROP INDEX symbols_by_name;
DROP INDEX symbols_of_many_segments;
ALTER TABLE symbols RENAME TO symbols_by_text;

CREATE TABLE symbols (
    sym INTEGER PRIMARY KEY,
    node_id BLOB NOT NULL UNIQUE,
    container_row INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    symbol TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key INTEGER NOT NULL
) STRICT;

CREATE INDEX symbols_by_name ON symbols (name_key);
