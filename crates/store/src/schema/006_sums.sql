-- What can be made again from git has no hash of its own: a sum over the row tells whether it is still what was written.
-- Null in rows of earlier versions, of which nobody can tell.
ALTER TABLE file_facts ADD COLUMN sum INTEGER;
ALTER TABLE terms ADD COLUMN sum INTEGER;
ALTER TABLE commits ADD COLUMN sum INTEGER;
ALTER TABLE histories ADD COLUMN sum INTEGER;

-- Answers go with their repository. Those of earlier versions do not say whose they are; they are made again.
DROP TABLE packs;
CREATE TABLE packs (
    key        BLOB PRIMARY KEY,
    repo_id    INTEGER NOT NULL,
    root       BLOB NOT NULL,
    payload    BLOB NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX packs_by_root ON packs (root);
CREATE INDEX packs_by_age ON packs (created_at);
