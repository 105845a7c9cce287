use std::path::Path;

use knowing_testkit::Fixture;

use super::{id, open};

/// What the last commit of a repository did to its files.
fn modified(repo: &Fixture) -> Option<Vec<String>> {
    let (from, to) = (repo.git(&["rev-parse", "HEAD~1"]), repo.git(&["rev-parse", "HEAD"]));
    let files = open(repo).modified_files(id(&from), id(&to)).unwrap()?;
    for file in &files {
        let blob = repo.git(&["rev-parse", &format!("HEAD:{}", file.path)]);
        assert_eq!(file.blob.to_string(), blob.trim());
    }
    Some(files.into_iter().map(|it| it.path).collect())
}

#[test]
fn files_with_another_content_are_told_and_whatever_else_differs_is_left_to_a_listing() {
    let repo = Fixture::from_text("//- /a.py\none\n//- /deep/er/b.py\ntwo\n//- /same.py\nthree\n");
    repo.commit("first");
    repo.write("deep/er/b.py", "other\n");
    repo.write("a.py", "other\n");
    repo.commit("contents");
    assert_eq!(modified(&repo).unwrap(), ["a.py", "deep/er/b.py"]);

    repo.git(&["commit", "--allow-empty", "-m", "nothing"]);
    assert_eq!(modified(&repo).unwrap(), [""; 0]);

    repo.write("deep/new.py", "new\n");
    repo.commit("one came");
    assert_eq!(modified(&repo), None);

    repo.remove("same.py");
    repo.commit("one went");
    assert_eq!(modified(&repo), None);

    repo.remove("a.py");
    repo.write("a.py/inside.py", "now a directory\n");
    repo.commit("a directory for a file");
    assert_eq!(modified(&repo), None);
}

#[test]
#[cfg(unix)]
fn a_file_that_became_a_link_is_left_to_a_listing() {
    let repo = Fixture::from_text("//- /a.py\none\n//- /b.py\ntwo\n");
    repo.commit("first");
    let path = Path::new(repo.path()).join("a.py");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("b.py", &path).unwrap();
    repo.commit("a link");
    assert_eq!(modified(&repo), None);
}

#[test]
fn a_commit_that_is_not_here_tells_nothing() {
    let repo = Fixture::from_text("//- /a.py\none\n");
    repo.commit("first");
    let head = repo.git(&["rev-parse", "HEAD"]);
    let other = id("1234567890123456789012345678901234567890");
    assert_eq!(open(&repo).modified_files(other, id(&head)).unwrap(), None);
}
