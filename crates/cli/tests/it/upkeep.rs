//! Checking and cleaning the database.

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

/// The shop with so many commits more, each indexed.
fn history(session: &Session, n_commits: usize) -> Fixture {
    let repo = shop();
    session.index(&repo);
    for at in 0..n_commits {
        repo.write(
            "shop/more.py",
            &format!("from shop.cart import make\n\n\ndef more_{at}():\n    make()\n"),
        );
        repo.commit("more");
        session.index(&repo);
    }
    repo
}

fn images(session: &Session) -> Vec<std::path::PathBuf> {
    let repos = std::fs::read_dir(session.data().join("knowing/repos")).unwrap();
    let images = repos.flat_map(|it| std::fs::read_dir(it.unwrap().path().join("images")).unwrap());
    let mut images: Vec<_> = images.map(|it| it.unwrap().path()).collect();
    images.sort();
    images
}

#[test]
fn a_sound_database_is_clean() {
    let session = Session::new();
    let repo = history(&session, 2);
    let reply = session.json(repo.path(), &["fsck"]);
    assert_eq!((&reply["status"], &reply["counts"]["snapshots"]), (&json!("clean"), &json!(3)), "{reply}");
    assert!(reply["counts"]["images"].as_u64().unwrap() >= 6, "{reply}");
    let quick = session.json(repo.path(), &["fsck", "--quick"]);
    assert_eq!((&quick["status"], &quick["counts"]["units"]), (&json!("clean"), &json!(0)));
    assert!(session.text(repo.path(), &["fsck"]).starts_with("clean: "));
    session.error(Fixture::directory().path(), &["fsck"], 2, "usage");
}

#[test]
fn damaged_images_are_warned_of_and_built_anew() {
    let session = Session::new();
    let repo = history(&session, 1);
    let sound: Vec<(std::path::PathBuf, Vec<u8>)> =
        images(&session).into_iter().map(|it| (it.clone(), std::fs::read(it).unwrap())).collect();
    for (path, bytes) in &sound {
        let mut damaged = bytes.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 4;
        std::fs::write(path, &damaged).unwrap();
        let written = std::fs::metadata(path).unwrap().modified().unwrap();
        let reply = session.json(repo.path(), &["fsck"]);
        assert_eq!(reply["status"], json!("warnings"), "{reply}");
        // A search image that another one is made on takes it along.
        let is_named = |it: &Value| {
            it["message"].as_str().unwrap().contains(path.file_name().unwrap().to_str().unwrap())
        };
        assert!(reply["warnings"].as_array().unwrap().iter().any(is_named), "{reply}");
        assert!(reply["warnings"][0]["message"].as_str().unwrap().contains("--repair"), "{reply}");
        assert_eq!(std::fs::read(path).unwrap(), damaged, "looking changes nothing");
        let after = std::fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(after, written, "looking writes nothing");
        let reply = session.json(repo.path(), &["fsck", "--repair"]);
        assert_eq!(reply["repaired"], json!(1), "{reply}");
        assert_eq!(session.json(repo.path(), &["fsck"])["status"], json!("clean"));
    }
}

