//! Mechanism 3: curated vocabulary of frameworks, where the framework's language is present; and what it may force.

use knowing_retrieve::{Part, Ranker, Settings};

use crate::drawn::{Drawn, settings};

/// Targets of Flask's application context, and words of the task elsewhere.
const FLASK: &str = "
src/ctx.py
    class AppContext: holds the globals
    function has_app_context: whether there is one
    method AppContext.push: binds it
src/app.py
    method Flask.app_context: makes one
    function current_app: the one that is bound
    function push_notification: push push push
    function context_manager: application context context
";
const TASK: &str = "push the application context";

/// Both rankers let classes force symbols in.
fn forcing(ranker: Ranker) -> Settings {
    Settings { ranker, ..settings(|it| it.pack.inject_learned = true, &[]) }
}

fn injected<'a>(drawn: &'a Drawn, task: &str, settings: &Settings) -> Vec<&'a str> {
    let run = drawn.run(task, settings);
    let forced = run.ranked.iter().filter(|it| it.injected);
    forced.map(|it| drawn.symbol(it.node)).collect()
}

#[test]
fn q2_mechanism_3_classes_need_their_language() {
    let concepts = |n_others: usize, without: &[Part]| {
        let others = (0..n_others).fold(String::new(), |text, it| text + &format!("o{it}.rs\n"));
        let drawn = Drawn::new(&format!("src/ctx.py\n    class AppContext: holds\n{others}"));
        drawn.run(TASK, &settings(|_| (), without)).concepts
    };
    let flask = "flask.app-context".to_owned();
    // One file of twenty is the share that counts.
    assert!(concepts(19, &[]).contains(&flask));
    assert!(!concepts(20, &[]).contains(&flask));
    assert_eq!(concepts(19, &[Part::Classes]), [""; 0]);
}

#[test]
fn q3_languages_come_from_the_snapshot() {
    let rust = Drawn::new(&FLASK.replace(".py", ".rs"));
    let concepts = rust.run(TASK, &Settings::default()).concepts;
    assert!(concepts.iter().all(|it| !it.starts_with("flask")), "{concepts:?}");
    assert_eq!(injected(&rust, TASK, &forcing(Ranker::Learned)), [""; 0]);
}

#[test]
fn q8_before_what_is_learned_classes_only_suggest() {
    let drawn = Drawn::new(FLASK);
    let run = drawn.run(TASK, &Settings::default());
    assert!(run.concepts.contains(&"flask.app-context".to_owned()));
    assert!(run.ranked.iter().all(|it| !it.injected));
    assert!(
        run.ranked.iter().any(|it| drawn.symbol(it.node) == "has_app_context"),
        "a candidate all the same"
    );
}

#[test]
fn q8_several_words_of_a_phrase_pass_the_gate() {
    let drawn = Drawn::new(FLASK);
    for ranker in [Ranker::Formula, Ranker::Learned] {
        let settings = forcing(ranker);
        let run = drawn.run(TASK, &settings);
        let n_forced = run.ranked.iter().take_while(|it| it.injected).count();
        assert_eq!(n_forced, run.ranked.iter().filter(|it| it.injected).count(), "they stand first");
        let mut forced: Vec<&str> = run.ranked[..n_forced].iter().map(|it| drawn.symbol(it.node)).collect();
        forced.sort_unstable();
        assert_eq!(forced, ["AppContext", "Flask.app_context", "current_app", "has_app_context"]);
        let best = run.ranked[n_forced..].iter().map(|it| it.score).fold(0.0, f64::max);
        for (number, it) in run.ranked[..n_forced].iter().enumerate() {
            assert_eq!(it.distance, 0);
            assert!(it.score > best);
            let step = run.ranked[0].score - it.score;
            assert!((step - 0.001 * number as f64).abs() < 1e-9, "{step}");
        }
    }
}

