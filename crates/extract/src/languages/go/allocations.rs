//! `new(value)`, which the grammar does not know: there `new` takes a type. Such a `new` is parsed under another name, like
//! any other function; its text is read from the file itself.
//!
//! ```text
//! new(Cart)   new(pkg.Cart)   new([]byte)   new(Pair[int])     types: left as they are
//! new(f(x))   new(Cart{})     new(-1)       new(a + b)         values
//! ```

use crate::engine::refit::{Refit, is_part_of_name};

const NEW: &[u8] = b"new(";
/// As long as `new`.
const OTHER_NAME: &[u8] = b"nEw";

pub(crate) fn blanked(source: &[u8]) -> Option<Vec<u8>> {
    let mut refit = Refit::new(source);
    for at in memchr::memmem::find_iter(source, NEW) {
        let is_whole = source[..at].last().is_none_or(|&it| !is_part_of_name(it) && it != b'.');
        if is_whole && is_value(&source[at + NEW.len()..]) {
            refit.put(at, OTHER_NAME);
        }
    }
    refit.finish()
}

/// Whether an argument begins that can be no type. A lone name may be either, and stays what the grammar takes it for.
fn is_value(argument: &[u8]) -> bool {
    let mut rest = argument.trim_ascii_start();
    match rest.first() {
        Some(b'0'..=b'9' | b'"' | b'`' | b'\'' | b'-' | b'+' | b'!' | b'&' | b'^') => return true,
        Some(b'<') => return !rest.starts_with(b"<-chan"),
        _ => {}
    }
    // `[]`, `[4]*`, `map[string]`
    let mut is_composed = false;
    loop {
        rest = match rest {
            [b'*', after @ ..] => after,
            [b'[', ..] => behind_brackets(rest),
            [b'm', b'a', b'p', b'[', ..] => behind_brackets(&rest[3..]),
            _ => break,
        };
        is_composed = true;
    }
    let name = &rest[..rest.iter().take_while(|&&it| is_part_of_name(it) || it == b'.').count()];
    if name.is_empty() || matches!(name, b"chan" | b"func" | b"interface" | b"struct") {
        return false;
    }
    // A type has a package and a name at most.
    let n_dots = name.iter().filter(|it| **it == b'.').count();
    if matches!(name, b"true" | b"false" | b"nil" | b"iota") || name.ends_with(b".") || n_dots > 1 {
        return true;
    }
    rest = &rest[name.len()..];
    if rest.starts_with(b"[") {
        rest = behind_brackets(rest);
    }
    match rest.trim_ascii_start() {
        [b'{' | b'(', ..] => true,
        [b',', after @ ..] => !after.trim_ascii_start().starts_with(b")"),
        [b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!', ..] => {
            !is_composed
        }
        _ => false,
    }
}

/// What stands after the bracket that closes the first one; nothing where none does.
fn behind_brackets(text: &[u8]) -> &[u8] {
    let mut depth = 0_u32;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b'\n' => break,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_types_are_told_apart() {
        for argument in [
            "f(x))",
            "pkg.F(x))",
            "Cart{1})",
            "-1)",
            "0.5)",
            "\"a\")",
            "a + b)",
            "true)",
            "x.(T))",
            "&c)",
            "<-c)",
            "[]int{1})",
            "map[string]int{})",
            "uint64(1))",
            "Pair[int]{})",
            "a, b)",
            "\n\tf(x),\n)",
            "xs[0] * 2)",
            "f.opt.Name)",
        ] {
            assert!(is_value(argument.as_bytes()), "{argument}");
        }
        for argument in [
            "Cart)",
            "pkg.Cart)",
            "*Cart)",
            "[]byte)",
            "[4]int)",
            "map[string]int)",
            "Pair[int, T])",
            "chan int)",
            "<-chan int)",
            "func(int) error)",
            "struct{ a int })",
            "interface{})",
            "x)",
            "Cart,)",
            ")",
            "",
            "[",
            "(T))",
        ] {
            assert!(!is_value(argument.as_bytes()), "{argument}");
        }
    }

    #[test]
    fn names_that_end_alike_are_left_alone() {
        assert_eq!(blanked(b"renew(f(x)); s.new(f(x)); new(T)"), None);
        assert_eq!(blanked(b"p := new(f(x))").as_deref(), Some(&b"p := nEw(f(x))"[..]));
    }
}
