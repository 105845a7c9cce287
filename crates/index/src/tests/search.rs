//! Search images: the same bytes however they came about.

use std::fs;

use knowing_model::identity::{Identity, file_id, node_id};
use knowing_model::{ContainerClass, NodeId, NodeKind};
use knowing_search::{Collection, Field, N_FIELDS, Query, QueryTerm, Scoring, Searcher, View, tokens};
use knowing_store::TermsKey;
use knowing_testkit::Fixture;
use knowing_vcs::Directory;

use super::{Database, Dice, module};
use crate::search::TERMS_RULESET;
use crate::{Options, Report, Request, Silent, Source, images, index, open_graph, open_search};

impl Database {
    /// Of all documents in one image, however they are kept.
    pub(super) fn image_bytes(&self, report: &Report) -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("whole");
        self.search(report).whole().unwrap().write(&path).unwrap();
        fs::read(path).unwrap()
    }

    pub(super) fn search(&self, report: &Report) -> Collection {
        let snapshot = self.store.snapshot(report.snapshot).unwrap().unwrap();
        open_search(&self.store, &snapshot).unwrap()
    }
}

fn node(path: &str, symbol: &str, kind: NodeKind) -> NodeId {
    node_id(Identity {
        repo: "github.com/acme/app",
        class: ContainerClass::File,
        container: path,
        symbol,
        kind,
    })
}

/// How often a symbol has the one token of `word` in a field.
#[track_caller]
fn count(index: &Collection, node: NodeId, word: &str, field: Field) -> u32 {
    let document = index.document(node).expect("the symbol has a document");
    index.has_term(document, &tokens(word)[0]).map_or(0, |it| it[field.index()])
}

fn hits(index: &Collection, words: &str) -> Vec<(NodeId, u64)> {
    let terms = tokens(words).into_iter().map(|term| QueryTerm { term, counts: vec![1.0] }).collect();
    let query = Query::new(vec![View { weights: [1.0; N_FIELDS] }], terms);
    let best = index.search(&query, &Scoring::default(), 50).remove(0);
    best.iter().map(|it| (index.node(it.document), it.score.to_bits())).collect()
}

const SHOP: &str = "//- /shop/cart.py
from shop.price import price_of


class Cart:
    \"\"\"Holds what is bought.\"\"\"

    def total(self):
        return sum(price_of(it) for it in self.items)
//- /shop/price.py
def price_of(it):
    return it.price
";

#[test]
fn documents_have_content_path_history_and_neighbours() {
    let repo = Fixture::from_text(SHOP);
    repo.commit("Open the shop\n\nWith a till.");
    let text = String::from_utf8(repo.read("shop/price.py")).unwrap();
    repo.write("shop/price.py", &text.replace("it.price", "it.price * 2"));
    repo.commit("Raise inflation everywhere");
    let mut database = Database::new();
    let report = database.index(&repo, &Options::default(), &Silent);
    let index = database.search(&report);
    let total = node("shop/cart.py", "Cart.total", NodeKind::Method);
    let price = node("shop/price.py", "price_of", NodeKind::Function);
    assert_eq!(count(&index, total, "total", Field::Name), 1);
    assert_eq!(count(&index, total, "cart", Field::Owner), 1);
    assert_eq!(count(&index, total, "shop", Field::Path), 1);
    assert_eq!(count(&index, total, "items", Field::Body), 1);
    assert_eq!(count(&index, total, "price_of", Field::Neighbours), 1);
    assert_eq!(count(&index, total, "till", Field::History), 1);
    assert_eq!(count(&index, total, "inflation", Field::History), 0);
    assert_eq!(count(&index, price, "total", Field::Neighbours), 1);
    assert_eq!(count(&index, price, "inflation", Field::History), 1);
    let document = index.document(price).unwrap();
    assert_eq!((index.n_commits(document), index.last_commit(document)), (2, Some(1_700_000_060)));
    assert_eq!(index.commit_time(), 1_700_000_060);
    assert!(index.document(node("shop/cart.py", "", NodeKind::File)).is_some());
}

#[test]
fn every_document_is_a_node_and_every_symbol_of_a_file_a_document() {
    let repo = Fixture::from_text(SHOP);
    repo.commit("first");
    let mut database = Database::new();
    let report = database.index(&repo, &Options::default(), &Silent);
    let index = database.search(&report);
    let snapshot = database.store.snapshot(report.snapshot).unwrap().unwrap();
    let graph = open_graph(&database.store, &snapshot).unwrap();
    let is_document = |it: &&knowing_graph::NodeRecord| index.document(it.id()).is_some();
    let n_nodes = graph.nodes().iter().filter(is_document).count();
    assert_eq!(n_nodes, index.n_documents());
    for record in graph.nodes().iter().filter(|it| it.kind().is_callable() && !it.is_virtual()) {
        assert!(index.document(record.id()).is_some());
    }
}

