//! Where a declaration's documentation stands, so that it is not counted as code too.

use knowing_model::Range;
use memchr::memmem;

/// How far from the beginning of a declaration its documentation may begin.
const REACH: usize = 4096;

/// The bytes of a documentation whose text is known: in the declaration (a docstring), else before it (a comment).
/// Markers of comments and indentation are looked over; none when it is not found as it is written.
pub(crate) fn doc_range(source: &[u8], decl: Range, doc: &str) -> Option<Range> {
    let (from, to) = (decl.from as usize, decl.to as usize);
    let first = doc.lines().next()?.trim();
    if first.is_empty() {
        return None;
    }
    let inside = source.get(from..to.min(from + REACH))?;
    let begin = match memmem::find(inside, first.as_bytes()) {
        Some(at) => from + at,
        None => {
            let before = from.saturating_sub(REACH);
            before + memmem::rfind(source.get(before..from)?, first.as_bytes())?
        }
    };
    let end = end_of(source, begin, doc)?;
    // Before the declaration there may be no more of it than its documentation.
    (begin >= from || end <= from).then_some(Range { from: begin as u32, to: end as u32 })
}

/// Where the text that begins here ends, as far as it goes on line by line.
fn end_of(source: &[u8], begin: usize, doc: &str) -> Option<usize> {
    let mut end = begin + doc.lines().next()?.trim().len();
    for line in doc.lines().skip(1) {
        let line = line.trim().as_bytes();
        let Some(rest) = memchr::memchr(b'\n', source.get(end..)?) else { break };
        let next = end + rest + 1;
        let text = next + source[next..].iter().take_while(|it| b" \t/!*#".contains(it)).count();
        if !source[text..].starts_with(line) {
            // The markers of comments may begin the text itself.
            break;
        }
        end = text + line.len();
    }
    Some(end)
}
