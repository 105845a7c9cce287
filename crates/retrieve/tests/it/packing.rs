//! What fits a budget: mechanism 10, the budget itself, and the edges of a pack.

use knowing_graph::NodeIndex;
use knowing_model::{EdgeKind, NodeId, SnapshotId, identity};
use knowing_retrieve::{Packing, Params, Part, Run, Switches, Texts, pack};
use knowing_wire::{Detail, Format, Payload, tokens};
use proptest::prelude::*;

use crate::drawn::{Drawn, settings};

/// Signatures as long as each symbol's words ask for, so that sizes are drawn too.
struct Lengths<'a> {
    drawn: &'a Drawn,
    of: fn(&str) -> usize,
}

impl Texts for Lengths<'_> {
    fn signature(&self, node: NodeIndex) -> Option<String> {
        Some("s".repeat((self.of)(self.drawn.symbol(node))))
    }

    fn source(&self, node: NodeIndex) -> Option<String> {
        Some(format!("def {}():\n    ...\n", self.drawn.symbol(node)))
    }
}

fn head() -> Payload {
    Payload {
        tool: "context_for_task".to_owned(),
        tree: "0123456789ab".to_owned(),
        snapshot: SnapshotId(identity::empty_tree()),
        fresh: "yes".to_owned(),
        budget: 0,
        tokens: 0,
        pack_root: None,
        repo: "example.com/drawn".to_owned(),
        session: None,
        symbols: Vec::new(),
        edges: Vec::new(),
        notes: Vec::new(),
        unknown_files: Vec::new(),
        next_cursor: None,
        mentioned: Vec::new(),
    }
}

fn packing(budget: usize, format: Format, detail: Detail) -> Packing {
    let asked = "task".to_owned();
    Packing { entry: "for_task", asked, budget, format, detail, cutoff: 0.0, limit: usize::MAX }
}

fn packed(drawn: &Drawn, run: &Run, packing: &Packing, switches: Switches, of: fn(&str) -> usize) -> Payload {
    pack(drawn.sources(), run, packing, &Params::default(), switches, &Lengths { drawn, of }, head())
}

fn symbols(payload: &Payload) -> Vec<&str> {
    payload.symbols.iter().map(|it| it.name.as_str()).collect()
}

/// Two symbols of one score of which a budget holds one: `near` is larger, `afar` is less near.
struct OneOfTwo {
    drawn: Drawn,
    run: Run,
}

impl OneOfTwo {
    fn new(walk_of_afar: f64, virtual_share: usize) -> OneOfTwo {
        let drawn = Drawn::new("m.py\n    function near: parcel\n    function afar: parcel\n");
        let mut run = drawn.run("parcel", &settings(|_| (), &[]));
        for it in &mut run.ranked {
            it.score = 0.5;
            it.walk = if drawn.symbol(it.node) == "near" { 1.0 } else { walk_of_afar };
        }
        (run.walked.n_virtual, run.walked.n_other) = (10 * virtual_share, 10);
        OneOfTwo { drawn, run }
    }

    /// Which of them is packed when `near` takes 1.3 times as much as `afar`.
    #[track_caller]
    fn chosen(&self, without: &[Part]) -> String {
        let of: fn(&str) -> usize = |symbol| if symbol == "near" { 1_000 } else { 700 };
        let packing = packing(500, Format::Json, Detail::Signature);
        let pack = packed(&self.drawn, &self.run, &packing, Switches::without(without), of);
        assert_eq!(pack.symbols.len(), 1, "the budget holds one of the two");
        pack.symbols[0].name.clone()
    }
}

#[test]
fn q2_mechanism_10_packing_prefers_what_is_near() {
    assert_eq!(OneOfTwo::new(0.05, 0).chosen(&[]), "near");
    assert_eq!(OneOfTwo::new(1.0, 0).chosen(&[]), "afar", "as near and smaller");
    assert_eq!(OneOfTwo::new(0.05, 0).chosen(&[Part::Proximity]), "afar");
}

