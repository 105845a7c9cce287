//! A run that builds on another one leaves what a run from scratch leaves: every row, root and answer.
//!
//! `KNOWING_CASES=1000` tries that many histories of random edits of real code; a few are tried otherwise.

use std::fs;

use knowing_model::NodeId;
use knowing_search::FileIndex;
use knowing_testkit::Fixture;
use knowing_testkit::edits::{self, Dice, Sources};
use knowing_vcs::Checkout;

use super::{Database, essence};
use crate::{Carried, Options, Report, Request, Silent, Source, index, open_graph, open_names};

/// Everything a snapshot says, without any row number.
fn said(database: &Database, report: &Report) -> Vec<String> {
    let store = &database.store;
    let snapshot = store.snapshot(report.snapshot).unwrap().unwrap();
    let (graph, names) = (open_graph(store, &snapshot).unwrap(), open_names(store, &snapshot).unwrap());
    let reader = store.reader(&snapshot).unwrap();
    let mut lines = vec![format!("roots {:?}", store.package_roots(&snapshot).unwrap())];
    for at in graph.indices() {
        let record = *graph.node(at);
        let row = (!record.is_virtual()).then(|| reader.node(record.node_row).unwrap());
        let row = row.map(|it| (it.span, it.signature, it.doc, it.flags, it.path, it.language, it.blob));
        lines.push(format!("node {} {:?} {:?} {row:?}", record.id(), record.kind(), record.flags()));
        let at_name = (names.symbol(at.0), names.name(at.0), names.container(at.0), names.class(at.0));
        let place = (names.path_of(at.0), names.lines(at.0), names.n_namesakes(at.0));
        lines.push(format!("name {at_name:?} {place:?} {:?}", names.named(names.name(at.0))));
        for edge in graph.outgoing(at) {
            let sites = reader.edge_sites(edge.edge_row).unwrap();
            let other = graph.node(edge.other()).id();
            let about = (edge.kind(), edge.provenance(), edge.confidence_bp);
            lines.push(format!("edge {other} {about:?} {:?} {} {}", sites.sites, sites.n_sites, sites.path));
        }
        let incoming: Vec<NodeId> = graph.incoming(at).iter().map(|it| graph.node(it.other()).id()).collect();
        lines.push(format!("incoming {incoming:?}"));
    }
    for file in (0..names.n_files() as u32).map(FileIndex) {
        let about = (names.path(file), names.language(file), names.file_id(file));
        lines.push(format!("file {about:?} {:?}", names.in_file(file)));
    }
    let mut sites = Vec::new();
    reader
        .each_unresolved(|it| {
            let source = graph.of_sym(it.source).map(|it| graph.node(it).id());
            sites.push(format!("unresolved {source:?} {} {:?} {:?}", it.name, it.position, it.reason));
        })
        .unwrap();
    sites.sort();
    lines.extend(sites);
    lines
}

#[track_caller]
fn check(one: &Database, other: &Database, reports: (&Report, &Report), about: &str) {
    let (found, expected) = (said(one, reports.0), said(other, reports.1));
    let only_in = |one: &[String], other: &[String]| -> Vec<String> {
        one.iter().filter(|it| !other.contains(it)).take(20).cloned().collect()
    };
    let (surplus, missing) = (only_in(&found, &expected), only_in(&expected, &found));
    assert_eq!(essence(reports.0), essence(reports.1), "{about}\nsurplus {surplus:#?}\nmissing {missing:#?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{about}");
    }
    assert_eq!(found.len(), expected.len(), "{about}");
    assert!(one.image_bytes(reports.0) == other.image_bytes(reports.1), "{about}: search");
}

fn write(repo: &Fixture, before: &Sources, after: &Sources) {
    before.keys().filter(|it| !after.contains_key(*it)).for_each(|it| repo.remove(it));
    after.iter().filter(|(path, text)| before.get(*path) != Some(*text)).for_each(|(path, text)| {
        repo.write(path, text);
    });
}

/// Goes to a commit of before.
fn switch(repo: &Fixture, (commit, files): &(String, Sources)) -> Sources {
    repo.git(&["checkout", "-q", "--detach", commit]);
    files.clone()
}

