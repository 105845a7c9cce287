//! One file's bytes to file facts.
