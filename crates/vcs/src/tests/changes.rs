use knowing_testkit::Fixture;

use super::{id, open};
use crate::{ChangeKind, Changes, FileChange, Moved, Wanted};

fn wanted(max_files: usize) -> Wanted<'static> {
    Wanted { path: &|it| it.ends_with(".py"), max_files, max_bytes: 1 << 16 }
}

#[track_caller]
fn files(repo: &Fixture) -> Vec<FileChange> {
    let head = repo.git(&["rev-parse", "HEAD"]);
    match open(repo).differ().changes_of(id(&head), wanted(10)).unwrap() {
        Changes::Files(files) => files,
        other => panic!("{other:?}"),
    }
}

fn brief(files: &[FileChange]) -> Vec<(ChangeKind, &str, Option<&str>, bool)> {
    files.iter().map(|it| (it.kind, it.path.as_str(), it.old_path.as_deref(), it.text.is_some())).collect()
}

fn numbered(n_lines: usize) -> String {
    (0..n_lines).map(|it| format!("line_{it} = {it}\n")).collect()
}

#[test]
fn files_are_told_by_what_happened_to_them() {
    let repo =
        Fixture::from_text("//- /a/b/c.py\nx\n//- /gone.py\nold\n//- /note.txt\nhello\n//- /same.py\n");
    repo.commit("first");
    repo.write("a/b/c.py", "x\ny\n");
    repo.write("note.txt", "other\n");
    repo.write("a/new.py", "quite another\n");
    repo.remove("gone.py");
    repo.commit("second");
    let files = files(&repo);
    let expect = [
        (ChangeKind::Modified, "a/b/c.py", None, true),
        (ChangeKind::Added, "a/new.py", None, true),
        (ChangeKind::Deleted, "gone.py", None, true),
        (ChangeKind::Modified, "note.txt", None, false),
    ];
    assert_eq!(brief(&files), expect);
    let text = files[0].text.as_ref().unwrap();
    assert_eq!((&text.old[..], &text.new[..]), (&b"x\n"[..], &b"x\ny\n"[..]));
    assert_eq!((text.hunks[0].old.clone(), text.hunks[0].new.clone()), (2..2, 2..4));
    assert_eq!(files[2].text.as_ref().unwrap().hunks[0].old, 0..4);
}

#[test]
fn a_first_commit_adds_everything() {
    let repo = Fixture::from_text("//- /a.py\nx\n//- /d/b.py\n");
    repo.commit("first");
    let files = files(&repo);
    assert_eq!(
        brief(&files),
        [(ChangeKind::Added, "a.py", None, true), (ChangeKind::Added, "d/b.py", None, true)]
    );
}

#[test]
fn a_moved_file_is_one_change_whether_it_was_edited_or_not() {
    let repo = Fixture::new();
    repo.write("old/a.py", &numbered(20));
    repo.write("old/b.py", &numbered(40));
    repo.write("old/c.txt", &numbered(50));
    repo.write("old/d.py", "nothing like the others\n");
    repo.commit("first");
    for name in ["a.py", "b.py", "c.txt", "d.py"] {
        repo.remove(&format!("old/{name}"));
    }
    repo.write("new/a.py", &numbered(20));
    repo.write("new/b.py", &numbered(40).replace("line_7 = 7", "line_7 = 8"));
    repo.write("new/c.txt", &numbered(50));
    repo.write("new/d.py", "has no line in common\n");
    repo.commit("second");
    let files = files(&repo);
    let expect = [
        (ChangeKind::Renamed, "new/a.py", Some("old/a.py"), false),
        (ChangeKind::Renamed, "new/b.py", Some("old/b.py"), true),
        (ChangeKind::Renamed, "new/c.txt", Some("old/c.txt"), false),
        (ChangeKind::Added, "new/d.py", None, true),
        (ChangeKind::Deleted, "old/d.py", None, true),
    ];
    assert_eq!(brief(&files), expect);
    let text = files[1].text.as_ref().unwrap();
    assert_eq!(&text.new[text.hunks[0].new.clone()], b"line_7 = 8\n");
}

