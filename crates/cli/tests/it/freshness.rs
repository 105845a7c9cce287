//! Which tree an answer is of: commits that came since, files that were edited, places without git.

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

/// Every question that is about a repository, with arguments that find something in the shop.
const QUESTIONS: &[&[&str]] = &[
    &["stats"],
    &["query", "make"],
    &["callers", "make"],
    &["callees", "serve"],
    &["blast-radius", "Cart.total"],
    &["context", "total of a cart"],
    &["context", "--files", "shop/cart.py"],
    &["why", "total of a cart", "--symbol", "Cart.total"],
];

fn head(repo: &Fixture) -> String {
    repo.git(&["rev-parse", "HEAD"])[..12].to_owned()
}

#[track_caller]
fn check(answer: &Value, tree: &str, fresh: &str) {
    assert_eq!((answer["tree"].as_str(), answer["fresh"].as_str()), (Some(tree), Some(fresh)), "{answer}");
    assert_eq!(answer["snapshot"].as_str().map(str::len), Some(64), "{answer}");
}

fn line_of(answer: &Value) -> &Value {
    &answer["symbol"]["line"]
}

#[test]
fn i3_every_answer_says_which_tree_it_is_of_and_names_dirty_files() {
    let (session, repo) = (Session::new(), shop());
    check(&session.index(&repo), &head(&repo), "yes");
    for question in QUESTIONS {
        check(&session.json(repo.path(), question), &head(&repo), "yes");
    }
    repo.write("shop/cart.py", &format!("# new\n{}", text_of(&repo, "shop/cart.py")));
    repo.write("shop/new.py", "def fresh():\n    pass\n");
    repo.write("notes.txt", "not code\n");
    let tree = session.json(repo.path(), &["stats"])["tree"].as_str().unwrap().to_owned();
    assert!(tree.starts_with(&format!("{}+", head(&repo))), "{tree}");
    for question in QUESTIONS {
        let answer = session.json(repo.path(), question);
        check(&answer, &tree, "dirty(2)");
        let named = answer["dirty"] == json!(["shop/cart.py", "shop/new.py"])
            || answer["notes"][0] == "differ from the snapshot: shop/cart.py, shop/new.py";
        assert!(named, "{question:?}: {answer}");
    }
    check(&session.index(&repo), &tree, "dirty(2)");
    let text = session.text(repo.path(), &["callers", "make"]);
    assert!(text.contains("shop/cart.py, shop/new.py; `--working-tree`"), "{text}");
    let ran = session.run(repo.path(), &["export"]);
    assert!(ran.stderr.contains("shop/cart.py"), "{}", ran.stderr);
    // Back to what was committed, and to what was edited before: the same names again.
    let edited = text_of(&repo, "shop/cart.py");
    repo.git(&["checkout", "-q", "shop/cart.py"]);
    check(&session.json(repo.path(), &["stats"]), &tree_of(&session, &repo), "dirty(1)");
    repo.write("shop/cart.py", &edited);
    check(&session.json(repo.path(), &["stats"]), &tree, "dirty(2)");
}

fn text_of(repo: &Fixture, path: &str) -> String {
    String::from_utf8(repo.read(path)).unwrap()
}

fn tree_of(session: &Session, repo: &Fixture) -> String {
    session.json(repo.path(), &["stats"])["tree"].as_str().unwrap().to_owned()
}

