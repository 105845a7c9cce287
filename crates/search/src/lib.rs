//! The lexical index of one snapshot: exact BM25F over eight fields, immutable, mapped from a file.
