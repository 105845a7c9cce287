//! What any run keeps to, and runs that begin at files and changes instead of words.

use knowing_graph::NodeIndex;
use knowing_model::NodeKind;
use knowing_retrieve::{Part, Ranker, Settings, Switches, for_changes, for_files, reasons};
use proptest::prelude::*;

use crate::drawn::{Drawn, settings};

const SHOP: &str = "
shop/cart.py
    class Cart: holds items
    method Cart.total: sum of prices
    method Cart.add: puts an item
    function price: what an item costs
shop/desk.py
    function serve: takes the total of a cart
    function greet: says hello
tests/test_cart.py
    function test_total [flags=test]: total of a cart
external decimal.Decimal
Cart contains Cart.total
Cart contains Cart.add
Cart.total member_of Cart
Cart.add member_of Cart
Cart.total calls price
serve calls Cart.total
greet calls serve
test_total calls Cart.total
price type_hint_of decimal.Decimal
";

#[test]
fn q1_two_runs_of_two_drawings_are_equal() {
    for ranker in [Ranker::Formula, Ranker::Learned] {
        let settings = Settings { ranker, ..Settings::default() };
        let (one, two) = (Drawn::new(SHOP), Drawn::new(SHOP));
        let (first, second) =
            (one.run("total of the cart", &settings), two.run("total of the cart", &settings));
        assert_eq!(one.scored(&first), two.scored(&second));
        assert_eq!(first.seeds, second.seeds);
    }
}

#[test]
fn any_text_and_any_parts_give_an_ordered_answer_of_real_symbols() {
    let drawn = Drawn::new(SHOP);
    let words = [
        "cart",
        "`Cart.total`",
        "price()",
        "shop/cart.py",
        "🛒",
        "\"",
        "AND",
        "(",
        "\n",
        "test",
        "Decimal",
        "品",
    ];
    let texts = prop::collection::vec(prop::sample::select(words.to_vec()), 0..12);
    let parts = prop::sample::subsequence(Part::ALL.to_vec(), 0..Part::ALL.len());
    let rankers = prop_oneof![Just(Ranker::Formula), Just(Ranker::Learned)];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(200));
    runner
        .run(&(texts, parts, rankers, ".{0,40}"), |(texts, parts, ranker, noise)| {
            let task = format!("{} {noise}", texts.join(" "));
            let settings = Settings { ranker, switches: Switches::without(&parts), ..Settings::default() };
            let run = drawn.run(&task, &settings);
            prop_assert!(run.ranked.is_sorted_by(|a, b| a.score >= b.score));
            prop_assert_eq!(run.ranked.len(), run.n_candidates);
            let mut nodes: Vec<NodeIndex> = run.ranked.iter().map(|it| it.node).collect();
            nodes.sort();
            nodes.dedup();
            prop_assert_eq!(nodes.len(), run.ranked.len(), "each once");
            for it in &run.ranked {
                prop_assert!(it.score.is_finite() && it.walk.is_finite() && it.distance <= 3);
                prop_assert!(it.features.iter().all(|it| it.is_finite()));
                prop_assert!(!drawn.graph.node(it.node).is_virtual());
                prop_assert!(!drawn.symbol(it.node).is_empty(), "files are no answers");
            }
            let sum = run.walked.mass + run.walked.residual;
            prop_assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-9, "q4: mass {}", sum);
            Ok(())
        })
        .unwrap();
}

#[test]
fn tests_stand_back_unless_the_task_speaks_of_them() {
    let drawn = Drawn::new(SHOP);
    let factor = |task: &str| {
        let run = drawn.run(task, &settings(|_| (), &[]));
        let node = drawn.node("test_total");
        run.ranked.iter().find(|it| it.node == node).unwrap().components.factor
    };
    assert_eq!(factor("total of the cart"), 0.3);
    assert_eq!(factor("test the total of the cart"), 1.0);
    assert_eq!(factor("latest total of the cart"), 0.3, "whole words");
}

#[test]
fn the_formula_is_the_sum_of_its_parts() {
    let drawn = Drawn::new(SHOP);
    let run = drawn.run("total of the cart", &settings(|_| (), &[]));
    for it in &run.ranked {
        let parts = it.components.named();
        let sum: f64 = parts.iter().filter(|it| it.0 != "factor").map(|it| it.1).sum();
        assert!((sum * it.components.factor - it.raw).abs() < 1e-12);
        assert_eq!(it.raw, it.score);
    }
}

#[test]
fn q9_around_files_stand_their_symbols_and_who_calls_them() {
    let drawn = Drawn::new(SHOP);
    let run = for_files(drawn.sources(), &[drawn.file("shop/cart.py")], &settings(|_| (), &[]));
    let at = |distance: u8| {
        let mut symbols: Vec<&str> =
            run.ranked.iter().filter(|it| it.distance == distance).map(|it| drawn.symbol(it.node)).collect();
        symbols.sort_unstable();
        symbols
    };
    assert_eq!(at(0), ["Cart", "Cart.add", "Cart.total", "price"]);
    assert_eq!(at(1), ["serve", "test_total"]);
    // Without a task the learned ranker has nothing to go by: both are the formula's.
    let learned = for_files(drawn.sources(), &[drawn.file("shop/cart.py")], &Settings::default());
    assert_eq!(drawn.scored(&run), drawn.scored(&learned));
    assert!(for_files(drawn.sources(), &[], &Settings::default()).ranked.is_empty());
}