#[test]
fn renames_are_followed_to_where_a_symbol_is_today() {
    let repo = Fixture::from_text(SHOP);
    repo.commit("Think of xylophones");
    repo.git(&["mv", "shop/cart.py", "shop/basket.py"]);
    repo.commit("Rename the cart");
    let mut database = Database::new();
    let report = database.index(&repo, &Options::default(), &Silent);
    let total = node("shop/basket.py", "Cart.total", NodeKind::Method);
    assert_eq!(count(&database.search(&report), total, "xylophones", Field::History), 1);
}

#[test]
fn a_directory_that_moved_keeps_its_history() {
    let repo = Fixture::from_text(SHOP);
    (0..40).for_each(|it| repo.write(&format!("shop/part_{it}.py"), &format!("def f{it}(): pass\n")));
    repo.git(&["add", "shop/cart.py"]);
    repo.commit_staged("Think of xylophones");
    repo.commit("Add all the rest");
    repo.git(&["mv", "shop", "store"]);
    repo.commit("Move the shop");
    let mut database = Database::new();
    let report = database.index(&repo, &Options::default(), &Silent);
    let total = node("store/cart.py", "Cart.total", NodeKind::Method);
    let index = database.search(&report);
    assert_eq!(count(&index, total, "xylophones", Field::History), 1);
    assert_eq!(count(&index, total, "rest", Field::History), 0);
    assert_eq!(index.n_commits(index.document(total).unwrap()), 1);
}

#[test]
fn images_are_equal_from_scratch_after_any_order_of_runs_and_at_any_number_of_workers() {
    for seed in 10..13 {
        let mut dice = Dice(seed);
        let repo = Fixture::new();
        let mut commits = Vec::new();
        for step in 0..5 {
            for _ in 0..1 + dice.roll(3) {
                let path = format!("m{}.py", dice.roll(4));
                match dice.roll(6) {
                    0 if repo.path().join(&path).exists() => repo.remove(&path),
                    1 if repo.path().join(&path).exists() => {
                        repo.git(&["mv", "-f", "-k", &path, &format!("m{}.py", dice.roll(4))]);
                    }
                    _ => repo.write(&path, &module(&mut dice)),
                }
            }
            commits.push(repo.commit(&format!("step {step} of {}", dice.roll(9))));
        }
        let mut incremental = Database::new();
        let mut bytes = Vec::new();
        for commit in &commits {
            repo.git(&["checkout", "-q", commit]);
            let report = incremental.index(&repo, &Options::default(), &Silent);
            bytes.push(incremental.image_bytes(&report));
        }
        let mut backward = Database::new();
        for (commit, expect) in commits.iter().zip(&bytes).rev() {
            repo.git(&["checkout", "-q", commit]);
            let workers = Options { workers: 1 + dice.roll(4) as usize, ..Options::default() };
            let report = backward.index(&repo, &workers, &Silent);
            assert!(backward.image_bytes(&report) == *expect, "seed {seed}");
            let mut scratch = Database::new();
            let report = scratch.index(&repo, &workers, &Silent);
            assert!(scratch.image_bytes(&report) == *expect, "seed {seed}");
        }
    }
}

#[test]
fn s7_deleting_an_image_and_asking_again_gives_the_same_bytes() {
    let repo = Fixture::from_text(SHOP);
    repo.commit("Open the shop");
    repo.write("shop/price.py", "def price_of(it):\n    return 1\n");
    repo.commit("Make all things cheap");
    let mut database = Database::new();
    let report = database.index(&repo, &Options::default(), &Silent);
    let before = database.image_bytes(&report);
    // From the database alone: the repository is gone.
    drop(repo);
    for damage in [true, false] {
        for entry in fs::read_dir(database.store.images_dir()).unwrap() {
            let path = entry.unwrap().path();
            match damage {
                true => fs::write(&path, "damaged").unwrap(),
                false => fs::remove_file(&path).unwrap(),
            }
        }
        database.search(&report);
        assert!(database.image_bytes(&report) == before);
    }
}

#[test]
fn s3_scores_are_equal_with_other_snapshots_present() {
    let repo = Fixture::from_text(SHOP);
    let first = repo.commit("Open the shop");
    let mut alone = Database::new();
    let report = alone.index(&repo, &Options::default(), &Silent);
    let mut crowded = Database::new();
    for n in 0..12 {
        repo.write(&format!("shop/more_{n}.py"), &format!("def price_{n}(cart):\n    return cart.total()\n"));
        repo.commit(&format!("Sell {n} more in the shop"));
        crowded.index(&repo, &Options::default(), &Silent);
    }
    repo.git(&["checkout", "-q", &first]);
    let again = crowded.index(&repo, &Options::default(), &Silent);
    assert_eq!(again.snapshot, report.snapshot);
    for words in ["price of the cart", "total", "open shop"] {
        let expect = hits(&alone.search(&report), words);
        assert!(!expect.is_empty());
        assert_eq!(hits(&crowded.search(&again), words), expect, "{words}");
    }
    assert!(crowded.image_bytes(&again) == alone.image_bytes(&report));
}

