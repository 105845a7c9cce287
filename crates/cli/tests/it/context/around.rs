//! Context around files and around changes, without a task; and packs printed again.

use serde_json::{Value, json};

use super::names;
use crate::session::{Session, shop};

/// Sorted names at a distance from what was asked for.
fn at(pack: &Value, distance: u64) -> Vec<String> {
    let symbols = pack["symbols"].as_array().unwrap().iter().zip(names(pack));
    let mut names: Vec<String> = symbols.filter(|it| it.0["distance"] == distance).map(|it| it.1).collect();
    names.sort();
    names
}

#[test]
fn q9_around_files() {
    let (session, repo) = (Session::new(), shop());
    let pack = session.json(repo.path(), &["context", "--files", "shop/desk.py"]);
    assert_eq!(pack["tool"], "context_for_files");
    assert_eq!(at(&pack, 0), ["shop/desk.py.loose", "shop/desk.py.serve"]);
    let pack = session.json(repo.path(), &["context", "--files", "shop/cart.py"]);
    assert_eq!(at(&pack, 1), ["shop/desk.py.serve", "tests/test_cart.py.test_make"]);
    assert!(at(&pack, 0).contains(&"shop/cart.py.Cart.total".to_owned()));
    // The same by the name that agents use, and for several files at once.
    let both = session.json(repo.path(), &["context", "--files", "shop/cart.py,shop/desk.py"]);
    assert_eq!(both, session.json(repo.path(), &["context-for-files", "shop/cart.py", "shop/desk.py"]));
    assert!(at(&both, 0).contains(&"shop/desk.py.serve".to_owned()));
}

#[test]
fn q9_unknown_files_are_listed_and_the_others_answered() {
    let (session, repo) = (Session::new(), shop());
    let files = "no/such.py,shop/desk.py,README.md";
    for _ in 0..2 {
        let pack = session.json(repo.path(), &["context", "--files", files]);
        assert_eq!(pack["unknown_files"], json!(["no/such.py", "README.md"]));
        assert_eq!(at(&pack, 0), ["shop/desk.py.loose", "shop/desk.py.serve"]);
    }
    let text = session.text(repo.path(), &["context", "--files", files]);
    assert!(text.contains("no/such.py") && text.contains("serve"), "{text}");
    let none = session.json(repo.path(), &["context", "--files", "no/such.py"]);
    assert_eq!((&none["symbols"], &none["unknown_files"]), (&json!([]), &json!(["no/such.py"])));
    let pack = session.json(repo.path(), &["context-for-pr", "no/such.py", "shop/desk.py"]);
    assert_eq!(pack["unknown_files"], json!(["no/such.py"]));
    let known = session.json(repo.path(), &["context", "--files", "shop/desk.py"]);
    assert_eq!(known.get("unknown_files"), None);
}

#[test]
fn q9_around_a_change_by_files() {
    let (session, repo) = (Session::new(), shop());
    let pack = session.json(repo.path(), &["context-for-pr", "shop/desk.py"]);
    assert_eq!((&pack["tool"], &pack["budget"]), (&"context_for_pr".into(), &json!(8_000)));
    assert_eq!(at(&pack, 0), ["shop/desk.py.loose", "shop/desk.py.serve"]);
    assert!(at(&pack, 1).contains(&"shop/cart.py.make".to_owned()), "{:?}", names(&pack));
}

