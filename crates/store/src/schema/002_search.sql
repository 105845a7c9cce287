-- What search images are made of. All of it can be made again from git; deleting rows costs time and nothing else.

-- Term vectors of the fields that follow from a file's bytes, shared by all files and commits that have them.
CREATE TABLE terms (
    terms_row INTEGER PRIMARY KEY,
    blob BLOB NOT NULL,
    language TEXT NOT NULL,
    ruleset INTEGER NOT NULL,
    vectors BLOB NOT NULL,
    UNIQUE (blob, language, ruleset)
) STRICT;

-- A commit never changes, so that it is mined once, under the rules of that time. `touches` is empty for one that says
-- nothing of code.
CREATE TABLE commits (
    commit_row INTEGER PRIMARY KEY,
    commit_id BLOB NOT NULL UNIQUE,
    rules INTEGER NOT NULL,
    time INTEGER NOT NULL,
    message TEXT NOT NULL,
    touches BLOB NOT NULL
) STRICT;

-- The commits whose text a snapshot has, newest first, as rows of `commits`; `digest` is that of their ids and of the rules.
CREATE TABLE histories (
    snapshot_row INTEGER PRIMARY KEY REFERENCES snapshots,
    rules INTEGER NOT NULL,
    digest BLOB NOT NULL,
    commit_time INTEGER NOT NULL,
    is_cut INTEGER NOT NULL,
    n_commits INTEGER NOT NULL,
    commit_rows BLOB NOT NULL
) STRICT;
