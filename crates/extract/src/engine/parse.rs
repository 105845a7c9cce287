//! Bytes to a syntax tree, within a time limit.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree};

/// None when the time was up.
pub(crate) fn parse(parser: &mut Parser, bytes: &[u8], time: Duration) -> Option<Tree> {
    let deadline = Instant::now() + time;
    let mut n_asked = 0_u32;
    // tree-sitter asks after every hundred steps; the clock is read less often than that.
    let mut progress = |_: &tree_sitter::ParseState| {
        n_asked += 1;
        if n_asked.is_multiple_of(64) && Instant::now() >= deadline {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(
        &mut |offset, _| bytes.get(offset..).unwrap_or_default(),
        None,
        Some(options),
    );
    if tree.is_none() {
        // Else the next parse would go on where this one stopped.
        parser.reset();
    }
    tree
}
