//! What the walk reaches, when it says nothing, and what changed lately: mechanisms 8, 9 and 12.

use knowing_retrieve::{Part, Ranker, Run, Settings, features};

use crate::drawn::{Drawn, settings};

const SHARED: &str = "
one/reader.py
    function read_parcel: reads a parcel
two/writer.py
    function distant: writes something else
    function stranger: is joined to nothing
external numpy.ndarray
read_parcel type_hint_of numpy.ndarray
";

#[test]
fn q2_mechanism_8_externals_join_functions_that_share_them() {
    let joined = Drawn::new(&format!("{SHARED}distant type_hint_of numpy.ndarray\n"));
    let apart = Drawn::new(SHARED);
    let reached = |drawn: &Drawn, without: &[Part]| {
        let run = drawn.run("parcel", &settings(|_| (), without));
        let distant = drawn.node("distant");
        let is_ranked = run.ranked.iter().any(|it| it.node == distant);
        assert_eq!(run.walked.score(distant) > 0.0, is_ranked);
        assert!(
            run.ranked.iter().all(|it| !drawn.graph.node(it.node).is_virtual()),
            "no external is an answer"
        );
        assert_eq!(run.walked.score(drawn.node("stranger")), 0.0);
        is_ranked
    };
    assert!(reached(&joined, &[]));
    assert!(!reached(&apart, &[]));
    assert!(!reached(&joined, &[Part::Reach]));
    assert!(!reached(&joined, &[Part::Walk]));
}

/// Twelve functions that call each other all around, or not at all; their words differ in strength.
fn twelve(joined: bool) -> Drawn {
    let mut text = String::from("m.py\n");
    for number in 0..12 {
        text += &format!("    function parcel_{number}: {}\n", "carry ".repeat(1 + number));
    }
    for from in 0..12 {
        for to in (0..12).filter(|to| joined && *to != from) {
            text += &format!("parcel_{from} calls parcel_{to}\n");
        }
    }
    Drawn::new(&text)
}

fn words(run: &Run) -> Vec<f32> {
    let at = features::NAMES.iter().position(|it| *it == "whole_raw").unwrap();
    run.ranked.iter().map(|it| it.features[at]).collect()
}

fn is_descending(values: &[f32]) -> bool {
    values.is_sorted_by(|a, b| a >= b)
}

#[test]
fn q2_mechanism_9_search_hits_decide_when_the_walk_is_flat() {
    let joined = twelve(true);
    let n_nodes = joined.graph.n_nodes();
    let run = |drawn: &Drawn, above: usize, without: &[Part]| {
        drawn.run("carry parcel", &settings(|it| it.walk.flat_above = above, without))
    };
    let flat = run(&joined, n_nodes - 1, &[]);
    assert!(flat.walk_was_flat);
    assert!(is_descending(&words(&flat)), "{:?}", words(&flat));
    assert_eq!(flat.ranked[0].score, 1.0);

    let small = run(&joined, n_nodes, &[]);
    assert!(!small.walk_was_flat);
    let off = run(&joined, n_nodes - 1, &[Part::FlatWalk]);
    assert!(!off.walk_was_flat);
    assert_eq!(joined.scored(&small), joined.scored(&off));
    assert_ne!(joined.ranked(&small), joined.ranked(&flat), "it makes a difference");

    // A walk that tells them apart is believed.
    let apart = twelve(false);
    assert!(!run(&apart, apart.graph.n_nodes() - 1, &[]).walk_was_flat);
}

#[test]
fn q2_mechanism_9_expands_hits_by_what_they_contain() {
    let mut text = String::from("m.py\n    class Depot: carry parcel carry parcel carry\n");
    text += "    method Depot.quiet: nothing\n    function lonely: nothing\n";
    for number in 0..12 {
        text += &format!("    function parcel_{number}: carry\n");
    }
    let everyone: Vec<String> = (0..12).map(|it| format!("parcel_{it}")).collect();
    for from in &everyone {
        for to in everyone.iter().filter(|to| *to != from) {
            text += &format!("{from} calls {to}\n");
        }
        text += &format!("{from} calls lonely\n{from} calls Depot.quiet\n{from} calls Depot\n");
    }
    text += "Depot.quiet member_of Depot\nDepot contains Depot.quiet\n";
    let drawn = Drawn::new(&text);
    let run = drawn.run("carry parcel depot", &settings(|it| it.walk.flat_above = 1, &[]));
    assert!(run.walk_was_flat);
    let ranked = drawn.ranked(&run);
    let place = |wanted: &str| ranked.iter().position(|it| *it == wanted).unwrap();
    assert!(place("Depot") < place("Depot.quiet"), "{ranked:?}");
    assert!(place("Depot.quiet") < place("lonely"), "{ranked:?}");
}

#[test]
fn q2_mechanism_9_is_the_formulas_alone() {
    let joined = twelve(true);
    let mut learned = settings(|it| it.walk.flat_above = 1, &[]);
    learned.ranker = Ranker::Learned;
    assert!(!joined.run("carry parcel", &learned).walk_was_flat);
}

const AGES: &str = "
m.py
    function fresh [age=1]: carry parcel
    function recent [age=1.001]: carry parcel
    function week [age=7]: carry parcel
    function month [age=30]: carry parcel
    function old [age=30.001]: carry parcel
    function unknown: carry parcel
";

#[test]
fn q2_mechanism_12_what_changed_lately_counts_more() {
    let drawn = Drawn::new(AGES);
    let bonus = |settings: &Settings| {
        let run = drawn.run("carry parcel", settings);
        let of = |symbol: &str| {
            let node = drawn.node(symbol);
            run.ranked.iter().find(|it| it.node == node).unwrap().components.commit
        };
        ["fresh", "recent", "week", "month", "old", "unknown"].map(of)
    };
    assert_eq!(bonus(&settings(|_| (), &[])), [0.05, 0.03, 0.03, 0.01, 0.0, 0.0]);
    assert_eq!(bonus(&settings(|_| (), &[Part::Recency])), [0.0; 6]);
    let weeks = settings(|it| it.formula.commit_bonus = [(7, 0.5), (8, 0.0), (9, 0.0)], &[]);
    assert_eq!(bonus(&weeks), [0.5, 0.5, 0.5, 0.0, 0.0, 0.0]);
}

#[test]
fn q2_mechanism_12_decides_between_equals() {
    let drawn = Drawn::new(
        "m.py\n    function one [age=400]: carry parcel\n    function two [age=0.5]: carry parcel\n",
    );
    let difference = |without: &[Part]| {
        let run = drawn.run("carry parcel", &settings(|_| (), without));
        let total = |symbol: &str| {
            let node = drawn.node(symbol);
            run.ranked.iter().find(|it| it.node == node).unwrap().raw
        };
        total("two") - total("one")
    };
    assert!((difference(&[]) - difference(&[Part::Recency]) - 0.05).abs() < 1e-12);
}
