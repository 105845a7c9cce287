//! Whole runs on real repositories.

mod again;
mod history;
mod replay;
mod search;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use knowing_store::{Keeping, Mode, Store};
use knowing_testkit::Fixture;
use knowing_vcs::Checkout;

use crate::progress::Phases;
use crate::{
    Carried, Options, Phase, Progress, Report, Request, Silent, Source, index, index_next, open_graph,
};

struct Database {
    _directory: tempfile::TempDir,
    store: Store,
    /// None: each run is one of a process of its own.
    carried: Option<Carried>,
}

impl Database {
    fn new() -> Database {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("knowing.db")).unwrap();
        Database { _directory: directory, store, carried: None }
    }

    /// Runs carry on what those before had in memory.
    fn carrying(carried: Carried) -> Database {
        Database { carried: Some(carried), ..Database::new() }
    }

    /// Makes what a replay has left to its end.
    fn finish(&mut self) {
        let carried = self.carried.as_mut().expect("runs carry on");
        carried.finish(&self.store).unwrap();
    }

    /// Removes all snapshots but the one that the checkout stands on.
    fn collect(&mut self) {
        let now = 1_700_000_000;
        let keeping = Keeping { n_snapshots: 1, now, exists: &|_| true, heads: &[], base_of: &|_| None };
        self.store.collect(&keeping, Mode::Delete).unwrap();
    }

    fn index(&mut self, repo: &Fixture, options: &Options, progress: &dyn Progress) -> Report {
        self.try_index(repo, options, progress).unwrap()
    }

    fn try_index(
        &mut self,
        repo: &Fixture,
        options: &Options,
        progress: &dyn Progress,
    ) -> crate::Result<Report> {
        let checkout = Checkout::open(repo.path()).unwrap();
        let commit = checkout.head().unwrap().commit.unwrap();
        let request = Request {
            source: Source::Commit { checkout: &checkout, commit },
            url: "github.com/acme/app",
            object_format: checkout.object_format(),
            place: repo.path().to_str(),
            branch: Some("main"),
            options,
            now: 1_700_000_000,
        };
        match &mut self.carried {
            Some(carried) => index_next(&mut self.store, &request, progress, carried),
            None => index(&mut self.store, &request, progress),
        }
    }
}

/// What must not depend on how a snapshot came about.
fn essence(report: &Report) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        (report.snapshot, report.root, report.commit.clone()),
        (report.files, report.nodes, report.edges, report.unresolved),
        (report.skipped.clone(), report.edges_by_provenance.clone(), report.unresolved_by_reason.clone()),
    )
}

/// A small generator, so that every run tries the same histories.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn module(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..dice.roll(3) {
        let name = dice.roll(4);
        text.push_str(&format!("from m{name} import f{}, C{name}\n", dice.roll(4)));
    }
    for _ in 0..1 + dice.roll(3) {
        let (own, other) = (dice.roll(4), dice.roll(4));
        text.push_str(&format!(
            "def f{own}(x):\n    y = C{other}()\n    y.run()\n    x.run()\n    f{other}(y)\n"
        ));
    }
    let (own, base) = (dice.roll(4), dice.roll(4));
    text.push_str(&format!("class C{own}(C{base}):\n    def run(self):\n        return self.stop()\n"));
    text
}

#[test]
fn n2_incremental_indexing_equals_full_indexing() {
    for seed in 0..4 {
        let mut dice = Dice(seed);
        let repo = Fixture::new();
        let mut incremental = Database::new();
        for _ in 0..6 {
            for _ in 0..1 + dice.roll(3) {
                let path = format!("m{}.py", dice.roll(4));
                if dice.roll(5) == 0 && repo.path().join(&path).exists() {
                    repo.remove(&path);
                } else {
                    repo.write(&path, &module(&mut dice));
                }
            }
            repo.commit("step");
            let one = incremental.index(&repo, &Options::default(), &Silent);
            let workers = Options { workers: 1 + dice.roll(4) as usize, ..Options::default() };
            let full = Database::new().index(&repo, &workers, &Silent);
            assert_eq!(essence(&one), essence(&full), "seed {seed}");
            let graph = |it: &Database, report: &Report| {
                let snapshot = it.store.snapshot(report.snapshot).unwrap().unwrap();
                open_graph(&it.store, &snapshot).unwrap()
            };
            let graph = graph(&incremental, &one);
            assert_eq!((graph.n_nodes() as u64, graph.n_edges() as u64), (one.nodes, one.edges));
        }
    }
}

