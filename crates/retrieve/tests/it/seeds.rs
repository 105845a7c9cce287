//! Where a walk begins: mechanisms 1, 2, 4 and 5, each on both sides of its trigger.

use knowing_retrieve::{Part, Settings};

use crate::drawn::{Drawn, settings};

/// The function is named outright, the types only begin so: fused order has it first.
const PARCELS: &str = "
a/one.py
    function parcel: parcel parcel
    class ParcelBox: holds it
b/two.py
    method Depot.parcel: sends a parcel
    class ParcelLabel: what it says
    function parcel_weight: how heavy
c/three.py
    function parcel_size: how large
    enum ParcelState: where it is
";

fn is_type(symbol: &str) -> bool {
    symbol.starts_with("Parcel")
}

/// Order without the types and order of the types, to see that groups keep theirs.
fn groups<'a>(seeds: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    seeds.iter().copied().partition(|it| is_type(it))
}

#[test]
fn q2_mechanism_1_types_come_first_above_a_size() {
    let drawn = Drawn::new(PARCELS);
    let n_nodes = drawn.graph.n_nodes();
    let with = |above: usize, without: &[Part]| {
        let settings = settings(|it| it.seeds.types_first_above = above, without);
        let run = drawn.run("parcel", &settings);
        drawn.seeds(&run).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = with(n_nodes, &[]);
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    assert_eq!(plain.len(), 7);
    assert!(!is_type(plain[0]) && plain.iter().any(|it| is_type(it)), "{plain:?}");
    assert!(!plain.is_sorted_by_key(|it| !is_type(it)), "{plain:?}");

    let large = with(n_nodes - 1, &[]);
    let large: Vec<&str> = large.iter().map(String::as_str).collect();
    assert!(large.is_sorted_by_key(|it| !is_type(it)), "{large:?}");
    assert_eq!(groups(&large), groups(&plain), "inside each group fused order holds");

    assert_eq!(with(n_nodes - 1, &[Part::TypeSeeds]), plain);
}

#[test]
fn q2_mechanism_2_larger_graphs_have_more_seeds() {
    let drawn = Drawn::new(PARCELS);
    let n_nodes = drawn.graph.n_nodes();
    let count = |counts: [(usize, usize); 3], without: &[Part]| {
        drawn.run("parcel", &settings(|it| it.seeds.counts = counts, without)).seeds.len()
    };
    assert_eq!(count([(n_nodes + 1, 6), (n_nodes, 4), (0, 2)], &[]), 2);
    assert_eq!(count([(n_nodes, 6), (n_nodes - 1, 4), (0, 2)], &[]), 4);
    assert_eq!(count([(n_nodes - 1, 6), (n_nodes - 2, 4), (0, 2)], &[]), 6);
    assert_eq!(count([(n_nodes - 1, 6), (n_nodes - 2, 4), (0, 2)], &[Part::SeedCount]), 2);
}

/// Snapshots of exactly so many nodes, in which fifty symbols are spoken of.
fn of_size(n_nodes: usize) -> Drawn {
    let mut text = String::from("large/parcels.py\n");
    for number in 0..50 {
        let kind = if number % 5 == 0 { "function" } else { "class" };
        text += &format!("    {kind} parcel_{number}: carries\n");
    }
    // The file is a node as well.
    for number in 51..n_nodes {
        text += &format!("external filler.x{number}\n");
    }
    Drawn::new(&text)
}

#[test]
fn q3_the_node_count_comes_from_the_snapshot() {
    for (n_nodes, n_seeds, types_first) in
        [(10_000, 15, false), (10_001, 20, false), (40_000, 20, false), (40_001, 25, true)]
    {
        let drawn = of_size(n_nodes);
        assert_eq!(drawn.graph.n_nodes(), n_nodes);
        let run = drawn.run("parcel carries", &Settings::default());
        assert_eq!(run.seeds.len(), n_seeds, "{n_nodes} nodes");
        let are_types = run.seeds.iter().map(|it| drawn.graph.node(it.0).kind().is_type_like());
        assert_eq!(are_types.clone().all(|it| it), types_first, "{n_nodes} nodes");
        assert!(are_types.clone().any(|it| it));
    }
}

/// The best candidate stands alone; the others share a package.
fn packages(n_together: usize) -> String {
    let mut text = String::from("alone/one.py\n    function parcel: parcel parcel parcel\ntogether/two.py\n");
    for number in 0..n_together {
        text += &format!("    function parcel_{number}: carries\n");
    }
    text
}

#[test]
fn q2_mechanism_4_the_strongest_package_comes_first() {
    let first = |drawn: &Drawn, settings: &Settings| {
        let run = drawn.run("parcel", settings);
        drawn.seeds(&run).iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()
    };
    let plain = settings(|_| (), &[]);
    // More than five candidates are needed.
    let few = Drawn::new(&packages(4));
    assert_eq!(first(&few, &plain)[0], "parcel");
    let many = Drawn::new(&packages(5));
    let focused = first(&many, &plain);
    assert_eq!((focused.len(), focused[5].as_str()), (6, "parcel"), "{focused:?}");
    let off = first(&many, &settings(|_| (), &[Part::Focus]));
    assert_eq!(off[0], "parcel");
    assert_eq!(focused[..5], off[1..], "the others keep their order");
    // And a package with at least two of them.
    let scattered =
        (0..6).fold(String::new(), |text, it| text + &format!("p{it}/m.py\n    function parcel_{it}: x\n"));
    let scattered = Drawn::new(&scattered);
    assert_eq!(first(&scattered, &plain), first(&scattered, &settings(|_| (), &[Part::Focus])));
}

#[test]
fn q2_mechanisms_1_and_4_hold_together() {
    let text = packages(5) + "    class ParcelBox: x\nalone/other.py\n    class ParcelLabel: x\n";
    let drawn = Drawn::new(&text);
    let run = drawn.run("parcel", &settings(|it| it.seeds.types_first_above = 0, &[]));
    let seeds = drawn.seeds(&run);
    assert_eq!(seeds[..2], ["ParcelBox", "ParcelLabel"], "types first, those of the package before others");
    assert_eq!(seeds.last(), Some(&"parcel"));
}

#[test]
fn q2_mechanism_5_a_gap_is_filled_when_little_is_found() {
    let found = |n_found: usize, without: &[Part]| {
        let text = (0..n_found)
            .fold(String::new(), |text, it| text + &format!("m{it}.py\n    function parcel_{it}: x\n"));
        let drawn = Drawn::new(&text);
        let run = drawn.run("parcel", &settings(|_| (), without));
        assert_eq!(run.ranked.len(), n_found);
        run.gap_filled
    };
    assert!(found(4, &[]));
    assert!(!found(5, &[]));
    assert!(!found(4, &[Part::GapFill]));
}

#[test]
fn q2_mechanism_5_finds_near_misses_at_a_lower_weight() {
    let drawn = Drawn::new("web/page.py\n    function render: draws\n    function unrelated: nothing\n");
    let run = drawn.run("rendr", &settings(|_| (), &[]));
    assert!(run.gap_filled);
    assert_eq!(run.seeds, [(drawn.node("render"), 0.5)]);
    assert_eq!(drawn.ranked(&run), ["render"]);
    let off = drawn.run("rendr", &settings(|_| (), &[Part::GapFill]));
    assert!(!off.gap_filled && off.seeds.is_empty() && off.ranked.is_empty());
}