#[test]
fn terms_that_are_lost_are_made_again_from_the_source() {
    let repo = Fixture::from_text(SHOP);
    repo.commit("Open the shop");
    let mut database = Database::new();
    let report = database.index(&repo, &Options::default(), &Silent);
    let before = database.image_bytes(&report);
    let blob = knowing_vcs::BlobId::from_hex(&repo.git(&["rev-parse", "HEAD:shop/price.py"])).unwrap();
    let key = TermsKey {
        file: file_id("github.com/acme/app", "shop/price.py", blob.as_bytes()),
        language: "python",
        ruleset: TERMS_RULESET,
    };
    assert!(database.store.terms(key).unwrap().is_some());
    database.store.write_terms(&[(key, b"damaged".to_vec())]).unwrap();
    fs::remove_dir_all(database.store.images_dir()).unwrap();

    // Without the source the file is not found, and no image says so for good.
    let total = node("shop/cart.py", "Cart.total", NodeKind::Method);
    let price = node("shop/price.py", "price_of", NodeKind::Function);
    let index = database.search(&report);
    assert!(index.document(total).is_some() && index.document(price).is_none());
    database.index(&repo, &Options::default(), &Silent);
    assert!(database.image_bytes(&report) == before);
    assert!(database.store.terms(key).unwrap() != Some(b"damaged".to_vec()));
}

#[test]
fn a_longer_history_renews_the_image() {
    let source = Fixture::from_text(SHOP);
    source.commit("Think of xylophones");
    source.write("shop/price.py", "def price_of(it):\n    return 1\n");
    source.commit("Make all things cheap");
    let clone = Fixture::clone_of(&source, &["--depth", "1"]);
    let total = node("shop/cart.py", "Cart.total", NodeKind::Method);
    let mut database = Database::new();
    let report = database.index(&clone, &Options::default(), &Silent);
    assert_eq!(count(&database.search(&report), total, "xylophones", Field::History), 0);
    let whole = database.index(&source, &Options::default(), &Silent);
    assert_eq!(whole.snapshot, report.snapshot);
    assert_eq!(count(&database.search(&whole), total, "xylophones", Field::History), 1);
    let mut other = Database::new();
    let whole = other.index(&source, &Options::default(), &Silent);
    assert!(database.image_bytes(&whole) == other.image_bytes(&whole));
}

#[test]
fn a_place_without_git_is_searched_without_history() {
    let place = Fixture::directory();
    place.write_text(SHOP);
    let directory = Directory::open(place.path()).unwrap();
    let options = Options::default();
    let mut database = Database::new();
    let request = Request {
        source: Source::Directory(&directory),
        url: "github.com/acme/app",
        object_format: knowing_vcs::ObjectFormat::Sha1,
        place: Some("here"),
        branch: None,
        options: &options,
        now: 1_700_000_000,
    };
    let report = index(&mut database.store, &request, &Silent).unwrap();
    let index = database.search(&report);
    let total = index.document(node("shop/cart.py", "Cart.total", NodeKind::Method)).unwrap();
    assert_eq!((index.n_commits(total), index.commit_time()), (0, 0));
}

#[test]
fn old_images_go_first_and_those_of_checkouts_stay() {
    let repo = Fixture::from_text(SHOP);
    let mut database = Database::new();
    let mut reports = Vec::new();
    for n in 0..3 {
        repo.commit(&format!("commit {n}"));
        reports.push(database.index(&repo, &Options::default(), &Silent));
    }
    let images = database.store.images_dir();
    let n_images = |report: &Report| {
        let all = fs::read_dir(&images).unwrap().flatten();
        all.filter(|it| it.path().file_stem().unwrap() == report.snapshot.to_string().as_str()).count()
    };
    let before: Vec<usize> = reports.iter().map(n_images).collect();
    assert_eq!(before, [4, 4, 4]);
    images::sweep(&database.store, 1 << 30).unwrap();
    assert_eq!(reports.iter().map(n_images).collect::<Vec<_>>(), before);
    images::sweep(&database.store, 0).unwrap();
    // The last one is kept as changes of the first.
    assert_eq!(reports.iter().map(n_images).collect::<Vec<_>>(), [1, 0, 4]);
    let last = database.search(&reports[2]);
    assert!(matches!(last, Collection::Changes(_)));
    let bytes = database.image_bytes(&reports[2]);
    fs::remove_file(images.join(format!("{}.search", reports[0].snapshot))).unwrap();
    assert!(matches!(database.search(&reports[2]), Collection::Whole(_)), "without its base it is made anew");
    assert!(database.image_bytes(&reports[2]) == bytes);
}
