//! Repositories, names and links that are not what one expects.

use std::path::Path;
use std::process::Command;

use knowing_testkit::Fixture;
use serde_json::json;

use crate::bad_input::{answers, ask_everything};
use crate::session::{Session, shop};

#[cfg(unix)]
#[test]
fn links_are_never_followed() {
    use std::os::unix::fs::symlink;
    let session = Session::new();
    let outside = Fixture::directory();
    outside.write("secret.py", "def secret():\n    pass\n");
    for repo in [Fixture::new(), Fixture::directory()] {
        repo.write("own.py", "def own():\n    pass\n");
        symlink(outside.path().join("secret.py"), repo.path().join("file_out.py")).unwrap();
        symlink(outside.path(), repo.path().join("directory_out")).unwrap();
        symlink(".", repo.path().join("cycle")).unwrap();
        symlink("b.py", repo.path().join("a.py")).unwrap();
        symlink("a.py", repo.path().join("b.py")).unwrap();
        symlink("/dev/zero", repo.path().join("endless.py")).unwrap();
        if repo.path().join(".git").exists() {
            repo.commit("links");
        }
        let report = session.json(repo.path(), &["index", "."]);
        assert_eq!((&report["files"], &report["skipped"]["symlink"]), (&json!(1), &json!(6)), "{report}");
        session.error(repo.path(), &["query", "secret"], 1, "not_found");
        assert!(!session.text(repo.path(), &["export"]).contains("secret"));
        ask_everything(&session, &repo, "own");
    }
}

#[cfg(unix)]
#[test]
fn odd_file_names_are_read_and_printed_on_one_line() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let before = answers(&session, &repo);
    let long = "x".repeat(200);
    let names = [
        "with space.py",
        "quote'\"`$(touch hacked).py",
        "new\nline.py",
        "-rf.py",
        "--help.py",
        "tab\tand\u{1b}[31mred.py",
        "ünï☃.py",
        "a:3.py",
        "at@function.py",
        "%s%n{}.py",
        "..py",
        "per.cent.dots.py",
        &format!("{long}/{long}/{long}/{long}.py"),
    ];
    for (n, name) in names.iter().enumerate() {
        repo.write(&format!("odd/{name}"), &format!("def odd_{n}():\n    odd_{n}()\n"));
    }
    std::fs::write(repo.path().join(OsStr::from_bytes(b"odd/\xff\xfe.py")), "def nowhere(): pass\n").unwrap();
    repo.commit("odd names");
    let report = session.index(&repo);
    assert_eq!(report["files"], json!(4 + names.len()), "{report}");
    assert_eq!(report["skipped"], json!({ "path_encoding": 1 }));
    assert_eq!(answers(&session, &repo), before);
    for (n, name) in names.iter().enumerate() {
        let answer = session.json(repo.path(), &["callers", &format!("odd_{n}")]);
        assert_eq!(answer["symbol"]["file"], json!(format!("odd/{name}")));
        let whole = format!("{}@function", answer["symbol"]["qualified_name"].as_str().unwrap());
        let again = session.json(repo.path(), &["callers", &whole]);
        assert_eq!(again["symbol"], answer["symbol"], "{whole}");
        let text = session.text(repo.path(), &["query", &format!("odd_{n}")]);
        assert_eq!(text.lines().count(), 1, "{text:?}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    let dot = session.text(repo.path(), &["export", "--format", "dot"]);
    assert!(!dot.contains("\n\"line") && !dot.contains('\u{1b}'), "{dot}");
    ask_everything(&session, &repo, "odd_0");
}

#[test]
fn places_that_are_no_repository() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let before = answers(&session, &repo);
    let pointing = Fixture::directory();
    pointing.write(".git", "gitdir: /no/such/place\n");
    pointing.write("a.py", "def f(): pass\n");
    let error = session.error(pointing.path(), &["index"], 2, "bad_input");
    assert!(error["message"].as_str().unwrap().contains(".git"), "{error}");
    let hollow = Fixture::directory();
    hollow.write(".git/HEAD", "nonsense\n");
    hollow.write("a.py", "def f(): pass\n");
    assert_eq!(session.run(hollow.path(), &["index"]).code, 2);
    let headless = shop();
    headless.write(".git/HEAD", "nonsense\n");
    assert_eq!(session.run(headless.path(), &["index"]).code, 2);
    let emptied = shop();
    std::fs::remove_dir_all(emptied.path().join(".git/objects")).unwrap();
    std::fs::create_dir(emptied.path().join(".git/objects")).unwrap();
    session.error(emptied.path(), &["index"], 2, "bad_input");
    assert_eq!(answers(&session, &repo), before);
}

