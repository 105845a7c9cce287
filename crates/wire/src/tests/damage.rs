//! Documents that are cut, changed or made up: an error that says where, never a panic.

use proptest::prelude::*;

use super::{answer, numbered, payload, text_of};
use crate::{At, Format, gcb, gcf, json};

proptest! {
    #[test]
    fn w4_gcb_rejects_every_truncation(payload in payload(), at in any::<prop::sample::Index>()) {
        let written = gcb::encode(&payload);
        prop_assert!(gcb::decode(&written[..at.index(written.len())]).is_err());
    }

    #[test]
    fn w4_gcb_rejects_every_changed_byte(
        payload in payload(),
        at in any::<prop::sample::Index>(),
        with in 1_u8..,
    ) {
        let mut written = gcb::encode(&payload);
        let at = at.index(written.len());
        written[at] ^= with;
        prop_assert!(gcb::decode(&written).is_err());
    }

    #[test]
    fn w4_gcb_survives_changes_under_a_right_checksum(
        payload in payload(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut written = gcb::encode(&payload);
        written.truncate(written.len() - 4);
        for (at, with) in changes {
            let at = 5 + at.index(written.len() - 5);
            written[at] = with;
        }
        let _ = gcb::decode(&with_checksum(written));
    }

    #[test]
    fn random_bytes_are_no_document(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut document = b"GCB1\x02".to_vec();
        document.extend(&bytes);
        prop_assert!(gcb::decode(&document).is_err());
        prop_assert!(gcb::decode(&bytes).is_err());
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(gcf::decode(&text).is_err());
        let _ = gcf::decode(&format!("GCF profile=graph\n{text}"));
        prop_assert!(json::decode(&text).is_err());
    }

    #[test]
    fn mutated_gcf_is_read_or_refused_with_its_line(
        payload in payload(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), ".{0,3}"), 1..6),
        is_delta in any::<bool>(),
    ) {
        let mut text = text_of(Format::Gcf, &numbered(payload));
        if is_delta {
            text = text.replacen("profile=graph", "profile=graph delta=true", 1).replace("## targets", "## added")
                .replace("## loc", "## changed").replace("## edges", "## edges_added");
        }
        for (at, with) in changes {
            let at = text.floor_char_boundary(at.index(text.len()));
            let end = text.ceil_char_boundary((at + 2).min(text.len()));
            text.replace_range(at..end, &with);
        }
        if let Err(problem) = gcf::decode(&text) {
            let At::Line(line) = problem.at else { panic!("{problem}") };
            prop_assert!(line >= 1 && line <= text.split('\n').count(), "{}", problem);
        }
    }

    #[test]
    fn a_line_that_is_missing_is_noticed(payload in payload(), at in any::<prop::sample::Index>()) {
        let payload = numbered(payload);
        let text = text_of(Format::Gcf, &payload);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let at = at.index(lines.len());
        let is_comment = lines[at].starts_with('#') && !lines[at].starts_with("## ");
        let cut: String = lines.iter().enumerate().filter(|it| it.0 != at).map(|it| *it.1).collect();
        prop_assert!(is_comment || gcf::decode(&cut).is_err(), "{}", lines[at]);
    }
}

fn with_checksum(mut body: Vec<u8>) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in &body {
        crc ^= u32::from(*byte);
        (0..8).for_each(|_| crc = (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1)));
    }
    body.extend((!crc).to_le_bytes());
    body
}

/// Reads a changed body under its right checksum.
#[track_caller]
fn check_gcb(change: impl FnOnce(&mut Vec<u8>), expect: &str) {
    let mut body = gcb::encode(&answer());
    body.truncate(body.len() - 4);
    change(&mut body);
    let problem = gcb::decode(&with_checksum(body)).unwrap_err().to_string();
    assert!(problem.contains(expect), "{problem}");
}

