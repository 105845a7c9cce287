//! What the grammar loses whole files by, made fit for it.
//!
//! ```text
//! Task F(bool async) => async ? G() : H(async);    a name: parsed under another spelling
//! async Task F() => await G(async () => 1);        modifiers: left as they are
//!
//! public                                           a conditional within a declaration or a statement:
//! #if NET                                          blank
//!     readonly                                     kept
//! #else                                            blank, as is what follows
//! #endif                                           blank
//!     struct S { }
//! ```

use crate::engine::refit::{Refit, is_part_of_name};

pub(crate) fn blanked(source: &[u8]) -> Option<Vec<u8>> {
    let mut refit = Refit::new(source);
    names(&mut refit);
    conditionals(&mut refit);
    refit.finish()
}

fn names(refit: &mut Refit<'_>) {
    const ASYNC: &[u8] = b"async";
    let source = refit.source;
    for at in memchr::memmem::find_iter(source, ASYNC) {
        let end = at + ASYNC.len();
        let is_whole = source[..at].last().is_none_or(|&it| !is_part_of_name(it));
        let next = source[end..].trim_ascii_start().first();
        if is_whole && next.is_some_and(|it| b"),?;.=!&|:+]}".contains(it)) {
            refit.put(at, b"asynC");
        }
    }
}

/// The grammar reads conditionals around whole declarations and statements. Of others the first branch is kept.
fn conditionals(refit: &mut Refit<'_>) {
    if memchr::memmem::find(refit.source, b"#if").is_none() {
        return;
    }
    let mut groups: Vec<Group> = Vec::new();
    let (mut from, mut last) = (0, b';');
    for line in refit.source.split_inclusive(|it| *it == b'\n') {
        let range = from..from + line.len();
        from = range.end;
        let code = line.trim_ascii();
        let is_dead = groups.iter().any(|it| it.is_torn && it.n_branches > 1);
        let directive = code.strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
        if let Some(directive) = directive {
            if directive.starts_with(b"if") {
                let is_torn = !is_dead && (is_part_of_name(last) || b"=&|?+.".contains(&last));
                groups.push(Group { is_torn, n_branches: 1 });
            }
            let is_torn = groups.last().is_some_and(|it| it.is_torn);
            if directive.starts_with(b"el")
                && let Some(group) = groups.last_mut()
            {
                group.n_branches += 1;
            } else if directive.starts_with(b"endif") {
                groups.pop();
            }
            if is_torn || is_dead {
                refit.blank(range);
            }
        } else if is_dead {
            refit.blank(range);
        } else if let Some(it) = without_comment(code).last() {
            last = *it;
        }
    }
}

struct Group {
    is_torn: bool,
    n_branches: u32,
}

/// A line of code without the comment that ends it; nothing where all of it is one.
fn without_comment(code: &[u8]) -> &[u8] {
    let mut is_text = false;
    for (at, byte) in code.iter().enumerate() {
        match byte {
            b'"' => is_text = !is_text,
            b'/' if !is_text && matches!(code.get(at + 1), Some(b'/' | b'*')) => {
                return code[..at].trim_ascii_end();
            }
            _ => {}
        }
    }
    if code.starts_with(b"*") { &[] } else { code }
}
