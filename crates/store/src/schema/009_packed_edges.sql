-- Up to 64 edges of a unit in one row, which is called after the number of its first: `edge_rows.rs` says how. What stands in
-- single rows is put together by `single_edges.rs`.
ALTER TABLE edges RENAME TO single_edges;

CREATE TABLE edges (
    edge_row INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL,
    packed BLOB NOT NULL
) STRICT;
