//! The scripts of a Vue component: everything else is made blank, so that positions hold.

use memchr::memmem;

pub(crate) fn scripts(bytes: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> =
        bytes.iter().map(|it| if matches!(it, b'\n' | b'\r') { *it } else { b' ' }).collect();
    let mut at = 0;
    while let Some(open) = memmem::find(&bytes[at..], b"<script").map(|it| it + at) {
        let after = open + b"<script".len();
        // `<scripts>` is another element.
        if bytes.get(after).is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'-') {
            at = after;
            continue;
        }
        let Some(head) = memchr::memchr(b'>', &bytes[after..]).map(|it| it + after) else { break };
        if bytes[after..head].ends_with(b"/") {
            at = head;
            continue;
        }
        let end = memmem::find(&bytes[head..], b"</script").map_or(bytes.len(), |it| it + head);
        out[head + 1..end].copy_from_slice(&bytes[head + 1..end]);
        at = end;
    }
    out
}