#[test]
fn w4_gcb_says_what_is_wrong() {
    let length = gcb::encode(&answer()).len() - 4;
    check_gcb(|it| it[0] = b'X', "byte 0: it does not begin with `GCB1`");
    check_gcb(|it| it[4] = 3, "byte 4: its version is 3");
    check_gcb(|it| it.push(0), "1 bytes follow the last edge");
    // The last edge: source, target, kind, provenance, confidence, status.
    check_gcb(|it| it[length - 7] = 9, "there is no symbol `9`");
    check_gcb(|it| it[length - 5] = 200, "the kind `200` is in no table");
    check_gcb(|it| it[length - 1] = 3, "`3` is no status");
    let mut written = gcb::encode(&answer());
    *written.last_mut().unwrap() ^= 1;
    assert!(gcb::decode(&written).unwrap_err().to_string().contains("the checksum"));
}

#[test]
fn w4_counts_beyond_the_bytes_allocate_nothing() {
    // tool, tree, repo empty; snapshot and root; budget, tokens; then three counts.
    let head = |counts: &[u8]| {
        let mut body = b"GCB1\x02\0\0\0".to_vec();
        body.extend([0; 66]);
        body.extend(counts);
        with_checksum(body)
    };
    let problem = |counts: &[u8]| gcb::decode(&head(counts)).unwrap_err().to_string();
    // 10,000,000 is allowed and cannot be there; one more is not allowed.
    assert!(problem(&[0x80, 0xad, 0xe2, 0x04, 0, 0]).contains("cannot be in the bytes that are left"));
    assert!(problem(&[0x81, 0xad, 0xe2, 0x04, 0, 0]).contains("more than 10000000"));
    assert!(problem(&[0xff; 12]).contains("more than 64 bits"));
    assert!(gcb::decode(&head(&[0, 0, 0])).is_ok());
}

#[test]
fn gcf_says_what_is_wrong_and_where() {
    let head = "GCF profile=graph repo=r\n## targets [1]\n@0 fn ://a.b 0.50 structural\n";
    for (text, expect) in [
        ("", "line 1: it does not begin with `GCF profile=graph`"),
        ("GCF profile=tree\n", "line 1: it does not begin"),
        ("GCF profile=graph tool\n", "line 1: `tool` has no `=`"),
        ("GCF profile=graph symbols=2\n", "line 1: there should be 2 symbols, and 0 are there"),
        ("GCF profile=graph\n## wonders\n", "line 2: the section `wonders` is not known"),
        ("GCF profile=graph\n@0 fn a 0.5 structural\n", "line 2: a line stands outside every section"),
        (
            "GCF profile=graph\n## targets [2]\n@0 fn a 0.5 structural\n",
            "line 2: the section should have 2 lines",
        ),
        ("GCF profile=graph\n## targets\n@0 fn a 0.5\n", "line 3: a symbol has 5 or 6 fields, not 4"),
        ("GCF profile=graph\n## targets\n@x fn a 0.5 structural\n", "line 3: `@x` is no id"),
        ("GCF profile=graph\n## targets\n@0 fn a high structural\n", "line 3: `high` is no number"),
        ("GCF profile=graph\n## targets\n@0 fn a%2 0.5 structural\n", "line 3: `a%2` is not escaped"),
        (&format!("{head}## loc\n@1 a 1 1\n"), "line 5: the id `@1` stands for no symbol"),
        (&format!("{head}## loc\n@0 a 1\n"), "line 5: a place has 4 or 6 fields, not 3"),
        (&format!("{head}## edges\n@0<@4 calls\n"), "line 5: the id `@4`"),
        (&format!("{head}## src\n@0 1 2\n| a\n"), "line 5: 2 lines should follow"),
        (&format!("{head}## targets\n"), "line 4: the section `targets` stands twice"),
    ] {
        let problem = gcf::decode(text).unwrap_err().to_string();
        assert!(problem.starts_with(expect), "{problem}\nfor {text}");
    }
    let later = format!("{head}## wonders [1]\nwhatever\nmore\n## loc\n@0 a 1 1\n");
    assert!(gcf::decode(&later).is_ok(), "a section of a version to come is passed over");
}