#[test]
fn returning_to_an_old_commit_makes_nothing_and_compares_files() {
    let repo = Fixture::from_text("//- /a.py\ndef f(): pass\n");
    repo.commit("first");
    let mut database = Database::new();
    let first = database.index(&repo, &Options::default(), &Silent);
    repo.write("b.py", "def g(): pass\n");
    repo.commit("second");
    let second = database.index(&repo, &Options::default(), &Silent);
    assert!(second.new_snapshot && second.snapshot != first.snapshot);
    repo.git(&["checkout", "-q", "HEAD~1"]);
    let again = database.index(&repo, &Options::default(), &Silent);
    assert!(!again.new_snapshot);
    assert_eq!(again.snapshot, first.snapshot);
    assert_eq!((again.changes.added, again.changes.removed), (0, 1));
}

/// Nobody waits from the start.
struct Unwanted;

impl Progress for Unwanted {
    fn begin(&self, _phase: Phase, _total: Option<u64>) {}
    fn advance(&self, _n_items: u64) {}
    fn end(&self) {}
    fn is_wanted(&self) -> bool {
        false
    }
}

#[test]
fn a_run_that_nobody_waits_for_stops_and_leaves_everything_as_it_was() {
    let repo = Fixture::from_text("//- /a.py\ndef f(): pass\n");
    repo.commit("first");
    let mut database = Database::new();
    let error = database.try_index(&repo, &Options::default(), &Unwanted).unwrap_err();
    assert!(matches!(error, crate::Error::Stopped), "{error}");
    assert!(database.index(&repo, &Options::default(), &Silent).new_snapshot);
}

/// Nobody waits any more from the beginning of a phase on.
struct StopAt(Phase, Arc<AtomicBool>);

impl Progress for StopAt {
    fn begin(&self, phase: Phase, _total: Option<u64>) {
        self.1.fetch_or(phase == self.0, Ordering::Relaxed);
    }
    fn advance(&self, _n_items: u64) {}
    fn end(&self) {}
    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.1))
    }
}

#[test]
fn a_run_that_is_stopped_in_any_phase_leaves_the_old_state_or_the_new_one() {
    let repo = Fixture::from_text("//- /a.py\ndef f(): pass\n//- /b.py\nfrom a import f\n\ndef g(): f()\n");
    repo.commit("first");
    let whole = Database::new().index(&repo, &Options::default(), &Silent);
    for phase in [
        Phase::Extract,
        Phase::Resolve,
        Phase::Hash,
        Phase::Store,
        Phase::Image,
        Phase::History,
        Phase::Search,
    ] {
        let mut database = Database::new();
        let stop = Arc::new(AtomicBool::new(false));
        let path = database.store.path().to_owned();
        database.store = Store::open(&path).unwrap().stopped_by(Some(Arc::clone(&stop))).unwrap();
        let stopped = database.try_index(&repo, &Options::default(), &StopAt(phase, stop));
        assert!(matches!(stopped, Err(crate::Error::Stopped)), "{phase:?}: {stopped:?}");
        database.store = Store::open(&path).unwrap();
        let stored = database.store.repo("github.com/acme/app").unwrap();
        let latest = stored.and_then(|it| database.store.latest_snapshot(it.id).unwrap());
        assert!(latest.is_none_or(|it| it.id == whole.snapshot), "{phase:?}");
        let again = database.index(&repo, &Options::default(), &Silent);
        assert_eq!((again.snapshot, again.edges), (whole.snapshot, whole.edges), "{phase:?}");
    }
}

#[test]
fn i5_a_run_that_takes_too_long_leaves_everything_as_it_was() {
    let repo = Fixture::from_text("//- /a.py\ndef f(): pass\n");
    repo.commit("first");
    let mut database = Database::new();
    let first = database.index(&repo, &Options::default(), &Silent);
    repo.write("a.py", "def g(): pass\n");
    repo.commit("second");
    let options = Options { deadline: Some(std::time::Instant::now()), ..Options::default() };
    let error = database.try_index(&repo, &options, &Silent).unwrap_err();
    assert!(matches!(error, crate::Error::TooLong), "{error}");
    let repo_row = database.store.repo("github.com/acme/app").unwrap().unwrap();
    assert_eq!(database.store.latest_snapshot(repo_row.id).unwrap().unwrap().id, first.snapshot);
    // A deadline is no matter for what is there already.
    repo.git(&["checkout", "-q", "HEAD~1"]);
    assert_eq!(database.try_index(&repo, &options, &Silent).unwrap().snapshot, first.snapshot);
}

#[test]
fn a_missing_object_is_skipped_and_nothing_is_fetched() {
    let source = Fixture::from_text("//- /a.py\ndef f(): pass\n//- /b.py\ndef g(): pass\n");
    source.commit("first");
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    let partial = Fixture::clone_of(&source, &["--filter=blob:none", "--no-checkout"]);
    let mut database = Database::new();
    let report = database.index(&partial, &Options::default(), &Silent);
    assert_eq!(report.files, 0);
    assert_eq!(report.skipped.get("missing_object"), Some(&2));
    let again = database.index(&partial, &Options::default(), &Silent);
    assert_eq!((again.new_snapshot, again.snapshot), (false, report.snapshot));
    // It does not stand for the commit: a clone that has everything is read.
    let whole = database.index(&source, &Options::default(), &Silent);
    assert!(whole.new_snapshot);
    assert_eq!(whole.files, 2);
}

