//! File facts of many files to edges.
