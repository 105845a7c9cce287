-- Answers as they were given: found again by what was asked, or by their root. Rebuildable; deleting them changes no answer.
CREATE TABLE packs (
    key        BLOB PRIMARY KEY,
    root       BLOB NOT NULL,
    payload    BLOB NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX packs_by_root ON packs (root);
CREATE INDEX packs_by_age ON packs (created_at);
