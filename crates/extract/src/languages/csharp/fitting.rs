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
//!
//! ref partial struct S { }                         `ref` is known before `struct` alone: blank
//! ```

use std::ops::Range;

use crate::engine::refit::{Refit, is_part_of_name};

pub(crate) fn blanked(source: &[u8]) -> Option<Vec<u8>> {
    let mut refit = Refit::new(source);
    names(&mut refit);
    for at in memchr::memmem::find_iter(source, b"ref partial struct") {
        refit.blank(at..at + 3);
    }
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
    let directives = directives(refit.source);
    let torn = torn(&directives);
    let mut groups: Vec<Group> = Vec::new();
    // Where the code that is left out begins: behind the directive of another branch.
    let mut dead_from: Option<usize> = None;
    for (directive, is_torn) in directives.iter().zip(torn) {
        let was_dead = dead_from.is_some();
        match directive.what {
            What::If => groups.push(Group { is_torn: is_torn && !was_dead, n_branches: 1 }),
            What::Else => groups.last_mut().into_iter().for_each(|it| it.n_branches += 1),
            What::End => {}
        }
        let closes_torn = groups.last().is_some_and(|it| it.is_torn);
        if directive.what == What::End {
            groups.pop();
        }
        let is_dead = groups.iter().any(|it| it.is_torn && it.n_branches > 1);
        if let Some(from) = dead_from.take() {
            refit.blank(from..directive.range.start);
        }
        if closes_torn || was_dead {
            refit.blank(directive.range.clone());
        }
        dead_from = is_dead.then_some(directive.range.end);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    If,
    Else,
    End,
}

struct Directive<'s> {
    what: What,
    range: Range<usize>,
    /// The lines of code before and behind.
    before: &'s [u8],
    after: &'s [u8],
}

struct Group {
    is_torn: bool,
    n_branches: u32,
}

fn directives(source: &[u8]) -> Vec<Directive<'_>> {
    let mut all: Vec<Directive<'_>> = Vec::new();
    let (mut from, mut before, mut n_done) = (0, &b";"[..], 0);
    for line in source.split_inclusive(|it| *it == b'\n') {
        let range = from..from + line.len();
        from = range.end;
        let code = line.trim_ascii();
        if let Some(directive) = code.strip_prefix(b"#").map(<[u8]>::trim_ascii_start) {
            let what = match directive {
                it if it.starts_with(b"if") => What::If,
                it if it.starts_with(b"el") => What::Else,
                it if it.starts_with(b"endif") => What::End,
                _ => continue,
            };
            all.push(Directive { what, range, before, after: &[] });
            continue;
        }
        let code = without_comment(code);
        if !code.is_empty() {
            before = code;
            all[n_done..].iter_mut().for_each(|it| it.after = code);
            n_done = all.len();
        }
    }
    all
}

/// Which of them open a group that begins or ends within a declaration, a statement or a list.
fn torn(all: &[Directive<'_>]) -> Vec<bool> {
    let mut torn = vec![false; all.len()];
    let mut open: Vec<(usize, &[u8])> = Vec::new();
    for (index, directive) in all.iter().enumerate() {
        if directive.what == What::If {
            torn[index] = goes_on(directive.before, directive.after) || continues(directive.after);
            open.push((index, &[]));
            continue;
        }
        let Some((_, first_branch)) = open.last_mut() else { continue };
        if first_branch.is_empty() {
            *first_branch = directive.before;
        }
        if directive.what == What::End
            && let Some((at, first_branch)) = open.pop()
        {
            let is_section = starts_with_word(directive.after, &[b"case", b"default"]);
            torn[at] |= goes_on(first_branch, directive.after) || continues(directive.after) && !is_section;
        }
    }
    torn
}

/// Whether a line is not the end of what it says.
fn goes_on(line: &[u8], next: &[u8]) -> bool {
    line.last().is_some_and(|&it| is_part_of_name(it) || b"=&|?+.,(]\"".contains(&it))
        || line.ends_with(b"=>")
        || line.ends_with(b")") && next.starts_with(b"{")
}

/// Whether a line is not the begin of what it says.
fn continues(line: &[u8]) -> bool {
    const WORDS: &[&[u8]] = &[b"case", b"catch", b"default", b"else", b"finally", b"where"];
    line.first().is_some_and(|it| b".,;):?&|+*".contains(it))
        || line.starts_with(b"=") && !line.starts_with(b"==")
        || starts_with_word(line, WORDS)
}

fn starts_with_word(line: &[u8], words: &[&[u8]]) -> bool {
    let n = line.iter().take_while(|&&it| is_part_of_name(it)).count();
    words.contains(&&line[..n])
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