/// A commit of two parents that has files of both.
fn merge(repo: &Fixture, files: &Sources, (other, theirs): &(String, Sources), dice: &mut Dice) -> Sources {
    let mut merged = files.clone();
    for (path, text) in theirs {
        if dice.roll(2) == 0 {
            merged.insert(path.clone(), text.clone());
        }
    }
    // Where one comes from the other there is nothing to merge: it becomes an ordinary commit.
    repo.git(&["merge", "-q", "--no-ff", "--no-commit", "-s", "ours", other]);
    write(repo, files, &merged);
    repo.commit("merge");
    merged
}

/// A commit that takes the last one back.
fn revert(repo: &Fixture, files: &Sources, past: &[(String, Sources)]) -> Sources {
    let parents = repo.git(&["log", "-1", "--format=%P"]);
    let parent = parents.split(' ').next().unwrap_or_default();
    let before = past.iter().find(|it| it.0 == parent).map_or(files, |it| &it.1).clone();
    write(repo, files, &before);
    repo.commit("revert");
    before
}

#[test]
fn n2_updating_equals_indexing_from_scratch_for_every_row_root_and_answer() {
    let corpus = edits::corpus();
    let (mut n_resolved, mut n_files) = (0, 0);
    for case in edits::cases(6) {
        let mut dice = Dice(case);
        let projects = &corpus[case as usize % corpus.len()];
        let mut files = edits::mixture(projects, &mut dice);
        let repo = Fixture::new();
        write(&repo, &Sources::new(), &files);
        let mut past = vec![(repo.commit("begin"), files.clone())];
        let mut database = Database::new();
        let mut carrying = Database::carrying(Carried::default());
        let mut begin_replay = || match dice.roll(3) {
            0 => Carried::of_replay(),
            1 => Carried::of_short_replay(0),
            _ => Carried::of_short_replay(100),
        };
        let mut replay = Database::carrying(begin_replay());
        for it in [&mut database, &mut carrying, &mut replay] {
            it.index(&repo, &Options::default(), &Silent);
        }
        for step in 0..6 {
            let before = files.clone();
            match dice.roll(8) {
                0 => files = switch(&repo, &past[dice.roll(past.len())]),
                1 => {
                    let other = past[dice.roll(past.len())].clone();
                    files = merge(&repo, &files, &other, &mut dice);
                }
                2 => files = revert(&repo, &files, &past),
                _ => {
                    for _ in 0..1 + dice.roll(3) {
                        edits::edit(&mut files, projects, &mut dice);
                    }
                    write(&repo, &before, &files);
                    repo.commit(&format!("change {}", ["the price", "a name", "nothing"][dice.roll(3)]));
                }
            }
            past.push((repo.git(&["rev-parse", "HEAD"]), files.clone()));
            let report = database.index(&repo, &Options::default(), &Silent);
            let workers = Options { workers: 1 + dice.roll(4), ..Options::default() };
            let mut scratch = Database::new();
            let full = scratch.index(&repo, &workers, &Silent);
            check(&database, &scratch, (&report, &full), &format!("case {case}, step {step}"));
            let carried = carrying.index(&repo, &Options::default(), &Silent);
            check(&carrying, &scratch, (&carried, &full), &format!("case {case}, step {step}, carried on"));
            assert_eq!(report.n_resolved, carried.n_resolved, "case {case}, step {step}");
            let replayed = replay.index(&repo, &Options::default(), &Silent);
            assert_eq!(essence(&replayed), essence(&full), "case {case}, step {step}, replayed");
            // Every now and then somebody asks after all, or the process ends.
            if dice.roll(3) == 0 || step == 5 {
                match case % 3 {
                    0 => replay.finish(),
                    1 => replay.carried = Some(Carried::of_replay()),
                    _ => {
                        replay.finish();
                        replay.carried = Some(Carried::of_replay());
                    }
                }
                check(&replay, &scratch, (&replayed, &full), &format!("case {case}, step {step}, replayed"));
            }
            n_resolved += report.n_resolved;
            n_files += report.files;
        }
    }
    assert!(n_resolved < n_files, "no file kept its result");
}

