use std::fs;

use knowing_testkit::Fixture;

use super::open;
use crate::{Content, Directory, EntryKind, WorkFile, WorkFiles};

fn names(files: &WorkFiles) -> Vec<&str> {
    files.files.iter().map(|it| it.path.as_str()).collect()
}

#[track_caller]
fn file<'a>(files: &'a WorkFiles, path: &str) -> &'a WorkFile {
    files.files.iter().find(|it| it.path == path).unwrap_or_else(|| panic!("{path} is not listed"))
}

/// Makes git's index newer than the files, so that it can be sure of them.
fn age(repo: &Fixture) {
    for path in repo.git(&["ls-files"]).lines() {
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
        fs::File::options().write(true).open(repo.path().join(path)).unwrap().set_modified(old).unwrap();
    }
    repo.git(&["update-index", "-q", "--refresh"]);
}

#[test]
fn x4_nested_gitignore_and_info_exclude_and_excludes_file_exclude_untracked_files() {
    let repo =
        Fixture::from_text("//- /.gitignore\n*.log\n/build/\n//- /sub/.gitignore\n!keep.log\nprivate/\n");
    for path in
        ["a.py", "a.log", "build/x.py", "sub/keep.log", "sub/drop.log", "sub/private/y.py", "sub/build/z.py"]
    {
        repo.write(path, "");
    }
    repo.write(".git/info/exclude", "by_info_exclude.py\n");
    repo.write("by_info_exclude.py", "");
    fs::write(repo.beside("excludes"), "by_excludes_file.py\n").unwrap();
    repo.git(&["config", "core.excludesFile", repo.beside("excludes").to_str().unwrap()]);
    repo.write("by_excludes_file.py", "");
    let expect = [".gitignore", "a.py", "sub/.gitignore", "sub/build/z.py", "sub/keep.log"];
    assert_eq!(names(&open(&repo).work_files().unwrap()), expect);
    assert_eq!(expect.join("\n"), repo.git(&["ls-files", "-co", "--exclude-standard"]));
}

#[test]
fn a_tracked_file_is_listed_even_where_it_would_be_ignored() {
    let repo = Fixture::from_text("//- /build/tracked.py\n");
    repo.commit("first");
    repo.write(".gitignore", "build/\n");
    repo.write("build/untracked.py", "");
    assert_eq!(names(&open(&repo).work_files().unwrap()), [".gitignore", "build/tracked.py"]);
}

#[test]
fn i4_new_changed_and_deleted_files_are_seen_and_unchanged_ones_are_known_without_reading() {
    let repo = Fixture::from_text("//- /same.py\n1\n//- /changed.py\n1\n//- /gone.py\n//- /dir/gone.py\n");
    repo.commit("first");
    age(&repo);
    repo.write("changed.py", "22\n");
    repo.write("new/file.py", "");
    repo.remove("gone.py");
    fs::remove_dir_all(repo.path().join("dir")).unwrap();
    let checkout = open(&repo);
    let files = checkout.work_files().unwrap();
    assert_eq!(names(&files), ["changed.py", "new/file.py", "same.py"]);
    assert_eq!(file(&files, "same.py").content, Content::Known(checkout.hash_blob(b"1\n").unwrap()));
    assert_eq!(file(&files, "changed.py").content, Content::OnDisk { size: 3 });
    assert_eq!(file(&files, "new/file.py").content, Content::OnDisk { size: 0 });
    let mut reader = checkout.work_reader().unwrap().unwrap();
    assert_eq!(reader.read("changed.py").unwrap().unwrap(), b"22\n");
    assert_eq!(reader.read("new/file.py").unwrap().unwrap(), b"");
    assert_eq!(reader.read("gone.py").unwrap(), None);
}

