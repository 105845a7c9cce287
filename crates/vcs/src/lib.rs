//! git behind a small API.
