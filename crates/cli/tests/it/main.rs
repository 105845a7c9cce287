//! The one end-to-end test binary.