/// Indexes for somebody who stands nowhere: the run builds on the newest snapshot, whatever it is of.
fn index_from_nowhere(
    database: &mut Database,
    repo: &Fixture,
    is_work_tree: bool,
    options: &Options,
) -> Report {
    let checkout = Checkout::open(repo.path()).unwrap();
    let commit = checkout.head().unwrap().commit.unwrap();
    let source = match is_work_tree {
        true => Source::WorkTree { checkout: &checkout, commit },
        false => Source::Commit { checkout: &checkout, commit },
    };
    let request = Request {
        source,
        url: "github.com/acme/app",
        object_format: checkout.object_format(),
        place: None,
        branch: None,
        options,
        now: 1_700_000_000,
    };
    index(&mut database.store, &request, &Silent).unwrap()
}

#[test]
fn n2_whatever_the_newest_snapshot_is_of_a_run_can_build_on_it() {
    let corpus = edits::corpus();
    let all = Options::default();
    let (mut n_resolved, mut n_files) = (0, 0);
    for case in edits::cases(4) {
        let mut dice = Dice(case);
        let projects = &corpus[case as usize % corpus.len()];
        let mut files = edits::mixture(projects, &mut dice);
        let repo = Fixture::new();
        write(&repo, &Sources::new(), &files);
        repo.commit("begin");
        let mut database = Database::new();
        index_from_nowhere(&mut database, &repo, false, &all);
        for step in 0..5 {
            let mut edit = |files: &mut Sources| {
                let before = files.clone();
                (0..1 + dice.roll(3)).for_each(|_| edits::edit(files, projects, &mut dice));
                write(&repo, &before, files);
            };
            edit(&mut files);
            index_from_nowhere(&mut database, &repo, true, &all);
            if step % 2 == 0 {
                edit(&mut files);
            } else if let Some(path) = files.keys().next() {
                let of_one_file = Options { include: vec![path.clone()], ..Options::default() };
                index_from_nowhere(&mut database, &repo, false, &of_one_file);
            }
            repo.commit("change");
            let report = index_from_nowhere(&mut database, &repo, false, &all);
            let mut scratch = Database::new();
            let full = index_from_nowhere(&mut scratch, &repo, false, &all);
            check(&database, &scratch, (&report, &full), &format!("case {case}, step {step}"));
            n_resolved += report.n_resolved;
            n_files += report.files;
        }
    }
    assert!(n_resolved < n_files, "no file kept its result");
}

#[test]
fn n2_a_run_that_finds_nothing_to_build_on_makes_everything() {
    let repo =
        Fixture::from_text("//- /a.py\nfrom b import f\nf()\n//- /b.py\ndef f(): pass\n//- /c.py\nx = 1\n");
    repo.commit("first");
    let mut database = Database::new();
    database.index(&repo, &Options::default(), &Silent);
    for (number, ending) in ["keys", "graph", "names", "search"].iter().enumerate() {
        for entry in fs::read_dir(database.store.images_dir()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == *ending) {
                fs::write(path, "damaged").unwrap();
            }
        }
        repo.write("b.py", &format!("def f(): return {number}\ndef g{number}(): f()\n"));
        repo.commit("next");
        let report = database.index(&repo, &Options::default(), &Silent);
        let mut scratch = Database::new();
        let full = scratch.index(&repo, &Options::default(), &Silent);
        check(&database, &scratch, (&report, &full), ending);
        assert_eq!(report.n_resolved < report.files, *ending == "search", "{ending}");
    }
}

#[test]
fn n2_what_is_told_apart_by_its_file_is_found_by_its_new_name() {
    let repo = Fixture::from_text("//- /go.mod\nmodule acme\n//- /a.go\npackage acme\n\nfunc run() {}\n");
    let mut database = Database::new();
    let (again, alone) = ("package acme\n\nfunc run() { stop() }\n", "package acme\n\nfunc stop() {}\n");
    for (step, text) in ["package acme\n", again, alone].into_iter().enumerate() {
        repo.write("b.go", text);
        repo.commit("change");
        let report = database.index(&repo, &Options::default(), &Silent);
        let mut scratch = Database::new();
        let full = scratch.index(&repo, &Options::default(), &Silent);
        check(&database, &scratch, (&report, &full), &format!("step {step}"));
    }
}

