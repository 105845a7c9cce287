//! Truth in, figures out: a small project, a SCIP index of it made here, and what the comparison must say.

use prost::Message as _;

use super::compare::{Comparison, Judged, compare};
use super::ours::{OurFile, Ours};
use super::scip::{Document, Index, Metadata, Occurrence, Start, ToolInfo};
use super::{page, render, scip, tsv};

const SHOP: &str = "\
class Shop:
    def __init__(self, name):
        self.name = name

    def open(self):
        return helper(self.name)

def helper(text):
    return text

def main(unknown):
    shop = Shop('é'); shop.open()
    unknown.close()
    call = helper
    call('x')
";

fn files() -> Vec<OurFile> {
    let facts = knowing_extract::extract("shop.py", SHOP.as_bytes());
    vec![OurFile { path: "shop.py".to_owned(), text: SHOP.to_owned(), facts }]
}

/// An occurrence of the `nth` (from 0) `word` of the text, in UTF-16 columns.
fn occurrence(word: &str, nth: usize, symbol: &str, definition: bool) -> Occurrence {
    let (at, _) = SHOP.match_indices(word).nth(nth).expect("the word is in the text");
    let line = SHOP[..at].matches('\n').count() as i32;
    let begin = SHOP[..at].rfind('\n').map_or(0, |it| it + 1);
    let column = SHOP[begin..at].encode_utf16().count() as i32;
    Occurrence {
        range: vec![line, column, column + word.len() as i32],
        symbol: symbol.to_owned(),
        symbol_roles: i32::from(definition),
        ..Occurrence::default()
    }
}

const CLASS: &str = "scip-python python shop 1 shop/Shop#";
const INIT: &str = "scip-python python shop 1 shop/Shop#__init__().";
const OPEN: &str = "scip-python python shop 1 shop/Shop#open().";
const HELPER: &str = "scip-python python shop 1 shop/helper().";
const CLOSE: &str = "scip-python python shop 1 shop/Door#close().";

fn index(occurrences: Vec<Occurrence>) -> Vec<u8> {
    let tool_info = Some(ToolInfo { name: "scip-test".to_owned(), version: "1".to_owned() });
    let document = Document { relative_path: "shop.py".to_owned(), occurrences, position_encoding: 2 };
    let index = Index { metadata: Some(Metadata { tool_info }), documents: vec![document] };
    index.encode_to_vec()
}

fn compared(occurrences: Vec<Occurrence>) -> Comparison {
    let truth = scip::read(&index(occurrences), |_| Some(SHOP)).expect("it was just encoded");
    compare(&Ours::resolve("repo", files()), &truth)
}

fn definitions() -> Vec<Occurrence> {
    vec![
        occurrence("Shop", 0, CLASS, true),
        occurrence("__init__", 0, INIT, true),
        occurrence("open", 0, OPEN, true),
        occurrence("helper", 1, HELPER, true),
    ]
}

#[test]
fn r4_calls_that_the_compiler_confirms_are_right_and_found() {
    let mut all = definitions();
    all.push(occurrence("helper", 0, HELPER, false));
    // The compiler names the constructor, we name the class.
    all.push(occurrence("Shop", 1, INIT, false));
    // Behind a letter of two bytes, so that columns differ.
    all.push(occurrence("open", 1, OPEN, false));
    let it = compared(all);
    let resolved = it.calls["ast_resolved"];
    assert_eq!((resolved.right, resolved.wrong), (3, 0), "{:#?}", it.wrong);
    assert_eq!((it.call_recall.resolved, it.call_recall.all()), (3, 3), "{:#?}", it.missed);
    assert_eq!(resolved.precision(), Some(1.0));
    assert_eq!(it.language, "python");
}

#[test]
fn r4_wrong_and_missing_calls_are_counted_and_listed() {
    let mut all = definitions();
    all.push(occurrence("close", 0, OPEN, false));
    all.push(occurrence("open", 1, HELPER, false));
    let it = compared(all);
    assert_eq!(it.calls["ast_resolved"].wrong, 1);
    assert_eq!(it.wrong[0].position.line, 12);
    assert_eq!(it.call_recall.all(), 2);
    assert_eq!(it.call_recall.resolved + it.call_recall.inferred, 0);
    assert!(
        it.missed.iter().any(|it| it.position.line == 13 && it.subject.contains("open")),
        "{:#?}",
        it.missed
    );
}

