-- What each session was told, so that it is not told again. A session is its handle; nothing of one is seen by another.
CREATE TABLE sessions (
    session_row INTEGER PRIMARY KEY,
    handle TEXT NOT NULL UNIQUE,
    begun_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    n_calls INTEGER NOT NULL,
    next_id INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_use ON sessions (used_at);

-- Symbols under the id they were declared with; sums over what was said of each, 0 for what was not.
CREATE TABLE session_items (
    session_row INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    node_id BLOB NOT NULL,
    repo_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    declared INTEGER NOT NULL,
    place INTEGER NOT NULL,
    signature INTEGER NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (session_row, node_id)
) STRICT, WITHOUT ROWID;

-- The packs it was given last, by their roots; `key` finds them among `packs`.
CREATE TABLE session_packs (
    session_row INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    root BLOB NOT NULL,
    repo_id INTEGER NOT NULL,
    key BLOB NOT NULL,
    call INTEGER NOT NULL,
    PRIMARY KEY (session_row, root)
) STRICT, WITHOUT ROWID;

-- How a pack was written: a reader has its ids only from the same form.
ALTER TABLE packs ADD COLUMN form TEXT NOT NULL DEFAULT '';
