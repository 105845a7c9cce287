//! A second reader of GCF, from its grammar alone: it shares no code with the first.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{numbered, payload, text_of};
use crate::{Format, Payload, Status, Symbol};

#[derive(Default, Debug)]
struct Read {
    header: BTreeMap<String, String>,
    /// Section and fields; none for what was transmitted before.
    nodes: BTreeMap<u32, (String, Option<Vec<String>>)>,
    order: Vec<u32>,
    loc: BTreeMap<u32, Vec<String>>,
    sig: BTreeMap<u32, String>,
    src: BTreeMap<u32, (u32, Vec<String>)>,
    edges: Vec<(u32, u32, String, String)>,
    comments: Vec<String>,
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut at = 0;
    let raw = text.as_bytes();
    while at < raw.len() {
        if raw[at] == b'%' {
            bytes.push(u8::from_str_radix(&text[at + 1..at + 3], 16).unwrap());
            at += 3;
        } else {
            bytes.push(raw[at]);
            at += 1;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn read(text: &str) -> Read {
    let mut read = Read::default();
    let mut lines = text.split('\n');
    let header = lines.next().unwrap();
    let fields: Vec<&str> = header.split(' ').collect();
    assert_eq!(fields[..2], ["GCF", "profile=graph"]);
    let mut last = 0;
    for field in &fields[2..] {
        let (key, value) = field.split_once('=').unwrap();
        let keys = "tool tree snapshot fresh budget tokens symbols edges pack_root repo session delta base_root new_root savings next";
        let place = keys.split(' ').position(|it| it == key).unwrap() + 1;
        assert!(place > last, "{key} stands out of order");
        last = place;
        read.header.insert(key.to_owned(), unescape(value));
    }
    let (mut section, mut left) = (String::new(), 0_usize);
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            assert_eq!(left, 0, "{section} has too few lines");
            let (name, count) = heading.split_once(' ').unwrap();
            section = name.to_owned();
            left = count[1..count.len() - 1].parse().unwrap();
            continue;
        }
        if let Some(comment) = line.strip_prefix("# ") {
            read.comments.push(comment.to_owned());
            continue;
        }
        if line.is_empty() || line == "# " {
            continue;
        }
        left = left.checked_sub(1).unwrap_or_else(|| panic!("{section} has too many lines"));
        let (id, rest) = line.split_once(' ').unwrap();
        let number = |it: &str| it.trim_start_matches('@').parse::<u32>().unwrap();
        match section.as_str() {
            "targets" | "related" | "extended" | "distance_3" => {
                let id = number(id);
                let fields = match rest {
                    " # previously transmitted" => None,
                    rest => Some(rest.split(' ').map(unescape).collect()),
                };
                read.order.push(id);
                assert!(read.nodes.insert(id, (section.clone(), fields)).is_none());
            }
            "loc" => drop(read.loc.insert(number(id), rest.split(' ').map(unescape).collect())),
            "sig" => {
                let plain = rest.replace("\\\\", "\u{0}").replace("\\n", "\n").replace('\u{0}', "\\");
                read.sig.insert(number(id), plain);
            }
            "src" => {
                let (first, count) = rest.split_once(' ').unwrap();
                let count: usize = count.parse().unwrap();
                let body = (0..count).map(|_| lines.next().unwrap()[2..].to_owned()).collect();
                read.src.insert(number(id), (number(first), body));
            }
            "edges" => {
                let (target, source) = id.split_once('<').unwrap();
                let (kind, status) = rest.split_once(' ').unwrap_or((rest, ""));
                read.edges.push((number(target), number(source), kind.to_owned(), status.to_owned()));
            }
            other => panic!("unknown section {other}"),
        }
    }
    assert_eq!(left, 0, "{section} has too few lines");
    read
}

/// Short forms as the table of kinds lists them.
fn short(kind: &str) -> &str {
    match kind {
        "function" => "fn",
        "interface" => "iface",
        "route_handler" => "route",
        "external" => "ext",
        "package" => "pkg",
        "service" => "svc",
        "constructor" => "ctor",
        "property" => "prop",
        "enum_member" => "member",
        "type_alias" => "alias",
        "doc_section" => "doc",
        other => other,
    }
}

/// Two decimals of a number with four, halves to the even neighbour.
fn two_decimals(score: f64) -> String {
    let exact = format!("{score:.4}");
    let (sign, digits) = exact.strip_prefix('-').map_or(("", exact.as_str()), |it| ("-", it));
    let number: i64 = digits.replace('.', "").parse().unwrap();
    let (mut hundreds, rest) = (number / 100, number % 100);
    if rest > 50 || rest == 50 && hundreds % 2 == 1 {
        hundreds += 1;
    }
    let sign = if hundreds == 0 { "" } else { sign };
    format!("{sign}{}.{:02}", hundreds / 100, hundreds % 100)
}

fn check_symbol(read: &Read, symbol: &Symbol) {
    let (section, fields) = &read.nodes[&symbol.id];
    let sections = ["targets", "related", "extended", "distance_3"];
    assert_eq!(section, sections[usize::from(symbol.distance)]);
    let fields = fields.as_ref().unwrap();
    assert_eq!(fields[0], short(symbol.kind.name()));
    let repo = read.header.get("repo").map_or("", String::as_str);
    let name = if fields[1].starts_with("://") { format!("{repo}{}", fields[1]) } else { fields[1].clone() };
    assert_eq!(name, symbol.qualified_name);
    assert_eq!(fields[2], two_decimals(symbol.score));
    assert_eq!(fields[3], symbol.provenance.name());
    let letters: String = [("dirty", "d"), ("test", "t"), ("generated", "g"), ("deprecated", "x")]
        .iter()
        .filter(|it| symbol.flags.iter().any(|flag| flag == it.0))
        .map(|it| it.1)
        .collect();
    assert_eq!(fields.get(4).map_or("", |it| &it[1..]), letters);
    match &symbol.file {
        Some(file) => {
            let loc = &read.loc[&symbol.id];
            assert_eq!((&loc[0], loc[1].parse()), (file, Ok(symbol.line)));
            assert_eq!(loc[2].parse(), Ok(symbol.col.max(1)));
            let end = if symbol.end_col > 0 { symbol.end_line } else { 0 };
            assert_eq!(loc.get(3).map_or(Ok(0), |it| it.parse()), Ok(end));
        }
        None => assert!(!read.loc.contains_key(&symbol.id)),
    }
    assert_eq!(read.sig.get(&symbol.id).cloned(), symbol.signature.as_ref().map(|it| it.replace('\r', " ")));
    let source = read.src.get(&symbol.id);
    assert_eq!(
        source.map(|it| it.1.join("\n")),
        symbol.source.as_ref().map(|it| it.trim_end_matches('\n').to_owned())
    );
    let unresolved = format!("unresolved @{} {}", symbol.id, symbol.unresolved);
    assert_eq!(read.comments.contains(&unresolved), symbol.unresolved > 0);
}

fn check(payload: &Payload) {
    let read = read(&text_of(Format::Gcf, payload));
    assert_eq!(read.order, (0..payload.symbols.len() as u32).collect::<Vec<_>>());
    let header = |key: &str| read.header.get(key).cloned().unwrap_or_default();
    assert_eq!((header("tool"), header("tree")), (payload.tool.clone(), payload.tree.clone()));
    assert_eq!(header("snapshot"), payload.snapshot.to_string()[..12]);
    assert_eq!(header("pack_root"), payload.pack_root.map_or(String::new(), |it| it.to_string()));
    assert_eq!(header("symbols"), payload.symbols.len().to_string());
    payload.symbols.iter().for_each(|it| check_symbol(&read, it));
    let id = |node| payload.symbols.iter().find(|it| it.node_id == node).unwrap().id;
    let status = |it: Status| match it {
        Status::None => "",
        Status::Added => "added",
        Status::Removed => "removed",
    };
    let edges: Vec<_> = payload
        .edges
        .iter()
        .map(|it| (id(it.target), id(it.source), it.kind.name().to_owned(), status(it.status).to_owned()))
        .collect();
    assert_eq!(read.edges, edges);
}

proptest! {
    #[test]
    fn w1_a_second_reader_of_gcf_reads_the_same(payload in payload()) {
        check(&numbered(payload));
    }

    #[test]
    fn w5_every_located_symbol_has_a_loc_line(payload in payload()) {
        let payload = numbered(payload);
        let read = read(&text_of(Format::Gcf, &payload));
        for symbol in payload.symbols.iter().filter(|it| it.file.is_some()) {
            prop_assert_eq!(read.loc[&symbol.id][1].parse(), Ok(symbol.line));
        }
    }
}
