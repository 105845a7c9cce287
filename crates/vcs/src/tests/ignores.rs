use knowing_testkit::Fixture;

use super::{id, open};
use crate::{Directory, Ignore, WorkFiles};

const FILES: &str = "\
//- /.knowingignore
# generated
gen/
*.tmp
!keep.tmp
/top.py
[broken
//- /gen/a.py
//- /gen/keep.tmp
//- /a.tmp
//- /keep.tmp
//- /top.py
//- /sub/top.py
//- /sub/.knowingignore
!wanted.tmp
local.py
//- /sub/wanted.tmp
//- /sub/other.tmp
//- /sub/deep/local.py
//- /local.py
";

const KEPT: [&str; 6] =
    [".knowingignore", "keep.tmp", "local.py", "sub/.knowingignore", "sub/top.py", "sub/wanted.tmp"];

fn names(files: &WorkFiles) -> Vec<&str> {
    files.files.iter().map(|it| it.path.as_str()).collect()
}

#[test]
fn a_commit_brings_its_own_nested_ignore_files() {
    let repo = Fixture::from_text(FILES);
    let commit = repo.commit("first");
    // The commit counts, not what lies in the working tree now.
    repo.write(".knowingignore", "*\n");
    let checkout = open(&repo);
    let mut tree = checkout.tree(id(&commit)).unwrap();
    let ignore = Ignore::from_tree(&checkout.reader(), &tree).unwrap();
    assert!(ignore.is_ignored("gen/keep.tmp"));
    assert!(ignore.is_ignored("sub/deep/local.py"));
    assert!(!ignore.is_ignored("keep.tmp"));
    ignore.retain(&mut tree.entries, |entry| &entry.path);
    assert_eq!(tree.entries.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), KEPT);
}

#[test]
fn the_working_tree_and_a_directory_without_git_obey_them_too() {
    let repo = Fixture::from_text(FILES);
    assert_eq!(names(&open(&repo).work_files().unwrap()), KEPT);
    repo.commit("first");
    assert_eq!(names(&open(&repo).work_files().unwrap()), KEPT);
    let place = Fixture::directory();
    place.write_text(FILES);
    assert_eq!(names(&Directory::open(place.path()).unwrap().files()), KEPT);
}

#[test]
fn without_ignore_files_nothing_is_ignored() {
    assert!(!Ignore::default().is_ignored("a/b/c.py"));
}