#[test]
fn n2_a_clone_that_lacks_objects_is_updated_from_commit_to_commit() {
    let source = Fixture::from_text("//- /a.py\nfrom b import g\ng()\n//- /b.py\ndef g(): pass\n");
    source.write("large.py", &"x = 1\n".repeat(1_000));
    source.commit("first");
    source.write("c.py", "x = 1\n");
    source.commit("second");
    source.write("b.py", "def g(): return 1\n");
    source.write("notes.txt", "no code\n");
    source.commit("third");
    source.write("notes.txt", "and none here\n");
    source.commit("fourth");
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    let partial = Fixture::clone_of(&source, &["--filter=blob:limit=1k", "--no-checkout"]);
    let checkout = Checkout::open(partial.path()).unwrap();
    // As somebody who compares commits, and stands on none of them.
    let run = |database: &mut Database, carried: &mut Carried, revision: &str| {
        let identity = checkout.identity(None).unwrap();
        let request = Request {
            source: Source::Commit { checkout: &checkout, commit: checkout.resolve(revision).unwrap() },
            url: &identity.url,
            object_format: identity.object_format,
            place: None,
            branch: None,
            options: &Options::default(),
            now: 0,
        };
        index_next(&mut database.store, &request, &Silent, carried).unwrap()
    };
    let revisions = ["HEAD~3", "HEAD~2", "HEAD~1", "HEAD"];
    for is_carried in [false, true] {
        let (mut database, mut carried) = (Database::new(), Carried::default());
        let reports = revisions.map(|it| {
            if !is_carried {
                carried = Carried::default();
            }
            let report = run(&mut database, &mut carried, it);
            let scratch = run(&mut Database::new(), &mut Carried::default(), it);
            assert_eq!((report.snapshot, &report.skipped), (scratch.snapshot, &scratch.skipped), "{it}");
            assert_eq!(report.skipped["missing_object"], 1, "{it}");
            report
        });
        assert_eq!(reports.each_ref().map(|it| it.files), [2, 3, 3, 3]);
        let n_resolved = reports.each_ref().map(|it| it.n_resolved);
        assert_eq!(n_resolved, [2, 1, 1, 0], "what did not change is not resolved again");
        for (revision, report) in revisions.iter().zip(&reports) {
            let again = run(&mut database, &mut Carried::default(), revision);
            assert_eq!((again.new_snapshot, again.snapshot), (false, report.snapshot));
        }
    }
    let mut database = Database::new();
    run(&mut database, &mut Carried::default(), "HEAD");
    // What was missing came.
    partial.write("large.py", &"x = 1\n".repeat(1_000));
    partial.git(&["hash-object", "-w", "large.py"]);
    let whole = run(&mut database, &mut Carried::default(), "HEAD");
    assert_eq!((whole.new_snapshot, whole.files), (true, 4));
}

#[derive(Default)]
struct Recorded(Mutex<Vec<(Phase, Option<u64>, u64)>>, Mutex<u32>);

impl Progress for Recorded {
    fn begin(&self, phase: Phase, total: Option<u64>) {
        self.0.lock().unwrap().push((phase, total, 0));
    }

    fn advance(&self, n_items: u64) {
        self.0.lock().unwrap().last_mut().unwrap().2 += n_items;
    }

    fn end(&self) {
        *self.1.lock().unwrap() += 1;
    }
}

#[test]
fn what_a_phase_does_for_another_is_counted_there() {
    let mut phases = Phases::new(&Silent);
    phases.begin(Phase::Extract, None);
    phases.done_for(Phase::Search, Duration::from_secs(3600));
    phases.begin(Phase::Search, None);
    let times = phases.finish();
    assert_eq!(times.iter().map(|it| it.phase).collect::<Vec<_>>(), [Phase::Extract, Phase::Search]);
    assert!(times[0].cpu_ms == 0.0 && times[1].cpu_ms >= 3_600_000.0, "{times:?}");
}

#[test]
fn progress_counts_every_file_and_ends_once() {
    let repo = Fixture::from_text("//- /a.py\ndef f(): pass\n//- /b.py\ndef g(): pass\n");
    repo.commit("first");
    let recorded = Recorded::default();
    let report = Database::new().index(&repo, &Options::default(), &recorded);
    let phases = recorded.0.into_inner().unwrap();
    assert_eq!(phases[1], (Phase::Extract, Some(2), 2));
    let names: Vec<Phase> = phases.iter().map(|it| it.0).collect();
    assert_eq!(names, report.phases.iter().map(|it| it.phase).collect::<Vec<_>>());
    assert_eq!(recorded.1.into_inner().unwrap(), 1);
}
