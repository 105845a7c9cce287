//! What `spec.md` cannot show: deep, long and broken input, test paths.