#[test]
fn q2_mechanism_10_counts_more_the_more_lies_outside() {
    // 0.5 ^ 0.3 is above 1 / 1.3, and 0.5 ^ 0.7 below.
    assert_eq!(OneOfTwo::new(0.5, 0).chosen(&[]), "afar");
    assert_eq!(OneOfTwo::new(0.5, 2).chosen(&[]), "near");
    assert_eq!(OneOfTwo::new(0.5, 2).chosen(&[Part::Proximity]), "afar");
}

#[test]
fn q2_mechanism_10_takes_injected_symbols_as_near() {
    let mut two = OneOfTwo::new(0.05, 0);
    assert_eq!(two.chosen(&[]), "near");
    for it in &mut two.run.ranked {
        it.injected = two.drawn.symbol(it.node) == "afar";
    }
    assert_eq!(two.chosen(&[]), "afar");
}

/// Forty functions in a row, each calling the next, with members and imports among them.
fn row() -> Drawn {
    let mut text = String::from("m.py\n    class Owner: parcel\n");
    for number in 0..40 {
        text += &format!("    function parcel_{number}: carry parcel {}\n", "word ".repeat(number % 7));
    }
    for number in 0..39 {
        text += &format!("parcel_{number} calls parcel_{}\n", number + 1);
        text += &format!("Owner contains parcel_{number}\n");
        text += &format!("parcel_{number} similar_to parcel_{}\n", (number + 7) % 40);
        text += &format!("parcel_{number} owned_by Owner\n");
    }
    Drawn::new(&text)
}

fn uneven(symbol: &str) -> usize {
    symbol.bytes().map(usize::from).sum::<usize>() * 37 % 400
}

#[test]
fn q6_a_pack_keeps_its_budget_and_fills_it() {
    let drawn = row();
    let run = drawn.run("carry parcel", &settings(|_| (), &[]));
    let of: fn(&str) -> usize = uneven;
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(200));
    let formats = prop::sample::select(Format::ALL.to_vec());
    let details = prop_oneof![Just(Detail::Brief), Just(Detail::Signature), Just(Detail::Source)];
    runner
        .run(&(200_usize..6_000, formats, details), |(budget, format, detail)| {
            let pack = packed(&drawn, &run, &packing(budget, format, detail), Switches::default(), of);
            let bytes = format.bytes(&pack);
            prop_assert!(tokens(bytes) <= budget, "{bytes} bytes for {budget} tokens");
            prop_assert_eq!(pack.tokens, tokens(bytes));
            prop_assert_eq!(pack.budget, budget);
            // What is left out would not have fitted.
            let everything = packed(&drawn, &run, &packing(1 << 20, format, detail), Switches::default(), of);
            let chosen: Vec<NodeId> = pack.symbols.iter().map(|it| it.node_id).collect();
            let left = everything.symbols.iter().filter(|it| !chosen.contains(&it.node_id));
            let bare = Payload { edges: Vec::new(), ..pack.clone() };
            let room = 4 * budget - format.bytes(&bare);
            // Counting before choosing is a little more careful than what is written.
            let care = 6 * pack.symbols.len() + 400;
            for it in left {
                let needs = format.symbol_bytes(it, &pack.repo) + care;
                prop_assert!(needs > room, "{} of {needs} bytes was left out of {room}", it.name);
            }
            let largest =
                everything.symbols.iter().map(|it| format.symbol_bytes(it, &pack.repo)).max().unwrap();
            if pack.symbols.len() < everything.symbols.len() && budget * 4 / 10 > largest + care {
                prop_assert!(bytes * 10 >= budget * 4 * 9, "{bytes} bytes of {}", budget * 4);
            }
            prop_assert!(pack.symbols.is_sorted_by(|a, b| a.score >= b.score), "in rank order");
            Ok(())
        })
        .unwrap();
}

#[test]
fn q6_a_pack_says_what_it_takes() {
    let drawn = row();
    let run = drawn.run("carry parcel", &settings(|_| (), &[]));
    // Around a thousand the number takes a digit more.
    for budget in 960..1_060 {
        for format in Format::ALL {
            let pack = packed(
                &drawn,
                &run,
                &packing(budget, format, Detail::Signature),
                Switches::default(),
                uneven,
            );
            assert_eq!(pack.tokens, tokens(format.bytes(&pack)), "{budget}");
        }
    }
}