#[test]
fn n2_prose_that_changes_leaves_what_is_made_of_code_as_it_is() {
    let repo = Fixture::from_text(
        "//- /shop/cart.py\nclass Cart:\n    def pay(self): return total()\ndef total(): return 1\n\
         //- /shop/test_cart.py\nfrom shop.cart import Cart\ndef test_pay(): Cart().pay()\n\
         //- /schema.graphql\ninterface Node { id: ID }\ntype Order implements Node { id: ID }\n\
         //- /ZZZ.md\n# Last\n`Order` and [the cart](shop/cart.py)\n",
    );
    let mut carrying = Database::carrying(Carried::default());
    let steps = [
        "# Changes\n",
        // More sections, none, others; before all other files.
        "# Changes\n## One\ntext\n## Two\n",
        "no section\n",
        "# Changes\n## Two\n[last](ZZZ.md) and [a section](ZZZ.md#last)\n",
        // Names that are mentioned, of code and not; words that nobody has written before.
        "# Changes\n## Two\n`Cart.pay` takes `total`, not `nothing`\n",
        "# Changes\n## Two\n`Cart.pay`\n## Three\n`test_pay` in `shop/`\n",
        "# Order\n## Node\n## Cart\n### pay\n",
        "",
    ];
    let mut mentions = Vec::new();
    for (step, text) in steps.into_iter().enumerate() {
        repo.write("A.md", text);
        repo.write("docs/b.rst", &format!("{}\n", text.replace("# ", "Title\n=====\n")));
        repo.commit("change");
        let report = carrying.index(&repo, &Options::default(), &Silent);
        let mut scratch = Database::new();
        let full = scratch.index(&repo, &Options::default(), &Silent);
        check(&carrying, &scratch, (&report, &full), &format!("step {step}"));
        mentions.push(said(&carrying, &report).iter().filter(|it| it.contains("Mentions")).count());
        assert!(step < 2 || report.n_resolved <= 3, "step {step}: {}", report.n_resolved);
    }
    assert!(mentions[3] > mentions[2] && mentions[6] < mentions[5], "{mentions:?}");
}

/// What is read follows from what was read before and from what git says of the commit, without listing it again.
#[test]
fn n2_files_that_come_and_go_are_counted_as_in_a_run_from_scratch() {
    let repo = Fixture::from_text(
        "//- /a.py\ndef f(): pass\n//- /b.py\nfrom a import f\nf()\n//- /deep/c.py\nx = 1\n//- /gen.min.js\nvar a\n",
    );
    repo.commit("first");
    let mut carrying = Database::carrying(Carried::default());
    let mut replay = Database::carrying(Carried::of_replay());
    let mut step = |about: &str| {
        repo.commit(about);
        let mut scratch = Database::new();
        let full = scratch.index(&repo, &Options::default(), &Silent);
        let carried = carrying.index(&repo, &Options::default(), &Silent);
        check(&carrying, &scratch, (&carried, &full), about);
        assert_eq!(essence(&replay.index(&repo, &Options::default(), &Silent)), essence(&full), "{about}");
        assert_eq!(full.changes.added, full.files);
        (carried.changes.added, carried.changes.changed, carried.changes.removed)
    };
    step("begin");
    repo.write("0.py", "from b import f\n");
    repo.write("zz.py", "y = 1\n");
    assert_eq!(step("before all and behind all"), (2, 0, 0));
    repo.write("picture.png", "no text");
    repo.write("vendor/lib/d.py", "z = 1\n");
    repo.write("node_modules/e/e.js", "var e\n");
    assert_eq!(step("what is not read"), (0, 0, 0));
    repo.write("picture.png", "other");
    repo.remove("vendor/lib/d.py");
    assert_eq!(step("what was not read changes and goes"), (0, 0, 0));
    repo.write("f.py", "broken \0 text\0\0\n");
    repo.write("g.py", &"x = 1\n".repeat(300_000));
    step("what is opened and left out");
    repo.write("f.py", "text = 1\n");
    repo.write("zz.py", "y = \0\0\n");
    step("it is text now, and what was is none");
    repo.remove("f.py");
    repo.remove("zz.py");
    step("both go");
    repo.write(".knowingignore", "deep/\nnew*.py\n");
    assert_eq!(step("what is ignored now"), (0, 0, 1));
    repo.write("deep/h.py", "h = 1\n");
    repo.write("deep/c.py", "x = 2\n");
    repo.write("new.py", "h = 1\n");
    repo.write("old.py", "h = 1\n");
    assert_eq!(step("more of it"), (1, 0, 0));
    repo.write("deep/c.py", "x = 3\n");
    repo.write("old.py", "h = 2\n");
    assert_eq!(step("contents alone"), (0, 1, 0));
    repo.git(&["mv", "old.py", "newer.py"]);
    repo.git(&["mv", "new.py", "older.py"]);
    assert_eq!(step("names that are ignored, and no more"), (1, 0, 1));
    repo.git(&["rm", "-rqf", "deep"]);
    assert_eq!(step("what was ignored goes"), (0, 0, 0));
    repo.write("deep/c.py", "x = 3\n");
    repo.write("deep/.knowingignore", "!c.py\n");
    step("more rules");
    repo.remove(".knowingignore");
    assert_eq!(step("fewer rules").0, 2);
    repo.remove("a.py");
    repo.write("a.py/inside.py", "def f(): pass\n");
    assert_eq!(step("a directory for a file"), (1, 0, 1));
    repo.git(&["rm", "-rqf", "a.py"]);
    repo.write("a.py", "def f(): pass\n");
    assert_eq!(step("a file for a directory"), (1, 0, 1));
    #[cfg(unix)]
    {
        repo.remove("b.py");
        std::os::unix::fs::symlink("a.py", repo.path().join("b.py")).unwrap();
        assert_eq!(step("a link"), (0, 0, 1));
        repo.remove("b.py");
        repo.write("b.py", "from a import f\nf()\n");
        assert_eq!(step("no link"), (1, 0, 0));
    }
    repo.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    assert_eq!(step("nothing"), (0, 0, 0));
}