#[test]
fn a_commit_is_named_in_any_way_git_knows() {
    let (session, repo) = (Session::new(), shop());
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["tag", "plain"]);
    repo.git(&["tag", "-a", "-m", "annotated", "v1.0"]);
    repo.git(&["branch", "side"]);
    repo.remove("shop/desk.py");
    repo.commit("second");
    for name in ["plain", "v1.0", "refs/tags/v1.0", "side", "HEAD~1", "main^", &first[..7], &first] {
        let report = session.json(repo.path(), &["index", "--commit", name]);
        assert_eq!(report["commit"], json!(first), "{name}");
    }
    let before = session.text(repo.path(), &["export"]);
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    for name in [
        "",
        "nonsense",
        "HEAD~99",
        "HEAD:shop/cart.py",
        &tree,
        "--output=stolen",
        "@{-1}",
        "\u{1}",
        ":/zzz",
        "a..b",
    ] {
        let error = session.error(repo.path(), &["index", &format!("--commit={name}")], 1, "not_found");
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    }
    assert_eq!(session.text(repo.path(), &["export"]), before);
}

#[test]
fn a_detached_head_is_indexed_as_any_commit() {
    let (session, repo) = (Session::new(), shop());
    repo.commit("second");
    repo.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    let report = session.index(&repo);
    assert_eq!(report["commit"], json!(repo.git(&["rev-parse", "main~1"])));
    assert_eq!(session.json(repo.path(), &["callers", "make"])["fresh"], json!("yes"));
}

#[test]
fn a_submodule_is_counted_and_not_entered() {
    let (session, repo, inner) = (Session::new(), shop(), shop());
    inner.write("inner.py", "def inner_only():\n    pass\n");
    inner.commit("inner");
    repo.git(&["submodule", "--quiet", "add", inner.path().to_str().unwrap(), "third"]);
    repo.commit("submodule");
    let report = session.index(&repo);
    assert_eq!((&report["files"], &report["skipped"]["submodule"]), (&json!(4), &json!(1)), "{report}");
    session.error(repo.path(), &["query", "inner_only"], 1, "not_found");
    // From inside it is a repository of its own.
    session.json(&repo.path().join("third"), &["index"]);
    session.json(&repo.path().join("third"), &["query", "inner_only"]);
}

#[test]
fn a_shallow_clone_has_the_answers_and_a_note() {
    let (session, repo) = (Session::new(), shop());
    repo.commit("second");
    let clone = Fixture::clone_of(&repo, &["--depth", "1"]);
    clone.git(&["remote", "remove", "origin"]);
    let report = session.index(&clone);
    assert_eq!(report["files"], json!(4));
    assert!(report["notes"][0].as_str().unwrap().contains("--url"), "{report}");
    assert_eq!(session.json(clone.path(), &["callers", "Cart.total"])["total"], json!(3));
}

#[test]
fn a_partial_clone_reports_what_is_not_here() {
    let (session, repo) = (Session::new(), shop());
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = Fixture::clone_of(&repo, &["--filter=blob:none", "--no-checkout"]);
    let report = session.index(&clone);
    assert_eq!((&report["files"], &report["skipped"]["missing_object"]), (&json!(0), &json!(4)), "{report}");
    ask_everything(&session, &clone, "make");
    // Once git has fetched them, they are read.
    clone.git(&["checkout", "-q", "main"]);
    let report = session.index(&clone);
    assert_eq!((&report["files"], &report["skipped"]), (&json!(4), &json!({})), "{report}");
    assert_eq!(session.json(clone.path(), &["callers", "Cart.total"])["total"], json!(3));
}

#[test]
fn a_sha256_repository_answers_as_any_other() {
    let session = Session::new();
    let repo = Fixture::directory();
    repo.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    repo.write("a.py", "def f():\n    g()\n\ndef g():\n    pass\n");
    repo.commit("first");
    let report = session.index(&repo);
    assert_eq!(report["commit"].as_str().unwrap().len(), 64);
    assert_eq!(session.json(repo.path(), &["callers", "g"])["total"], json!(1));
    assert_eq!(session.index(&repo)["new_snapshot"], json!(false));
}

/// Everything in a repository's configuration that makes git run a program, each leaving a mark.
#[cfg(unix)]
#[test]
fn no_program_of_a_repository_is_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let (session, repo) = (Session::new(), shop());
    let mark = session.file("mark");
    let program = session.file("program.sh");
    std::fs::write(&program, format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\ncat\n", mark.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "credential.helper",
        "diff.external",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "remote.origin.uploadpack",
    ] {
        repo.git(&["config", key, program]);
    }
    for name in ["index", "stats", "log", "rev-parse", "cat-file", "knowing"] {
        repo.git(&["config", &format!("alias.{name}"), &format!("!{program}")]);
    }
    repo.git(&["config", "remote.origin.url", &format!("ext::{program} %S")]);
    for hook in
        ["post-checkout", "post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman"]
    {
        std::fs::create_dir_all(repo.path().join(".git/hooks")).unwrap();
        std::fs::copy(program, repo.path().join(".git/hooks").join(hook)).unwrap();
    }
    repo.write(".git/info/attributes", "*.py filter=evil diff=evil\n");
    repo.write("shop/cart.py", "def changed():\n    pass\n");
    for arguments in [
        &["index"][..],
        &["index", "--commit", "HEAD", "--force"],
        &["stats"],
        &["query", "*"],
        &["callers", "make"],
        &["export"],
    ] {
        let ran = session.run(repo.path(), arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
    }
    assert!(!mark.exists(), "{}", std::fs::read_to_string(&mark).unwrap_or_default());
    session.error(repo.path(), &["query", "changed"], 1, "not_found");
}

