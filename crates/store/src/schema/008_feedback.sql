-- What was said of symbols in answers. A record counts while its package is what it was: `package_root` is the hash over
-- the package's edges when it was made. `source` is `explicit` or `implicit`.
CREATE TABLE feedback (
    feedback_row INTEGER PRIMARY KEY,
    repo_id INTEGER NOT NULL,
    node_id BLOB NOT NULL,
    session TEXT NOT NULL,
    useful INTEGER NOT NULL,
    source TEXT NOT NULL,
    cluster TEXT NOT NULL,
    keywords TEXT NOT NULL,
    package_root BLOB NOT NULL,
    pack_root BLOB,
    note TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX feedback_of_symbols ON feedback (repo_id, node_id);