#[test]
fn a_file_as_young_as_the_index_is_not_trusted() {
    let repo = Fixture::from_text("//- /a.py\n1\n");
    repo.commit("first");
    age(&repo);
    let index = repo.path().join(".git/index");
    let same = fs::metadata(repo.path().join("a.py")).unwrap().modified().unwrap();
    fs::File::options().write(true).open(index).unwrap().set_modified(same).unwrap();
    let files = open(&repo).work_files().unwrap();
    assert_eq!(file(&files, "a.py").content, Content::OnDisk { size: 2 });
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_listed_but_never_followed() {
    use std::os::unix::fs::symlink;
    let repo = Fixture::from_text("//- /dir/tracked.py\n//- /a.py\n");
    repo.commit("first");
    let outside = repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("tracked.py"), "secret").unwrap();
    fs::remove_dir_all(repo.path().join("dir")).unwrap();
    symlink(&outside, repo.path().join("dir")).unwrap();
    symlink(outside.join("tracked.py"), repo.path().join("link.py")).unwrap();
    fs::remove_file(repo.path().join("a.py")).unwrap();
    symlink("link.py", repo.path().join("a.py")).unwrap();

    let checkout = open(&repo);
    let files = checkout.work_files().unwrap();
    assert_eq!(names(&files), ["a.py", "dir", "link.py"]);
    assert!(files.files.iter().all(|it| it.kind == EntryKind::Symlink), "{files:?}");
    let mut reader = checkout.work_reader().unwrap().unwrap();
    for path in ["dir/tracked.py", "link.py", "a.py", "../outside/tracked.py", "/etc/hostname", "."] {
        assert_eq!(reader.read(path).unwrap(), None, "{path}");
    }

    let place = Fixture::directory();
    symlink(&outside, place.path().join("dir")).unwrap();
    symlink(outside.join("tracked.py"), place.path().join("link.py")).unwrap();
    let directory = Directory::open(place.path()).unwrap();
    assert_eq!(names(&directory.files()), ["dir", "link.py"]);
    assert_eq!(directory.read("dir/tracked.py").unwrap(), None);
    assert_eq!(directory.read("link.py").unwrap(), None);
}

#[test]
fn x7_automatic_line_endings_are_undone_as_the_commit_has_them() {
    let repo = Fixture::from_text("//- /plain.py\na\n");
    repo.write("carriage.py", "a\r\n");
    repo.commit("first");
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write("plain.py", "a\r\nb\r\n");
    repo.write("carriage.py", "a\r\nb\r\n");
    repo.write("latin.py", "a\r\n");
    repo.write(".gitattributes", "latin.py working-tree-encoding=UTF-16\n");
    let mut reader = open(&repo).work_reader().unwrap().unwrap();
    assert_eq!(reader.read("plain.py").unwrap().unwrap(), b"a\nb\n");
    // The commit has them itself, so git leaves them.
    assert_eq!(reader.read("carriage.py").unwrap().unwrap(), b"a\r\nb\r\n");
    // Not what it says it is: still read.
    assert!(reader.read("latin.py").unwrap().is_some());
}

#[test]
fn another_repository_inside_is_not_part_of_this_one() {
    let repo = Fixture::from_text("//- /a.py\n//- /inner/b.py\n");
    repo.git_in(&repo.path().join("inner"), &["init", "-q"]);
    assert_eq!(names(&open(&repo).work_files().unwrap()), ["a.py"]);
}

#[test]
fn files_outside_a_sparse_checkout_count_as_unchanged() {
    let repo = Fixture::from_text("//- /a/x.py\n1\n//- /b/y.py\n2\n//- /b/c/z.py\n3\n//- /top.py\n");
    repo.commit("first");
    for arguments in [
        ["sparse-checkout", "set", "--no-sparse-index", "a"],
        ["sparse-checkout", "set", "--sparse-index", "a"],
    ] {
        repo.git(&arguments);
        assert!(!repo.path().join("b").exists());
        let checkout = open(&repo);
        let files = checkout.work_files().unwrap();
        assert_eq!(names(&files), ["a/x.py", "b/c/z.py", "b/y.py", "top.py"]);
        assert_eq!(file(&files, "b/y.py").content, Content::Known(checkout.hash_blob(b"2\n").unwrap()));
    }
}

#[test]
fn a_file_in_conflict_is_listed_once() {
    let repo = Fixture::from_text("//- /a.py\nbase\n");
    repo.commit("base");
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("a.py", "side\n");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.py", "main\n");
    repo.commit("main");
    repo.git(&["merge-tree", "HEAD", "HEAD", "side"]);
    repo.git(&["read-tree", "-m", "HEAD~1", "HEAD", "side"]);
    let files = open(&repo).work_files().unwrap();
    assert_eq!(names(&files), ["a.py"]);
    assert_eq!(file(&files, "a.py").content, Content::OnDisk { size: 5 });
}

#[test]
fn a_directory_without_git_obeys_gitignore_and_hides_nothing_else() {
    let place = Fixture::directory();
    place.write_text("//- /.gitignore\n*.log\n//- /a.log\n//- /.hidden/a.py\n//- /sub/.gitignore\n/b.py\n//- /sub/b.py\n//- /sub/c/b.py\n");
    place.write(".ignore", "c/\n");
    let directory = Directory::open(place.path()).unwrap();
    let expect = [".gitignore", ".hidden/a.py", ".ignore", "sub/.gitignore", "sub/c/b.py"];
    assert_eq!(names(&directory.files()), expect);
    assert_eq!(directory.read(".ignore").unwrap().unwrap(), b"c/\n");
    assert!(Directory::open(&place.path().join(".ignore")).is_err());
}
