//! What one file may cost. Beyond a limit the file is partial: what was found until then is kept.

use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Of the parsing thread alone.
    pub parse_time: Duration,
    pub max_decls: usize,
    pub max_facts: usize,
    /// Of a file that is no code: what stands behind is left out, from the last border of statements or documents on.
    pub max_bytes: usize,
    /// Depth of the syntax tree; what stands deeper is left out.
    pub max_depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            parse_time: Duration::from_secs(5),
            max_decls: 50_000,
            max_facts: 500_000,
            max_bytes: 2 << 20,
            // Generated sums of a thousand terms occur; nothing written by hand comes near.
            max_depth: 2_000,
        }
    }
}
