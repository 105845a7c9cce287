use std::path::Path;

use knowing_testkit::Fixture;

use super::{id, open};
use crate::{ChangedEntry, EntryKind, Tree};

/// The list of `to` from that of `from` and what differs.
#[track_caller]
fn check(repo: &Fixture, from: &str, to: &str) -> Vec<String> {
    let checkout = open(repo);
    let [before, expected]: [Tree; 2] = [from, to].map(|it| checkout.tree(id(it)).unwrap());
    let changed = checkout.changed_entries(id(from), id(to)).unwrap().unwrap();
    let mut entries = before.entries;
    for ChangedEntry { path, before, after } in &changed {
        let at = entries.binary_search_by(|it| it.path.cmp(path));
        assert_eq!(at.ok().map(|it| entries[it].kind), *before, "{path}");
        if let Ok(at) = at {
            entries.remove(at);
        }
        if let Some((kind, blob)) = *after {
            let at = entries.partition_point(|it| it.path < *path);
            entries.insert(at, crate::TreeEntry { path: path.clone(), blob, kind });
        }
    }
    assert_eq!(entries, expected.entries);
    assert!(changed.is_sorted_by(|one, other| one.path < other.path));
    changed.into_iter().map(|it| it.path).collect()
}

#[test]
fn one_list_and_what_differs_give_the_other_list() {
    let repo = Fixture::from_text("//- /a.py\none\n//- /deep/er/b.py\ntwo\n//- /same.py\nthree\n");
    let mut commits = vec![repo.commit("first")];
    let mut step = |about: &str, expected: &[&str]| {
        let next = repo.commit(about);
        let last = commits[commits.len() - 1].clone();
        assert_eq!(check(&repo, &last, &next), expected, "{about}");
        // From any to any, and back.
        for other in &commits {
            check(&repo, other, &next);
            check(&repo, &next, other);
        }
        commits.push(next);
    };
    repo.write("deep/er/b.py", "other\n");
    repo.write("a.py", "other\n");
    step("contents", &["a.py", "deep/er/b.py"]);
    repo.write("deep/new.py", "new\n");
    step("one came", &["deep/new.py"]);
    repo.remove("same.py");
    step("one went", &["same.py"]);
    repo.remove("a.py");
    repo.write("a.py/inside.py", "now a directory\n");
    step("a directory for a file", &["a.py", "a.py/inside.py"]);
    repo.git(&["rm", "-rq", "a.py"]);
    repo.write("a.py", "a file again\n");
    repo.write("a.pyx", "beside it\n");
    step("a file for a directory", &["a.py", "a.py/inside.py", "a.pyx"]);
    repo.write("deep/er/est/c.py", "three deep\n");
    repo.write("deep/er/est/of/d.py", "four deep\n");
    step("directories", &["deep/er/est/c.py", "deep/er/est/of/d.py"]);
    repo.git(&["rm", "-rq", "deep"]);
    step("all of them", &["deep/er/b.py", "deep/er/est/c.py", "deep/er/est/of/d.py", "deep/new.py"]);
    let path = Path::new(repo.path()).join("a.py");
    #[cfg(unix)]
    {
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("b.py", &path).unwrap();
        step("a link", &["a.py"]);
    }
    repo.git(&["update-index", "--chmod=+x", "a.pyx"]);
    repo.git(&["commit", "-qm", "a mode"]);
    let (last, next) = (repo.git(&["rev-parse", "HEAD~1"]), repo.git(&["rev-parse", "HEAD"]));
    assert_eq!(check(&repo, &last, &next), ["a.pyx"]);
    let changed = open(&repo).changed_entries(id(&last), id(&next)).unwrap().unwrap();
    assert_eq!(changed[0].before, Some(EntryKind::File));
    assert_eq!(changed[0].after.map(|it| it.0), Some(EntryKind::Executable));
    assert_eq!(check(&repo, &next, &next), [""; 0]);
}

#[test]
fn a_commit_that_is_not_here_tells_nothing() {
    let repo = Fixture::from_text("//- /a.py\none\n");
    repo.commit("first");
    let head = repo.git(&["rev-parse", "HEAD"]);
    let other = id("1234567890123456789012345678901234567890");
    assert_eq!(open(&repo).changed_entries(other, id(&head)).unwrap(), None);
}

#[test]
#[cfg(unix)]
fn a_name_that_is_not_utf_8_is_left_to_a_listing() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let repo = Fixture::from_text("//- /a.py\none\n");
    let first = repo.commit("first");
    std::fs::write(Path::new(repo.path()).join(OsStr::from_bytes(b"\xff.py")), "odd\n").unwrap();
    let second = repo.commit("odd");
    assert_eq!(open(&repo).changed_entries(id(&first), id(&second)).unwrap(), None);
}