#[test]
fn i3_symbols_of_edited_files_stand_where_they_are_now() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let before = session.json(repo.path(), &["callers", "make"]);
    let desk = text_of(&repo, "shop/desk.py");
    repo.write(
        "shop/desk.py",
        &format!("# one\n# two\n# three\n{}", desk.replace("thing.close(1, 2)\n", "")),
    );
    let answer = session.json(repo.path(), &["callers", "make"]);
    let find = |answer: &Value| {
        let callers = answer["callers"].as_array().unwrap();
        callers.iter().find(|it| it["name"] == "serve").unwrap().clone()
    };
    let (old, new) = (find(&before), find(&answer));
    assert_eq!(new["line"], json!(old["line"].as_u64().unwrap() + 3), "{new}");
    assert_eq!(new["sites"], json!([old["sites"][0].as_u64().unwrap() + 3]), "{new}");
    assert_eq!(new["flags"], json!(["exported", "dirty"]));
    let pack = session.json(repo.path(), &["context", "--files", "shop/desk.py", "--detail", "source"]);
    let serve = pack["symbols"].as_array().unwrap().iter().find(|it| it["name"] == "serve").unwrap();
    assert_eq!(serve["line"], new["line"], "{serve}");
    assert_eq!(serve["source"], "def serve():\n    return make()", "{serve}");
    // By the line of the file as it is.
    let here = format!("shop/desk.py:{}", new["line"]);
    assert_eq!(session.json(repo.path(), &["callees", &here])["symbol"]["name"], "serve");
    repo.write("shop/desk.py", "def loose(thing):\n    pass\n");
    let gone = session.json(repo.path(), &["callees", "serve"]);
    assert_eq!(gone["symbol"]["flags"], json!(["exported", "dirty", "gone"]), "{gone}");
    repo.remove("shop/desk.py");
    let gone = session.json(repo.path(), &["callees", "serve"]);
    assert_eq!(gone["symbol"]["flags"], json!(["exported", "dirty", "gone"]), "{gone}");
    // Who asks to ignore it gets what is stored.
    let ignored = session.json(repo.path(), &["callers", "make", "--stale-policy", "ignore"]);
    assert_eq!(ignored["callers"], before["callers"]);
    assert_eq!((&ignored["fresh"], &ignored["dirty"]), (&json!("dirty(1)"), &Value::Null));
}

