-- Keys are row numbers; hashes are columns with a unique index. Why each table looks as it does, and which indexes are
-- deliberately absent: docs/design/store-layout.md.

CREATE TABLE repos (
    repo_id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    url TEXT NOT NULL UNIQUE,
    object_format TEXT NOT NULL,
    ruleset INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE snapshots (
    snapshot_row INTEGER PRIMARY KEY,
    snapshot_id BLOB NOT NULL UNIQUE,
    repo_id INTEGER NOT NULL REFERENCES repos,
    commit_id BLOB NOT NULL,
    stage TEXT NOT NULL,
    ruleset INTEGER NOT NULL,
    root BLOB NOT NULL,
    dirty BLOB,
    parent INTEGER REFERENCES snapshots,
    generation INTEGER NOT NULL,
    chained INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    counts TEXT NOT NULL,
    file_set BLOB NOT NULL,
    unit_set BLOB NOT NULL,
    package_roots BLOB NOT NULL
) STRICT;

CREATE INDEX snapshots_by_commit ON snapshots (repo_id, commit_id);

CREATE TABLE worktrees (
    path TEXT PRIMARY KEY,
    repo_id INTEGER NOT NULL REFERENCES repos,
    head_snapshot INTEGER NOT NULL REFERENCES snapshots,
    head_commit BLOB NOT NULL,
    branch TEXT,
    last_seen INTEGER NOT NULL
) STRICT;

-- skip_reason is empty for a file that was read.
CREATE TABLE files (
    file_row INTEGER PRIMARY KEY,
    repo_id INTEGER NOT NULL REFERENCES repos,
    ruleset INTEGER NOT NULL,
    skip_reason TEXT NOT NULL,
    hash BLOB NOT NULL,
    path TEXT NOT NULL,
    blob BLOB NOT NULL,
    package TEXT NOT NULL,
    language TEXT NOT NULL,
    flags INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    UNIQUE (repo_id, ruleset, skip_reason, hash)
) STRICT;

CREATE INDEX files_by_path ON files (repo_id, path);

CREATE TABLE file_facts (
    file_row INTEGER PRIMARY KEY REFERENCES files,
    facts BLOB NOT NULL
) STRICT;

-- repo is the part before `://`.
CREATE TABLE containers (
    container_row INTEGER PRIMARY KEY,
    repo TEXT NOT NULL,
    class INTEGER NOT NULL,
    container TEXT NOT NULL,
    UNIQUE (container, class, repo)
) STRICT;

CREATE TABLE symbols (
    sym INTEGER PRIMARY KEY,
    node_id BLOB NOT NULL UNIQUE,
    container_row INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    symbol TEXT NOT NULL,
    name TEXT NOT NULL,
    name_lower TEXT NOT NULL
) STRICT;

CREATE INDEX symbols_by_name ON symbols (name_lower);

-- Files, packages, routes: what a text can mean that is not just the end of a symbol path.
CREATE INDEX symbols_of_many_segments ON symbols (container_row)
    WHERE symbol = '' OR name_lower GLOB '*[./#:]*';

-- file_row is 0 for what has no file. Rows of a unit are contiguous: `n` of them from `first` on.
CREATE TABLE units (
    unit_row INTEGER PRIMARY KEY,
    repo_id INTEGER NOT NULL REFERENCES repos,
    file_row INTEGER NOT NULL,
    layer INTEGER NOT NULL,
    digest BLOB NOT NULL,
    first_node INTEGER NOT NULL,
    n_nodes INTEGER NOT NULL,
    first_edge INTEGER NOT NULL,
    n_edges INTEGER NOT NULL,
    first_site INTEGER NOT NULL,
    n_sites INTEGER NOT NULL,
    UNIQUE (repo_id, file_row, layer, digest)
) STRICT;

CREATE TABLE nodes (
    node_row INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL,
    sym INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    name_line INTEGER NOT NULL,
    name_col INTEGER NOT NULL,
    signature TEXT NOT NULL,
    doc TEXT NOT NULL
) STRICT;

CREATE TABLE edges (
    edge_row INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL,
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    base_provenance INTEGER,
    base_confidence INTEGER,
    t2_provenance INTEGER,
    t2_confidence INTEGER,
    refuted INTEGER NOT NULL DEFAULT 0,
    site_count INTEGER NOT NULL,
    sites BLOB NOT NULL
) STRICT;

CREATE TABLE unresolved (
    site_row INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL,
    source INTEGER NOT NULL,
    name TEXT NOT NULL,
    receiver TEXT NOT NULL,
    argc INTEGER NOT NULL,
    line INTEGER NOT NULL,
    col INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    candidates BLOB NOT NULL
) STRICT;

CREATE INDEX unresolved_by_name ON unresolved (name);