#[test]
fn n2_a_remote_call_is_looked_up_again_when_a_schema_joins_another_package() {
    let service = "service Cart { rpc Get(A) returns (A); }\n";
    let server = "from gen import shop_pb2_grpc\nclass Cart(shop_pb2_grpc.CartServicer):\n    def Get(self, a, b): ...\n";
    let repo = Fixture::new();
    repo.write("server.py", server);
    repo.write("a/shop.proto", &format!("package shop;\n{service}"));
    let mut database = Database::new();
    for package in ["shop", "store", "shop"] {
        repo.write("b/shop.proto", &format!("package {package};\n{service}"));
        repo.commit(package);
        let report = database.index(&repo, &Options::default(), &Silent);
        let mut scratch = Database::new();
        let full = scratch.index(&repo, &Options::default(), &Silent);
        check(&database, &scratch, (&report, &full), package);
        let serves = said(&database, &report).iter().any(|it| it.contains("ImplementsRpc"));
        assert_eq!(serves, package == "shop", "copies of one schema are one service, two packages are two");
    }
}

#[test]
fn i6_deleted_renamed_and_reverted_files_leave_the_rows_of_a_fresh_index() {
    let repo = Fixture::from_text(
        "//- /shop/cart.py\nfrom shop.price import total\ndef pay(): return total()\n\
         //- /shop/price.py\ndef total(): return 1\n//- /other.py\nimport shop.cart\nshop.cart.pay()\n",
    );
    repo.commit("first");
    let mut database = Database::new();
    let first = database.index(&repo, &Options::default(), &Silent);
    let mut next = |about: &str| {
        let report = database.index(&repo, &Options::default(), &Silent);
        let mut scratch = Database::new();
        let full = scratch.index(&repo, &Options::default(), &Silent);
        check(&database, &scratch, (&report, &full), about);
        said(&database, &report)
    };
    let says = |lines: &[String], name: &str| lines.iter().any(|it| it.contains(name));
    repo.git(&["mv", "shop/price.py", "shop/prices.py"]);
    repo.commit("rename");
    let renamed = next("renamed");
    assert!(says(&renamed, "shop/prices.py") && !says(&renamed, "shop/price.py"));
    repo.remove("other.py");
    repo.commit("delete");
    assert!(!says(&next("deleted"), "other.py"));
    repo.git(&["revert", "--no-edit", "HEAD~2..HEAD"]);
    let reverted = next("reverted");
    assert!(says(&reverted, "other.py") && says(&reverted, "shop/price.py"));
    assert_eq!(reverted, said(&database, &first), "as if nothing had been done");
}
