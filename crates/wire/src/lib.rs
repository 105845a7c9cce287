//! How results are written: one payload, several formats.
