//! Quality and speed, reproducible.

fn main() {}
