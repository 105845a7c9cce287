//! The same task on the same commit gives the same bytes: on any clone, with any number of workers, kept or made anew.

use knowing_testkit::Fixture;

use super::warehouse;
use crate::session::Session;

const TASKS: [&str; 3] = [
    "retry sending a parcel when the depot is closed",
    "`weigh_parcel_3` in depots/depot_3.py is wrong",
    "Traceback (most recent call last):\n  File \"depots/depot_5.py\", line 7, in retry_parcel_5\nValueError: closed",
];

/// Every way an answer is written.
fn answers(session: &Session, repo: &Fixture, more: &[&str]) -> Vec<String> {
    let mut answers = Vec::new();
    for task in TASKS {
        for arguments in [
            &["--json"] as &[&str],
            &["--json", "--ranker", "formula"],
            &["--budget", "2000"],
            &["--json", "--detail", "source", "--budget", "3000"],
            &[],
        ] {
            answers.push(session.text(repo.path(), &[&["context", task], arguments, more].concat()));
        }
    }
    answers.push(
        session.text(repo.path(), &[&["context", "--files", "depots/depot_2.py", "--json"], more].concat()),
    );
    answers
}

fn clone_of(source: &Fixture) -> Fixture {
    let clone = Fixture::clone_of(source, &[]);
    clone.git(&["remote", "set-url", "origin", "https://example.com/depots/parcels.git"]);
    clone
}

#[test]
fn q1_same_bytes() {
    let source = warehouse();
    source.write("depots/depot_5.py", "def retry_parcel_5(parcel):\n    raise ValueError('closed')\n");
    source.commit("depot 5 is closed");
    let (one, two) = (clone_of(&source), clone_of(&source));
    assert_ne!(one.path(), two.path());
    let (first, second) = (Session::new(), Session::new());
    first.text(one.path(), &["index", "--workers", "1"]);
    second.text(two.path(), &["index", "--workers", "2"]);
    let plain = answers(&first, &one, &[]);
    assert!(plain[0].contains("example.com/depots/parcels"), "{}", plain[0]);
    for (what, others) in [
        ("another clone, other workers", answers(&second, &two, &[])),
        ("kept from before", answers(&first, &one, &[])),
        ("made anew", answers(&first, &one, &["--without", "pack_cache"])),
        // The first clone's database answers for the second, too.
        ("another clone, the same data", answers(&first, &two, &[])),
    ] {
        for (one, other) in plain.iter().zip(&others) {
            assert_eq!(one, other, "{what}");
        }
    }
}

#[test]
fn q1_same_bytes_after_any_history_of_runs() {
    let source = warehouse();
    let direct = Session::new();
    let stepwise = Session::new();
    // One has seen every commit and asked in between, the other only the last.
    stepwise.text(source.path(), &["context", TASKS[0]]);
    for number in 0..3 {
        let text = format!("def retry_parcel_late_{number}(parcel):\n    return send_parcel_1(parcel)\n");
        source.write(&format!("depots/late_{number}.py"), &text);
        source.write("depots/depot_1.py", &format!("def send_parcel_1(parcel):\n    return {number}\n"));
        source.commit(&format!("send late parcels again, try {number}"));
        stepwise.text(source.path(), &["context", TASKS[0], "--ranker", "formula"]);
    }
    assert_eq!(answers(&direct, &source, &[]), answers(&stepwise, &source, &[]));
}

#[test]
fn s3_other_snapshots_change_nothing() {
    let source = warehouse();
    let alone = Session::new();
    let before = answers(&alone, &source, &[]);
    let crowded = Session::new();
    let commit = source.git(&["rev-parse", "HEAD"]);
    for number in 0..6 {
        source.write(
            "depots/other.py",
            &format!("def other_{number}(parcel):\n    return 'retry depot {number}'\n"),
        );
        source.commit("retry other parcels in the depot");
        crowded.text(source.path(), &["index"]);
    }
    source.git(&["checkout", "-q", &commit]);
    assert_eq!(answers(&crowded, &source, &[]), before);
}
