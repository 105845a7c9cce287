//! Tasks as people write them, and what is read from them.
