//! Bytes to a syntax tree, within a time limit.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use tree_sitter::{ParseOptions, Parser, Tree};

/// None when the time was up.
pub(crate) fn parse(parser: &mut Parser, bytes: &[u8], time: Duration) -> Option<Tree> {
    let begin = Instant::now();
    let own = ThreadTime::try_now().ok();
    let mut n_asked = 0_u32;
    // tree-sitter asks after every hundred steps, which take microseconds in clean code and a tenth of a second in the worst.
    let mut progress = |_: &tree_sitter::ParseState| {
        n_asked += 1;
        let spent = || own.as_ref().and_then(|it| it.try_elapsed().ok());
        if n_asked.is_multiple_of(8) && is_up(time, begin.elapsed(), spent) {
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

/// What the thread itself has spent counts: a file must not be dropped because others kept the machine busy. The clock on
/// the wall is cheaper to read and never behind, so that it is asked first; without a thread's clock it decides alone.
fn is_up(time: Duration, wall: Duration, spent: impl FnOnce() -> Option<Duration>) -> bool {
    wall >= time && spent().is_none_or(|it| it >= time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn time_in_which_others_ran_does_not_count() {
        assert!(!is_up(5 * SECOND, 4 * SECOND, || unreachable!("the cheap clock settles it")));
        assert!(!is_up(5 * SECOND, 500 * SECOND, || Some(4 * SECOND)));
        assert!(is_up(5 * SECOND, 500 * SECOND, || Some(5 * SECOND)));
    }

    #[test]
    fn without_a_clock_of_the_thread_the_one_on_the_wall_decides() {
        assert!(is_up(5 * SECOND, 5 * SECOND, || None));
    }
}
