//! The graph in memory: an immutable, mapped CSR file.