#[test]
fn a_content_that_git_lost_is_warned_of() {
    let session = Session::new();
    let repo = history(&session, 0);
    let blob = repo.git(&["rev-parse", "HEAD:shop/desk.py"]);
    std::fs::remove_file(repo.path().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let reply = session.json(repo.path(), &["fsck"]);
    assert_eq!(reply["warnings"][0]["check"], json!("git"));
    assert!(reply["warnings"][0]["message"].as_str().unwrap().contains("shop/desk.py"), "{reply}");
}

#[test]
fn s5_a_damaged_database_is_found_and_exits_1() {
    let session = Session::new();
    let repo = shop();
    let path = session.file("one.db");
    let db = path.to_str().unwrap();
    session.json(repo.path(), &["--db", db, "index"]);
    session.text(repo.path(), &["--db", db, "vacuum"]);
    let sound = std::fs::read(&path).unwrap();
    // A letter of a symbol, wherever it is stored.
    let needle = b"def total(self, tax=0)";
    let places = sound.windows(needle.len()).enumerate().filter(|it| it.1 == needle).map(|it| it.0);
    // Where facts of the file have it, which can be made again from git, that is a warning.
    let mut is_in_units = false;
    for at in places {
        let mut damaged = sound.clone();
        damaged[at + 4] = b'T';
        std::fs::write(&path, &damaged).unwrap();
        let ran = session.run(repo.path(), &["--db", db, "fsck", "--json"]);
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
        is_in_units = reply["errors"][0]["check"] == "units";
        if is_in_units {
            assert_eq!((ran.code, &reply["status"]), (1, &json!("damaged")), "{reply}");
            break;
        }
        assert_eq!((ran.code, &reply["warnings"][0]["check"]), (0, &json!("facts")), "{reply}");
    }
    assert!(is_in_units);
    // Pages are as they were: only hashes tell.
    assert_eq!(session.run(repo.path(), &["--db", db, "fsck", "--quick"]).code, 0);
    let text = session.run(repo.path(), &["--db", db, "fsck"]);
    assert!(
        text.stdout.starts_with("damaged: ") && text.stdout.contains("error units: unit row"),
        "{}",
        text.stdout
    );

    let mut torn = sound.clone();
    let page = torn.len() / 8192 / 2 * 8192;
    torn[page..page + 64].fill(0xff);
    std::fs::write(&path, &torn).unwrap();
    assert_ne!(session.run(repo.path(), &["--db", db, "fsck", "--quick"]).code, 0);
    std::fs::write(&path, "not a database".repeat(100)).unwrap();
    session.error(repo.path(), &["--db", db, "fsck"], 2, "corrupt");
}

#[test]
fn s6_collecting_keeps_the_newest_and_what_is_pinned() {
    let session = Session::new();
    let repo = history(&session, 5);
    session.text(repo.path(), &["snapshots", "pin", "@5"]);
    let first = session.json(repo.path(), &["callers", "make"])["callers"].clone();
    let n_images = images(&session).len();
    let counted = session.json(repo.path(), &["gc", "--keep", "2", "--dry-run"]);
    assert_eq!((&counted["dry_run"], images(&session).len()), (&json!(true), n_images));
    let collected = session.json(repo.path(), &["gc", "--keep", "2"]);
    assert_eq!(
        (&collected["removed"], &collected["snapshots"]),
        (&counted["removed"], &counted["snapshots"])
    );
    assert_eq!(
        (collected["snapshots"].as_array().unwrap().len(), &collected["snapshots_kept"]),
        (3, &json!(3))
    );
    assert!(images(&session).len() < n_images);
    assert_eq!(session.json(repo.path(), &["fsck"])["status"], json!("clean"));
    assert_eq!(session.json(repo.path(), &["callers", "make"])["callers"], first);
    // One that was collected is made again, and all is as before.
    let diff = session.json(repo.path(), &["diff", "HEAD~2"]);
    assert_eq!(diff["counts"]["nodes_added"], json!(1), "{diff}");
    assert_eq!(session.json(repo.path(), &["fsck"])["status"], json!("clean"));
    let space = session.json(repo.path(), &["vacuum"]);
    assert!(space["bytes_after"].as_u64() <= space["bytes_before"].as_u64());
    assert_eq!(session.json(repo.path(), &["callers", "make"])["callers"], first);
}

#[test]
fn s1_two_repositories_in_one_database_do_not_hurt_each_other() {
    let session = Session::new();
    let (one, other) =
        (shop(), Fixture::from_text("//- /shop/cart.py\ndef make(): pass\n\n\ndef use():\n    make()\n"));
    other.commit("first");
    let path = session.file("both.db");
    let db = path.to_str().unwrap();
    let in_db =
        |repo: &Fixture, arguments: &[&str]| session.json(repo.path(), &[&["--db", db], arguments].concat());
    in_db(&one, &["index"]);
    in_db(&other, &["index"]);
    one.write("shop/more.py", "def more(): pass\n");
    one.commit("more");
    in_db(&one, &["index"]);
    let exported = |repo: &Fixture| session.text(repo.path(), &["--db", db, "export"]);
    let (ours, theirs) = (exported(&one), exported(&other));
    in_db(&one, &["gc", "--keep", "1"]);
    assert_eq!((exported(&one), exported(&other)), (ours.clone(), theirs.clone()));
    assert_eq!(in_db(&one, &["fsck"])["status"], json!("clean"));

    let refused = ["--db", db, "untrack-repo"];
    let error = session.error(one.path(), &refused, 2, "usage");
    assert!(error["hint"].as_str().unwrap().contains("--yes"), "{error}");
    in_db(&one, &["untrack-repo", "--dry-run"]);
    assert_eq!(exported(&one), ours);
    let gone = in_db(&one, &["untrack-repo", "--yes"]);
    assert_eq!((&gone["removed"]["repos"], &gone["removed"]["worktrees"]), (&json!(1), &json!(1)), "{gone}");
    session.error(one.path(), &["--db", db, "stats"], 1, "no_index");
    assert_eq!(exported(&other), theirs);
    assert_eq!(in_db(&other, &["fsck"])["counts"]["repos"], json!(1));
    assert_eq!(in_db(&other, &["fsck"])["status"], json!("clean"));
}

#[test]
fn a_repository_is_reset_and_forgotten() {
    let session = Session::new();
    let repo = history(&session, 1);
    let before = session.text(repo.path(), &["export"]);
    session.error(repo.path(), &["reset"], 2, "usage");
    session.json(repo.path(), &["reset", "--yes"]);
    session.error(repo.path(), &["stats"], 1, "no_index");
    assert!(images(&session).is_empty());
    session.index(&repo);
    assert_eq!(session.text(repo.path(), &["export"]), before);
    session.json(repo.path(), &["untrack-repo", "--yes"]);
    let registry = std::fs::read_to_string(session.data().join("knowing/registry.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&registry).unwrap()["repositories"], json!([]));
    session.error(repo.path(), &["untrack-repo", "--yes"], 1, "no_index");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

/// The symbols of a pack and their scores.
fn context(session: &Session, repo: &Fixture) -> Value {
    let arguments = ["context", "total of the cart with more items", "--without", "pack_cache"];
    let mut reply = session.json(repo.path(), &arguments);
    reply.as_object_mut().unwrap().remove("took_ms");
    reply
}

#[test]
fn s7_answers_are_the_same_when_the_image_they_were_made_on_is_collected() {
    let session = Session::new();
    let repo = history(&session, 4);
    let before = context(&session, &repo);
    let searches = |it: &std::path::PathBuf| it.extension().is_some_and(|it| it == "search");
    let collected = session.json(repo.path(), &["gc", "--keep", "1"]);
    assert_eq!(collected["snapshots"].as_array().unwrap().len(), 4, "{collected}");
    assert_eq!(context(&session, &repo), before);
    assert_eq!(images(&session).into_iter().filter(searches).count(), 2, "the last, and what it is made on");
    // Without any image, what is left is enough to make it again.
    images(&session).iter().for_each(|it| std::fs::remove_file(it).unwrap());
    assert_eq!(context(&session, &repo), before);
    assert_eq!(session.json(repo.path(), &["fsck"])["status"], json!("clean"));
}

#[test]
fn what_git_stands_on_is_not_collected() {
    let session = Session::new();
    let repo = shop();
    repo.git(&["branch", "-M", "main"]);
    session.index(&repo);
    let commit = |name: &str| {
        repo.write("shop/more.py", &format!("def {name}(): pass\n"));
        repo.commit(name);
        session.index(&repo)["snapshot"].clone()
    };
    let main = commit("on_main");
    repo.git(&["switch", "-q", "-c", "linked"]);
    let linked = commit("linked");
    let tree = tempfile::TempDir::new().unwrap();
    let path = tree.path().join("linked");
    repo.git(&["switch", "-q", "-c", "side"]);
    repo.git(&["worktree", "add", "-q", path.to_str().unwrap(), "linked"]);
    let side = commit("side");
    let left = commit("left");
    // An old commit, made last, for a comparison; and git moved on behind our back.
    session.json(repo.path(), &["diff", "main~1", "HEAD"]);
    repo.git(&["switch", "-q", "--detach", "HEAD~1"]);
    let collected = session.json(repo.path(), &["gc", "--keep", "1"]);
    let gone = collected["snapshots"].as_array().unwrap();
    assert_eq!(gone.len(), 1, "{collected}");
    for kept in [main, linked, side, left] {
        assert!(!gone.contains(&kept), "{kept} of {gone:?}");
    }
    session.json(&path, &["callers", "linked"]);
}

#[test]
fn an_index_run_collects_when_enough_has_gathered() {
    let session = Session::new();
    let repo = shop();
    let n_snapshots = || session.json(repo.path(), &["fsck", "--limit", "0"])["counts"]["snapshots"].clone();
    let commit = |at: usize, switch: &str| {
        let functions = (0..1300).map(|it| format!("def f{it}_{at}():\n    f{}_{at}()\n", (it + 1) % 1300));
        repo.write("shop/many.py", &functions.collect::<String>());
        repo.commit("many");
        let ran = session.command(repo.path()).arg("index").env("KNOWING_AUTO_GC", switch).output().unwrap();
        assert!(ran.status.success());
    };
    (0..14).for_each(|at| commit(at, "0"));
    assert_eq!(n_snapshots(), json!(14), "it was switched off");
    commit(14, "1");
    assert_eq!(n_snapshots(), json!(10));
    commit(15, "1");
    assert_eq!(n_snapshots(), json!(11), "one is not worth it");
    assert_eq!(session.json(repo.path(), &["fsck"])["status"], json!("clean"));
}

#[test]
fn s5_what_git_can_tell_again_is_made_anew() {
    let session = Session::new();
    let repo = history(&session, 2);
    let before = context(&session, &repo);
    let database = session.json(repo.path(), &["stats"])["database"].as_str().unwrap().to_owned();
    let damage = [
        "UPDATE file_facts SET facts = x'0001' WHERE file_row = 2",
        "UPDATE terms SET vectors = x'0102'",
        "UPDATE commits SET message = 'lies' WHERE commit_row = 1",
        "UPDATE histories SET walked = x'01'",
    ];
    for sql in damage {
        rusqlite::Connection::open(&database).unwrap().execute(sql, []).unwrap();
        let reply = session.json(repo.path(), &["fsck"]);
        assert_eq!(reply["status"], json!("warnings"), "{sql}: {reply}");
        let reply = session.json(repo.path(), &["fsck", "--repair"]);
        assert!(reply["repaired"].as_u64().unwrap() > 0, "{sql}: {reply}");
        let reply = session.json(repo.path(), &["fsck"]);
        assert_eq!(reply["status"], json!("clean"), "{sql}: {reply}");
        images(&session).iter().for_each(|it| std::fs::remove_file(it).unwrap());
        assert_eq!(context(&session, &repo), before, "{sql}");
    }
}

#[test]
fn what_is_left_out_is_worth_knowing() {
    let session = Session::new();
    let repo = shop();
    repo.write_bytes("shop/data.py", b"a = 1\0\0\0");
    repo.commit("data");
    session.index(&repo);
    let reply = session.json(repo.path(), &["fsck"]);
    assert_eq!(reply["status"], json!("clean"));
    assert!(reply["infos"].to_string().contains("shop/data.py"), "{reply}");
}