#[test]
fn a_commit_of_too_many_files_is_not_looked_at_and_renames_count_once() {
    let repo = Fixture::new();
    (0..4).for_each(|it| repo.write(&format!("{it}.py"), &numbered(10 + 10 * it)));
    repo.commit("first");
    repo.git(&["mv", "0.py", "a.py"]);
    repo.git(&["mv", "1.py", "b.py"]);
    repo.write("2.py", "");
    let head = repo.commit("second");
    let changes = |max| open(&repo).differ().changes_of(id(&head), wanted(max)).unwrap();
    assert!(matches!(changes(3), Changes::Files(files) if files.len() == 3));
    let moved = |path: &str, old: &str| Moved { path: path.to_owned(), old_path: old.to_owned() };
    let moved = vec![moved("a.py", "0.py"), moved("b.py", "1.py")];
    assert_eq!(changes(2), Changes::TooMany { moved: moved.clone() });
    assert_eq!(changes(0), Changes::TooMany { moved });
}

#[test]
fn a_moved_directory_is_followed_whole_and_nothing_of_it_is_read() {
    let repo = Fixture::new();
    for n in 0..8 {
        repo.write(&format!("src/lib/part_{n}/__init__.py"), "");
        repo.write(&format!("src/lib/part_{n}/code.py"), &numbered(n));
        repo.write(&format!("src/lib/part_{n}/notes.txt"), &format!("{n}\n"));
    }
    repo.write("src/lib/edited.py", "before\n");
    repo.write("src/lib/gone.py", "nobody knows\n");
    repo.commit("first");
    repo.git(&["mv", "src/lib", "package"]);
    repo.write("package/edited.py", "after, and nothing in common\n");
    repo.remove("package/gone.py");
    repo.write("package/added.py", "new here\n");
    let head = repo.commit("second");
    let Changes::TooMany { moved } = open(&repo).differ().changes_of(id(&head), wanted(3)).unwrap() else {
        panic!("so many files are a sweep");
    };
    let mut expect = vec![("package/edited.py".to_owned(), "src/lib/edited.py".to_owned())];
    for n in 0..8 {
        for name in ["__init__.py", "code.py"] {
            expect.push((format!("package/part_{n}/{name}"), format!("src/lib/part_{n}/{name}")));
        }
    }
    let moved: Vec<(String, String)> = moved.into_iter().map(|it| (it.path, it.old_path)).collect();
    assert_eq!(moved, expect);
}

#[test]
fn binary_large_and_special_files_have_no_text() {
    let repo = Fixture::from_text("//- /big.py\n//- /binary.py\n//- /target.py\nx\n");
    repo.commit("first");
    repo.write("big.py", &"x".repeat(1 << 17));
    repo.write_bytes("binary.py", b"a\0b");
    repo.git(&["add", "-A"]);
    let target = repo.git(&["rev-parse", ":target.py"]);
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("120000,{target},link")]);
    repo.git(&["update-index", "--chmod=+x", "target.py"]);
    repo.commit_staged("second");
    let files = files(&repo);
    let expect = [
        (ChangeKind::Modified, "big.py", None, false),
        (ChangeKind::Modified, "binary.py", None, false),
        (ChangeKind::Added, "link", None, false),
        (ChangeKind::Modified, "target.py", None, false),
    ];
    assert_eq!(brief(&files), expect);
}

#[test]
fn a_merge_is_compared_with_its_first_parent() {
    let repo = Fixture::from_text("//- /a.py\n");
    repo.commit("first");
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("side.py", "x\n");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("main.py", "y\n");
    repo.commit("main");
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    assert_eq!(brief(&files(&repo)), [(ChangeKind::Added, "side.py", None, true)]);
}

#[test]
fn what_is_not_here_is_said_to_be_missing() {
    let source = Fixture::from_text("//- /a.py\nx\n");
    let first = source.commit("first");
    source.write("a.py", "y\n");
    let second = source.commit("second");
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    let shallow = Fixture::clone_of(&source, &["--depth", "1"]);
    let partial = Fixture::clone_of(&source, &["--filter=blob:none", "--no-checkout"]);
    for (repo, commit) in [(&shallow, &second), (&shallow, &first), (&partial, &second)] {
        let changes = open(repo).differ().changes_of(id(commit), wanted(10)).unwrap();
        assert_eq!(changes, Changes::Missing);
    }
}
