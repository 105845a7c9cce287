//! Fixtures for tests: real git repositories from text.