#[test]
fn own_ignore_files_count_at_every_level() {
    let (session, repo) = (Session::new(), shop());
    repo.write(".knowingignore", "# comment\n*_gen.py\n!keep_gen.py\n/only_top.py\n[\n");
    repo.write("sub/.knowingignore", "local.py\n");
    for path in ["a_gen.py", "keep_gen.py", "only_top.py", "sub/only_top.py", "sub/local.py", "local.py"] {
        repo.write(path, "def f(): pass\n");
    }
    repo.commit("ignored");
    let report = session.index(&repo);
    assert_eq!((&report["files"], &report["skipped"]["ignored"]), (&json!(4 + 3), &json!(3)), "{report}");
}

/// A small disk of its own for a test; none where one may not be made.
struct Disk(std::path::PathBuf);

impl Disk {
    fn new(path: std::path::PathBuf, size: &str) -> Option<Disk> {
        std::fs::create_dir_all(&path).unwrap();
        let options = format!("size={size},mode=0700");
        let mounted =
            cfg!(target_os = "linux") && mount(&["-t", "tmpfs", "-o", &options, "knowing-test"], &path);
        mounted.then_some(Disk(path))
    }

    fn make(&self, arguments: &[&str]) {
        assert!(mount(arguments, &self.0));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

fn mount(arguments: &[&str], path: &Path) -> bool {
    Command::new("mount").args(arguments).arg(path).output().is_ok_and(|it| it.status.success())
}

#[test]
fn z1_a_full_disk_leaves_the_old_answers() {
    let (session, repo) = (Session::new(), shop());
    let Some(disk) = Disk::new(session.data(), "1m") else {
        eprintln!("SKIPPED: z1_a_full_disk_leaves_the_old_answers: this user may not mount a small disk");
        return;
    };
    session.index(&repo);
    let before = answers(&session, &repo);
    let functions: String = (0..4_000).map(|n| format!("def f{n}():\n    return f{}()\n\n", n / 2)).collect();
    for n in 0..4 {
        repo.write(&format!("many/m{n}.py"), &functions);
    }
    repo.commit("more than fits");
    for _ in 0..2 {
        let error = session.error(repo.path(), &["index"], 2, "io");
        assert!(error["message"].as_str().unwrap().contains("full"), "{error}");
        assert_eq!(answers(&session, &repo), before);
    }
    // Nor can a question index what is new: it is answered from before and says so.
    let stats = session.json(repo.path(), &["stats"]);
    assert_eq!(stats["fresh"], "behind(1)", "{stats}");
    assert!(stats["stale"].as_str().unwrap().contains("full"), "{stats}");
    // Not a byte is left, not even for the file that readers keep beside a database with a log.
    let _ = std::fs::write(disk.0.join("rest"), vec![0_u8; 1 << 20]);
    session.error(repo.path(), &["index"], 2, "io");
    let ran = session.run(repo.path(), &["callers", "make"]);
    assert!(ran.code == 0 || ran.stderr.contains("hint:"), "{}", ran.stderr);
    let other = shop();
    other.write("other.py", "x = 1\n");
    other.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "another first commit"]);
    session.error(other.path(), &["index"], 2, "io");
    std::fs::remove_file(disk.0.join("rest")).unwrap();
    assert_eq!(answers(&session, &repo), before);
    disk.make(&["-o", "remount,size=64m"]);
    session.index(&repo);
    assert_eq!(answers(&session, &repo), before);
}

#[test]
fn z1_a_read_only_disk_says_why_nothing_is_written() {
    let (session, repo) = (Session::new(), shop());
    let Some(disk) = Disk::new(session.data(), "16m") else {
        eprintln!(
            "SKIPPED: z1_a_read_only_disk_says_why_nothing_is_written: this user may not mount a small disk"
        );
        return;
    };
    session.index(&repo);
    let before = answers(&session, &repo);
    disk.make(&["-o", "remount,ro"]);
    repo.commit("second");
    for arguments in [&["index"][..], &["index", "--force"]] {
        let error = session.error(repo.path(), arguments, 2, "io");
        assert!(error["hint"].as_str().unwrap().contains("may be written"), "{error}");
    }
    // Readers of a database with a log keep a file beside it; where that cannot be made they say so.
    let ran = session.run(repo.path(), &["callers", "make"]);
    assert!(ran.code == 0 || ran.stderr.contains("may be written"), "{}", ran.stderr);
    disk.make(&["-o", "remount,rw"]);
    assert_eq!(answers(&session, &repo), before);
    session.index(&repo);
}