#[test]
fn q9_around_a_change_by_revisions() {
    let (session, repo) = (Session::new(), shop());
    let base = repo.git(&["rev-parse", "HEAD"]);
    let text = String::from_utf8(repo.read("shop/cart.py")).unwrap();
    repo.write("shop/cart.py", &text.replace("sum(self.items) + tax", "sum(self.items, tax)"));
    let middle = repo.commit("sum with tax");
    repo.write("shop/desk.py", "from shop.cart import make\n\n\ndef serve():\n    return make().total()\n");
    repo.commit("serve the total");

    // Only what the lines touch is where it begins: `loose` is gone.
    let pack = session.json(repo.path(), &["context", "--base", &base]);
    assert_eq!(pack["tool"], "context_for_pr");
    assert_eq!(at(&pack, 0), ["shop/cart.py.Cart.total", "shop/desk.py.serve"]);
    assert_eq!(pack, session.json(repo.path(), &["context-for-pr", "--base", &base, "--head", "HEAD"]));

    let first = session.json(repo.path(), &["context", "--base", &base, "--head", &middle]);
    assert_eq!(first["tree"], middle[..12]);
    assert_eq!(at(&first, 0), ["shop/cart.py.Cart.total"]);
    let second = session.json(repo.path(), &["context", "--base", &middle]);
    assert_eq!(at(&second, 0), ["shop/desk.py.serve"]);
    // The checkout stands where it stood.
    let stats = session.json(repo.path(), &["stats"]);
    assert_eq!(
        (&stats["fresh"], &stats["tree"]),
        (&"yes".into(), &repo.git(&["rev-parse", "HEAD"])[..12].into())
    );

    let nothing = session.json(repo.path(), &["context", "--base", "HEAD"]);
    assert_eq!(nothing["symbols"], json!([]));
    session.error(repo.path(), &["context", "--base", "no-such-revision"], 1, "not_found");
    session.error(repo.path(), &["context", "--head", &middle], 2, "usage");
}

#[test]
fn q9_a_change_is_named_from_the_top_in_any_directory() {
    let (session, repo) = (Session::new(), shop());
    repo.write("desk.py", "def top():\n    return 1\n");
    repo.commit("a namesake at the top");
    for directory in ["", "shop"] {
        let pack = session.json(&repo.path().join(directory), &["context", "--base", "HEAD~1"]);
        assert_eq!(at(&pack, 0), ["desk.py.top"], "in `{directory}`");
    }
}

#[test]
fn q9_without_a_url_a_repository_is_known_by_its_path() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let elsewhere = knowing_testkit::Fixture::directory();
    let path = repo.path().to_str().unwrap();
    let pack = session.json(elsewhere.path(), &["--repo", path, "context", "--files", "shop/desk.py"]);
    assert_eq!(at(&pack, 0).len(), 2);
    assert!(pack["repo"].as_str().unwrap().starts_with("local/"));
    let named = pack["repo"].as_str().unwrap();
    let again = session.json(elsewhere.path(), &["--repo", named, "context", "--files", "shop/desk.py"]);
    assert_eq!(again, pack);
    let change = session.json(elsewhere.path(), &["--repo", path, "context-for-pr", "shop/desk.py"]);
    assert_eq!(at(&change, 0).len(), 2);
}

#[test]
fn q9_a_pack_is_printed_again_by_its_root() {
    let (session, repo) = (Session::new(), shop());
    for arguments in [
        &["context", "the total of a cart"] as &[&str],
        &["context", "the total of a cart", "--detail", "source", "--limit", "2"],
        &["context", "--files", "shop/cart.py"],
        &["context-for-pr", "shop/desk.py"],
    ] {
        let pack = session.json(repo.path(), arguments);
        let root = pack["pack_root"].as_str().unwrap();
        assert_eq!(session.json(repo.path(), &["pack", root]), pack, "{arguments:?}");
        let text = session.text(repo.path(), &["pack", root]);
        assert!(text.contains(pack["symbols"][0]["name"].as_str().unwrap()), "{text}");
    }
    // As it was: a later commit does not change it.
    let pack = session.json(repo.path(), &["context", "the total of a cart"]);
    repo.write("shop/more.py", "def total_of_cart():\n    return 1\n");
    repo.commit("another total");
    session.index(&repo);
    assert_eq!(session.json(repo.path(), &["pack", pack["pack_root"].as_str().unwrap()]), pack);

    session.error(repo.path(), &["pack", &"0".repeat(64)], 1, "not_found");
    session.error(repo.path(), &["pack", "abc"], 2, "usage");
}