#[test]
fn i4_the_working_tree_is_answered_from_and_adds_nothing_to_the_chain() {
    let (session, repo) = (Session::new(), shop());
    let committed = session.index(&repo);
    repo.write(
        "shop/desk.py",
        &format!("{}\ndef again():\n    return make()\n", text_of(&repo, "shop/desk.py")),
    );
    repo.write("shop/new.py", "from shop.cart import make\n\ndef fresh():\n    make()\n");
    repo.remove("tests/test_cart.py");
    let names = |answer: &Value| -> Vec<String> {
        let callers = answer["callers"].as_array().unwrap();
        callers.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let answer = session.json(repo.path(), &["callers", "make", "--working-tree"]);
    assert_eq!(names(&answer), ["serve", "again", "fresh"], "{answer}");
    check(&answer, &tree_of(&session, &repo), "yes");
    assert_ne!(answer["snapshot"], committed["snapshot"]);
    // Found again while the files are the same, by the other name of the option too.
    let again = session.json(repo.path(), &["callers", "make", "--tree", "working"]);
    assert_eq!(again, answer);
    let report = session.json(repo.path(), &["index", "--working-tree"]);
    assert_eq!((&report["new_snapshot"], &report["snapshot"]), (&json!(false), &answer["snapshot"]));
    // HEAD is what it was.
    let answer = session.json(repo.path(), &["callers", "make"]);
    assert_eq!(names(&answer), ["serve", "test_make"], "{answer}");
    assert_eq!(answer["snapshot"], committed["snapshot"]);
    let report = session.index(&repo);
    assert_eq!((&report["new_snapshot"], &report["snapshot"]), (&json!(false), &committed["snapshot"]));
    // One state of the files after the other, and it equals the commit of them.
    repo.write("shop/new.py", "from shop.cart import make\n\ndef renamed():\n    make()\n");
    let working = session.json(repo.path(), &["index", "--working-tree"]);
    assert_eq!(working["new_snapshot"], json!(true));
    repo.commit("all of it");
    let report = session.index(&repo);
    assert_eq!((&report["root"], &report["edges"]), (&working["root"], &working["edges"]));
    let clean = session.json(repo.path(), &["index", "--working-tree"]);
    assert_eq!((&clean["new_snapshot"], &clean["snapshot"]), (&json!(false), &report["snapshot"]));
}

#[test]
fn i4_a_working_tree_needs_no_index_and_no_place_but_a_checkout() {
    let (session, repo) = (Session::new(), shop());
    repo.write("shop/new.py", "def fresh_basket():\n    pass\n");
    let answer = session.json(repo.path(), &["context", "fresh basket", "--working-tree"]);
    assert_eq!(answer["symbols"][0]["name"], "fresh_basket", "{answer}");
    assert_eq!(answer["fresh"], "yes");
    let bare = Fixture::clone_of(&repo, &["--bare"]);
    session.json(bare.path(), &["index"]);
    session.error(bare.path(), &["stats", "--working-tree"], 2, "usage");
    session.error(bare.path(), &["index", "--working-tree"], 2, "usage");
    session.error(repo.path(), &["index", "--working-tree", "--commit", "HEAD"], 2, "usage");
    check(&session.json(bare.path(), &["stats"]), &head(&repo), "yes");
}

#[test]
fn i5_what_happens_when_head_moved() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let old = head(&repo);
    repo.write("shop/more.py", "from shop.cart import make\n\ndef more():\n    return make()\n");
    repo.commit("more");
    repo.write("other.py", "x = 1\n");
    repo.commit("other");
    let error = session.error(repo.path(), &["callers", "make", "--stale-policy", "error"], 1, "stale");
    assert!(error["message"].as_str().unwrap().contains("behind(2)"), "{error}");
    let total = |policy: &str| {
        let answer = session.json(repo.path(), &["callers", "make", "--stale-policy", policy]);
        (answer["total"].as_u64().unwrap(), answer)
    };
    for policy in ["warn", "ignore"] {
        let (total, answer) = total(policy);
        assert_eq!((total, answer["fresh"].as_str()), (2, Some("behind(2)")), "{answer}");
        assert!(answer["tree"].as_str().unwrap().starts_with(&old));
    }
    let text = session.text(repo.path(), &["callers", "make", "--stale-policy", "warn"]);
    assert!(text.contains(&format!("answered for {old}, behind(2)")), "{text}");
    let (total, answer) = total("refresh");
    assert_eq!(total, 3);
    check(&answer, &head(&repo), "yes");
    check(&session.json(repo.path(), &["stats", "--stale-policy", "error"]), &head(&repo), "yes");
    repo.write("other.py", "x = 2\n");
    let error = session.error(repo.path(), &["stats", "--stale-policy", "error"], 1, "stale");
    assert!(error["message"].as_str().unwrap().contains("other.py"), "{error}");
    // A state that is named is not stale.
    check(&session.json(repo.path(), &["stats", "--tree", "HEAD~2", "--stale-policy", "error"]), &old, "yes");
    check(
        &session.json(repo.path(), &["stats", "--tree", "head", "--stale-policy", "ignore"]),
        &tree_of(&session, &repo),
        "dirty(1)",
    );
    session.error(repo.path(), &["stats", "--tree", "no-such"], 1, "not_found");
    session.error(repo.path(), &["stats", "--stale-policy", "sometimes"], 2, "usage");
}

#[test]
fn i5_a_directory_without_git_is_never_silently_stale() {
    let (session, place) = (Session::new(), Fixture::directory());
    place.write("a.py", "def one():\n    pass\n");
    let indexed = session.json(place.path(), &["index", "."]);
    assert_eq!(indexed["fresh"], "yes");
    let answer = session.json(place.path(), &["query", "one"]);
    assert_eq!(
        (&answer["fresh"], line_of(&session.json(place.path(), &["callers", "one"]))),
        (&json!("yes"), &json!(1))
    );
    place.write("a.py", "# new\ndef one():\n    pass\n\ndef two():\n    one()\n");
    let warned = session.json(place.path(), &["callers", "one", "--stale-policy", "warn"]);
    assert_eq!((&warned["fresh"], &warned["dirty"]), (&json!("dirty(1)"), &json!(["a.py"])));
    assert_eq!((line_of(&warned), &warned["total"]), (&json!(2), &json!(0)), "{warned}");
    assert_eq!(warned["snapshot"], indexed["snapshot"]);
    session.error(place.path(), &["callers", "one", "--stale-policy", "error"], 1, "stale");
    let refreshed = session.json(place.path(), &["callers", "one"]);
    assert_eq!((&refreshed["fresh"], &refreshed["total"]), (&json!("yes"), &json!(1)), "{refreshed}");
}