#[test]
fn edges_of_a_pack_join_chosen_symbols_once_by_weight() {
    let drawn = row();
    let run = drawn.run("carry parcel", &settings(|_| (), &[]));
    for (budget, format) in [(3_000, Format::Json), (1_500, Format::Markdown), (50_000, Format::Json)] {
        let pack = packed(&drawn, &run, &packing(budget, format, Detail::Brief), Switches::default(), |_| 0);
        let chosen: Vec<NodeId> = pack.symbols.iter().map(|it| it.node_id).collect();
        assert!(pack.edges.iter().all(|it| chosen.contains(&it.source) && chosen.contains(&it.target)));
        assert!(pack.edges.iter().all(|it| it.kind.weight_hundredths() > 0), "owners are no neighbours");
        assert!(pack.edges.is_sorted_by_key(|it| std::cmp::Reverse(it.kind.weight_hundredths())));
        let mut keys: Vec<(NodeId, NodeId, EdgeKind)> =
            pack.edges.iter().map(|it| (it.source, it.target, it.kind)).collect();
        let n_edges = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), n_edges, "each once");
        let with = format.bytes(&pack);
        let without = format.bytes(&Payload { edges: Vec::new(), ..pack.clone() });
        assert!((with - without) as f64 <= 0.15 * 4.0 * budget as f64 + 20.0, "{with} {without} {budget}");
    }
    let all = packed(&drawn, &run, &packing(50_000, Format::Json, Detail::Brief), Switches::default(), |_| 0);
    assert_eq!(all.symbols.len(), 41);
    assert_eq!(all.edges.iter().filter(|it| it.kind == EdgeKind::Calls).count(), 39);
}

#[test]
fn a_pack_is_itself_by_what_was_asked_and_chosen() {
    let drawn = row();
    let run = drawn.run("carry parcel", &settings(|_| (), &[]));
    let root = |change: &dyn Fn(&mut Packing)| {
        let mut wanted = packing(50_000, Format::Json, Detail::Brief);
        change(&mut wanted);
        packed(&drawn, &run, &wanted, Switches::default(), |_| 0).pack_root.unwrap()
    };
    let plain = root(&|_| ());
    assert_eq!(plain, root(&|it| it.format = Format::Markdown), "how it is written does not matter");
    assert_eq!(plain, root(&|it| it.budget = 60_000));
    assert_ne!(plain, root(&|it| it.limit = 5));
    assert_ne!(plain, root(&|it| it.asked = "another".to_owned()));
    assert_ne!(plain, root(&|it| it.entry = "for_files"));
}

#[test]
fn q7_a_pack_that_was_kept_is_the_one_that_was_made() {
    let drawn = row();
    let mut run = drawn.run("carry parcel", &settings(|_| (), &[]));
    for (place, it) in run.ranked.iter_mut().enumerate() {
        // In hundredths it is 0.53; of four decimals, 0.5350, it would be 0.54.
        it.score = 0.534_996 - 1e-7 * place as f64;
    }
    for format in Format::ALL {
        let made =
            packed(&drawn, &run, &packing(50_000, format, Detail::Source), Switches::default(), uneven);
        let kept = knowing_wire::json::decode(&knowing_wire::json::encode(&made)).unwrap();
        assert_eq!(kept, made);
        assert_eq!(format.encode(&kept), format.encode(&made));
    }
}

#[test]
fn limit_and_cutoff_bound_a_pack_from_the_end() {
    let drawn = row();
    let run = drawn.run("carry parcel", &settings(|_| (), &[]));
    let with = |limit: usize, cutoff: f64| {
        let wanted = Packing { limit, cutoff, ..packing(50_000, Format::Json, Detail::Brief) };
        packed(&drawn, &run, &wanted, Switches::default(), |_| 0)
    };
    let all = with(usize::MAX, 0.0);
    assert_eq!(symbols(&with(7, 0.0)), symbols(&all)[..7]);
    assert_eq!(with(0, 0.0).symbols.len(), 0);
    let middle = run.ranked[10].score;
    let cut = with(usize::MAX, middle);
    assert_eq!(cut.symbols.len(), run.ranked.iter().filter(|it| it.score >= middle).count());
    assert!(cut.symbols.len() < all.symbols.len());
}