#[test]
fn q9_around_a_change_the_walk_begins_at_what_changed() {
    let drawn = Drawn::new(SHOP);
    let changed = [drawn.node("price")];
    let run = for_changes(drawn.sources(), &changed, &Settings::default());
    assert_eq!(run.seeds, [(changed[0], 1.0)]);
    let walk = |symbol: &str| run.walked.score(drawn.node(symbol));
    assert!(walk("Cart.total") > walk("serve") && walk("serve") > walk("greet"), "nearer is stronger");
    assert_eq!(drawn.ranked(&run)[0], "price");
    assert!(for_changes(drawn.sources(), &[], &Settings::default()).ranked.is_empty());
}

#[test]
fn sections_of_a_manual_do_not_push_code_out() {
    let mut text = String::from("shop/cart.py\n");
    (0..20).for_each(|it| text.push_str(&format!("    function total_{it}: total of the cart\n")));
    for language in 0..20 {
        text.push_str(&format!(
            "docs/{language:02}/cart.md\n    doc_section Cart{language}: total of the cart cart\n"
        ));
    }
    let drawn = Drawn::new(&text);
    for ranker in [Ranker::Formula, Ranker::Learned] {
        let settings = Settings { ranker, ..Settings::default() };
        let n_sections = |task: &str| {
            let run = drawn.run(task, &settings);
            assert!(run.ranked.is_sorted_by(|one, other| one.score >= other.score));
            let ten = run.ranked.iter().take(10);
            ten.filter(|it| drawn.graph.node(it.node).kind() == NodeKind::DocSection).count()
        };
        assert!(n_sections("fix the total of the cart") <= 2);
        if ranker == Ranker::Learned {
            let asked = n_sections("documentation: Cart1 Cart2 Cart3 Cart4 Cart5 Cart6");
            assert!(asked > 2, "{asked}");
        }
    }
}

#[test]
fn one_of_several_overloads_stands_before_other_symbols() {
    let mut text = String::from("shop/cart.py\n");
    (0..6).for_each(|it| text.push_str(&format!("    function total(Item{it}): total of the cart\n")));
    (0..6).for_each(|it| text.push_str(&format!("    function part_{it}: total of the cart\n")));
    text.push_str("shop/desk.py\n    function total: total of the cart\n");
    let drawn = Drawn::new(&text);
    for ranker in [Ranker::Formula, Ranker::Learned] {
        let first_eight = |task: &str, switches: Switches| {
            let run = drawn.run(task, &Settings { ranker, switches, ..Settings::default() });
            assert!(run.ranked.is_sorted_by(|one, other| one.score >= other.score));
            assert_eq!(run.ranked.len(), 13, "nothing is lost");
            let said =
                run.ranked.iter().map(reasons::of).filter(|it| it.contains(&"overload of one above".into()));
            assert_eq!(said.count(), run.ranked.iter().filter(|it| it.is_further_overload).count());
            let ranked = drawn.ranked(&run);
            ranked[..8].iter().filter(|it| it.contains("total(")).count()
        };
        let all = Switches::default();
        assert_eq!(first_eight("fix the total of the cart", all), 1);
        assert!(first_eight("add an overload to the total of the cart", all) > 1);
        assert!(first_eight("fix the total of the cart", Switches::without(&[Part::Overloads])) > 1);
    }
}

#[test]
fn members_of_one_type_speak_for_each_other_where_a_task_asks() {
    let mut text = String::from("shop/cart.py\n    class Cart: total of the cart\n");
    (0..4).for_each(|it| text.push_str(&format!("    method Cart.part_{it}: total of the cart\n")));
    (0..4).for_each(|it| {
        text.push_str(&format!("shop/desk_{it}.py\n    function alone_{it}: total of the cart\n"))
    });
    text.push_str("shop/sum.py\n");
    (0..4).for_each(|it| text.push_str(&format!("    function add(Item{it}): total of the cart\n")));
    let drawn = Drawn::new(&text);
    let run = |task: &str, without: &[Part]| {
        drawn.run(task, &Settings { switches: Switches::without(without), ..Settings::default() })
    };
    let asks = "how is the total of the cart made?";
    let (together, each_alone) = (run(asks, &[]), run(asks, &[Part::Owners]));
    assert!(together.ranked.is_sorted_by(|one, other| one.score >= other.score));
    assert_eq!(together.ranked.len(), each_alone.ranked.len(), "nothing is lost");
    let owners = &Settings::default().params.owners;
    let best = each_alone.ranked.iter().map(|it| it.raw).fold(f64::MIN, f64::max);
    for it in &together.ranked {
        let symbol = drawn.symbol(it.node);
        let ranker = each_alone.ranked.iter().find(|other| other.node == it.node).unwrap();
        assert_eq!(ranker.beside, 0.0);
        assert!((it.raw - it.beside - ranker.raw).abs() < 1e-9, "{symbol}");
        let own = owners.weight * (ranker.raw - best) / owners.spread;
        match symbol.starts_with("Cart") {
            true => assert!(it.beside > own + 0.1, "{symbol}: {} and {own}", it.beside),
            // Overloads count as one.
            false if symbol.starts_with("add") => assert!(it.beside >= own - 1e-9, "{symbol}"),
            false => assert!((it.beside - own).abs() < 1e-9, "{symbol}: {} and {own}", it.beside),
        }
        let contributions = knowing_retrieve::explain::contributions(it, Ranker::Learned);
        assert!(contributions.contains(&("beside", it.beside, it.beside)));
    }
    let of_add = together.ranked.iter().filter(|it| drawn.symbol(it.node).starts_with("add"));
    let most = of_add.map(|it| it.beside).fold(f64::MIN, f64::max);
    assert!(most <= 1e-9, "overloads do not speak for each other: {most}");
    let complains = run("fix the wrong total of the cart", &[]);
    assert!(complains.ranked.iter().all(|it| it.beside == 0.0));
}