#[test]
fn r4_a_call_of_something_outside_that_we_bind_is_wrong() {
    let mut all = definitions();
    all.push(occurrence("open", 1, CLOSE, false));
    let it = compared(all);
    assert_eq!(it.calls["ast_resolved"].wrong, 1);
    assert_eq!(it.call_recall.all(), 0);
}

#[test]
fn r4_a_call_through_a_variable_is_neither_right_nor_wrong() {
    let mut all = definitions();
    all.push(occurrence("call", 0, "local 1", true));
    all.push(occurrence("call", 1, "local 1", false));
    let it = compared(all);
    let judged = it.calls.values().fold(Judged::default(), |sum, it| Judged {
        right: sum.right + it.right,
        wrong: sum.wrong + it.wrong,
        through_value: sum.through_value + it.through_value,
        no_truth: sum.no_truth + it.no_truth,
    });
    assert_eq!((judged.wrong, judged.through_value), (0, 1), "{:#?}", it.wrong);
}

#[test]
fn r4_both_ways_to_write_a_range_are_read() {
    let mut old = definitions();
    old.push(occurrence("helper", 0, HELPER, false));
    let mut new = old.clone();
    for it in &mut new {
        let range = std::mem::take(&mut it.range);
        it.single_line_range = Some(Start { line: range[0], column: range[1] });
    }
    let (old, new) = (compared(old), compared(new));
    assert_eq!(old.calls, new.calls);
    assert_eq!(old.call_recall, new.call_recall);
    assert_eq!(new.calls["ast_resolved"].right, 1);
}

#[test]
fn r4_hand_written_truth_speaks_of_the_listed_sites_alone() {
    let text = "# repository: acme/shop\n# commit: abc\nshop.py\t6\t15\thelper\tshop.py:8\n\
                shop.py\t12\t28\topen\texternal\nshop.py\t13\t12\tclose\tunknown\n";
    let listed = tsv::read(text).expect("it is well formed");
    assert_eq!(listed.repository.as_deref(), Some("acme/shop"));
    assert_eq!(listed.commit.as_deref(), Some("abc"));
    let it = compare(&Ours::resolve("repo", files()), &listed.truth);
    let resolved = it.calls["ast_resolved"];
    assert_eq!((resolved.right, resolved.wrong), (1, 1));
    assert_eq!((it.call_recall.resolved, it.call_recall.all()), (1, 1));
    assert!(tsv::read("shop.py\t6\thelper\n").is_err());
}

#[test]
fn the_page_keeps_other_sections_and_is_the_same_whatever_came_first() {
    let a = page::merge("", "python a/a", "| python | a/a |", "figures of a\n");
    let ab = page::merge(&a, "go b/b", "| go | b/b |", "figures of b\n");
    let b = page::merge("", "go b/b", "| go | b/b |", "figures of b\n");
    let ba = page::merge(&b, "python a/a", "| python | a/a |", "figures of a\n");
    assert_eq!(ab, ba);
    assert_eq!(page::merge(&ab, "go b/b", "| go | b/b |", "figures of b\n"), ab);
    assert!(ab.find("## go b/b") < ab.find("## python a/a"), "{ab}");
    let renewed = page::merge(&ab, "python a/a", "| python | a/a |", "new figures\n");
    assert!(
        renewed.contains("new figures")
            && !renewed.contains("figures of a")
            && renewed.contains("figures of b")
    );
}

#[test]
fn a_report_names_what_is_wrong_most() {
    let mut all = definitions();
    all.push(occurrence("open", 1, HELPER, false));
    let it = compared(all);
    let subject = render::Subject {
        repository: "acme/shop".to_owned(),
        commit: "0123456789abcdef".to_owned(),
        tool: "scip-test 1".to_owned(),
    };
    let text = render::section(&it, &subject, 5);
    assert!(text.contains("`0123456789ab`") && text.contains("1 x `Shop.open (shop.py:5)`"), "{text}");
    assert!(render::row(&it, &subject).starts_with("| python | acme/shop |"));
}