#[test]
fn q8_the_gate_stays_shut_for_one_word_and_for_other_sources() {
    // `blueprint` is a phrase of one word: its targets are found and not forced.
    let blueprints = Drawn::new("src/bp.py\n    class BlueprintSetupState: x\n    function record_once: x\n");
    let plain = settings(|_| (), &[]);
    let run = blueprints.run("a blueprint", &plain);
    assert!(run.concepts.iter().any(|it| it == "flask.blueprints"));
    assert!(blueprints.ranked(&run).contains(&"record_once"), "by the class alone");
    assert_eq!(injected(&blueprints, "a blueprint", &plain), [""; 0]);
    // A second phrase opens it.
    assert_eq!(injected(&blueprints, "a blueprint with a url prefix", &plain).len(), 2);
    // A class below the weight does not force, however many words match.
    let strict = settings(|it| it.pack.inject_weight = 0.95, &[]);
    assert_eq!(injected(&blueprints, "a blueprint with a url prefix", &strict), [""; 0]);
    // Nor does one of a language or of all, though its weight were enough.
    let others = Drawn::new("src/cli.py\n    class ArgumentParser: x\n    function verify_token: x\n");
    let task = "argument parser for command line arguments, access token and refresh token";
    let lowered = settings(|it| it.pack.inject_weight = 0.1, &[]);
    let concepts = others.run(task, &lowered).concepts;
    for concept in ["python.argparse", "universal_web.auth-token"] {
        assert!(concepts.iter().any(|it| it == concept), "{concepts:?}");
    }
    assert_eq!(injected(&others, task, &lowered), [""; 0]);
}

#[test]
fn q8_noise_is_not_forced_in() {
    let drawn = Drawn::new(
        "
src/ctx.py
    class AppContext: x
tests/test_ctx.py
    function has_app_context [flags=test]: x
gen/ctx.py
    function current_app [flags=generated]: x
vendor/ctx.py
    function teardown_appcontext [flags=vendored]: x
src/stand_in.py
    method MockApp.app_context: x
fixtures/ctx.py
    function do_teardown_appcontext: x
",
    );
    assert_eq!(injected(&drawn, TASK, &forcing(Ranker::Learned)), ["AppContext"]);
}

/// Every phrase here passes the gate by itself; together they have twenty targets.
const MANY: &str = "application context, error handler, config object, cli command";
const MANY_TARGETS: [&str; 20] = [
    "AppContext",
    "app_context",
    "current_app",
    "has_app_context",
    "teardown_appcontext",
    "errorhandler",
    "register_error_handler",
    "handle_exception",
    "handle_http_exception",
    "app_errorhandler",
    "from_object",
    "from_pyfile",
    "from_envvar",
    "from_mapping",
    "get_namespace",
    "FlaskGroup",
    "AppGroup",
    "ScriptInfo",
    "with_appcontext",
    "run_command",
];

fn many() -> Drawn {
    let mut text = String::new();
    for (number, name) in MANY_TARGETS.iter().enumerate() {
        text += &format!("m{number}.py\n    function {name}: words\n");
    }
    Drawn::new(&text)
}

#[test]
fn q8_at_most_ten_are_forced_in_a_stable_order() {
    let drawn = many();
    let plain = settings(|_| (), &[]);
    let forced = injected(&drawn, MANY, &plain);
    assert_eq!(forced.len(), 10);
    assert_eq!(forced, injected(&drawn, MANY, &plain));
    assert_eq!(forced, injected(&many(), MANY, &forcing(Ranker::Learned)), "whoever ranks the rest");
    let fewer = settings(|it| it.pack.max_injected = 3, &[]);
    assert_eq!(injected(&drawn, MANY, &fewer), forced[..3]);
    // Those beyond the number are ranked as anyone.
    let run = drawn.run(MANY, &plain);
    assert_eq!(run.ranked.len(), 20);
    assert!(run.ranked.is_sorted_by(|a, b| a.score >= b.score));
}

#[test]
fn q8_without_classes_nothing_of_them_is_left() {
    let drawn = Drawn::new(FLASK);
    // The same snapshot in a language that no class is about.
    let elsewhere = Drawn::in_language(FLASK, |_| "cobol");
    for ranker in [Ranker::Formula, Ranker::Learned] {
        let mut off = settings(|_| (), &[Part::Classes]);
        off.ranker = ranker;
        let run = drawn.run(TASK, &off);
        assert!(run.concepts.is_empty());
        assert!(run.ranked.iter().all(|it| !it.injected));
        let other = elsewhere.run(TASK, &forcing(ranker));
        assert!(other.concepts.is_empty(), "{:?}", other.concepts);
        assert_eq!(drawn.scored(&run), elsewhere.scored(&other));
        assert_eq!(run.seeds, other.seeds);
        let on = drawn.run(TASK, &forcing(ranker));
        assert_ne!(drawn.scored(&run), drawn.scored(&on), "they do have an effect");
    }
}
