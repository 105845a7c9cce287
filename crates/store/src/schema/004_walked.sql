-- All commits that a history was made of, newest first, as rows of `commits`, those that say nothing included: the walk
-- from a child of the snapshot's commit goes on with them. Empty when some were not mined.
ALTER TABLE histories ADD COLUMN walked BLOB NOT NULL DEFAULT x'';
