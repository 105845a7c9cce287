use std::fs;

use gix::{discover::upwards::TrustPolicy, sec::Trust};
use knowing_testkit::Fixture;

use super::{id, open, paths};
use crate::{Checkout, Error, Head, ObjectFormat};

#[test]
fn a_directory_and_a_file_inside_the_work_tree_lead_to_its_top() {
    let repo = Fixture::from_text("//- /a/b/c.py\nx = 1\n");
    let commit = repo.commit("first");
    for inside in ["", "a/b", "a/b/c.py", ".git"] {
        let checkout = Checkout::open(&repo.path().join(inside)).unwrap();
        assert_eq!(checkout.work_dir(), Some(repo.path()), "{inside}");
        assert_eq!(checkout.git_dir(), repo.path().join(".git"), "{inside}");
        assert_eq!(checkout.head().unwrap(), Head { commit: Some(id(&commit)), branch: Some("main".into()) });
    }
}

#[test]
fn a_path_without_repository_and_a_missing_path_are_told_apart() {
    let place = Fixture::directory();
    let error = Checkout::open(place.path()).err().unwrap();
    assert!(matches!(&error, Error::NotARepository { path } if path == place.path()), "{error}");
    let error = Checkout::open(&place.beside("nothing")).err().unwrap();
    assert!(matches!(error, Error::NoSuchPath { .. }), "{error}");
}

#[test]
fn a_git_file_that_names_nothing_is_an_error_even_inside_a_repository() {
    let repo = Fixture::from_text("//- /inner/a.py\n");
    repo.commit("first");
    for named in ["/no/such/place", "../gone", ""] {
        repo.write("inner/.git", &format!("gitdir: {named}\n"));
        let is_gone = !repo.path().join("inner").join(named).is_dir();
        let opened = Checkout::open(&repo.path().join("inner/a.py"));
        assert_eq!(matches!(opened, Err(Error::Dangling { .. })), is_gone, "{named}");
    }
}

#[test]
fn a_bare_repository_is_addressed_by_its_directory_whatever_its_name() {
    let repo = Fixture::from_text("//- /a.py\n");
    let commit = repo.commit("first");
    for name in ["bare.git", "bare"] {
        let target = repo.beside(name);
        repo.git(&["clone", "-q", "--bare", repo.path().to_str().unwrap(), target.to_str().unwrap()]);
        // What a mirror may lack: its configuration, and loose refs.
        repo.git_in(&target, &["pack-refs", "--all"]);
        fs::remove_file(target.join("config")).unwrap();
        let bare = Checkout::open(&target).unwrap();
        assert_eq!(bare.work_dir(), None);
        assert_eq!(bare.git_dir(), target);
        assert_eq!(bare.head().unwrap().commit, Some(id(&commit)));
        assert_eq!(paths(&bare.tree(id(&commit)).unwrap()), ["a.py"]);
        assert_eq!(bare.work_files().unwrap().files, []);
        assert!(bare.work_reader().unwrap().is_none());
    }
}

#[test]
fn a_linked_worktree_has_its_own_head_and_shares_the_rest() {
    let repo = Fixture::from_text("//- /a.py\n");
    let first = repo.commit("first");
    let linked = repo.beside("linked");
    repo.git(&["worktree", "add", "-q", "-b", "topic", linked.to_str().unwrap()]);
    repo.write("b.py", "");
    let second = repo.commit("second");

    let checkout = Checkout::open(&linked).unwrap();
    assert_eq!(checkout.work_dir(), Some(linked.as_path()));
    assert_eq!(checkout.git_dir(), repo.path().join(".git/worktrees/linked"));
    assert_eq!(checkout.common_dir(), repo.path().join(".git"));
    assert_eq!(checkout.head().unwrap(), Head { commit: Some(id(&first)), branch: Some("topic".into()) });
    assert_eq!(checkout.resolve("main").unwrap(), id(&second));
    assert_eq!(open(&repo).head().unwrap().commit, Some(id(&second)));
    assert_eq!(checkout.identity(None).unwrap(), open(&repo).identity(None).unwrap());
}

#[test]
fn i2_a_worktree_nested_in_another_is_its_own_place() {
    let repo = Fixture::from_text("//- /a.py\n");
    let first = repo.commit("first");
    repo.git(&["worktree", "add", "-q", "-b", "topic", "nested/inner"]);
    repo.write("b.py", "");
    repo.git(&["add", "b.py"]);
    repo.commit_staged("second");

    let inner = Checkout::open(&repo.path().join("nested/inner")).unwrap();
    assert_eq!(inner.work_dir(), Some(repo.path().join("nested/inner").as_path()));
    assert_eq!(inner.head().unwrap(), Head { commit: Some(id(&first)), branch: Some("topic".into()) });
    assert_eq!(open(&repo).head().unwrap().branch.as_deref(), Some("main"));
    let files = open(&repo).work_files().unwrap().files;
    assert_eq!(files.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["a.py", "b.py"]);
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let library = Fixture::from_text("//- /lib.py\n");
    let commit = library.commit("library");
    let repo = Fixture::from_text("//- /a.py\n");
    repo.git(&["submodule", "--quiet", "add", library.path().to_str().unwrap(), "vendor/library"]);
    repo.commit("with a submodule");
    let inside = Checkout::open(&repo.path().join("vendor/library")).unwrap();
    assert_eq!(inside.work_dir(), Some(repo.path().join("vendor/library").as_path()));
    assert_eq!(inside.head().unwrap().commit, Some(id(&commit)));
}

#[test]
fn head_before_the_first_commit_is_none() {
    let repo = Fixture::new();
    let checkout = open(&repo);
    assert_eq!(checkout.head().unwrap(), Head { commit: None, branch: Some("main".into()) });
    assert!(matches!(checkout.resolve("HEAD"), Err(Error::Revision { .. })));
}

#[test]
fn a_detached_head_has_no_branch() {
    let repo = Fixture::new();
    let first = repo.commit("first");
    repo.commit("second");
    repo.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    assert_eq!(open(&repo).head().unwrap(), Head { commit: Some(id(&first)), branch: None });
}

#[test]
fn revisions_resolve_to_commits_through_tags_and_packed_refs() {
    let repo = Fixture::from_text("//- /a.py\n");
    let first = repo.commit("first");
    repo.git(&["tag", "-a", "v1", "-m", "one"]);
    repo.git(&["tag", "light"]);
    repo.git(&["branch", "feature/x"]);
    let second = repo.commit("second");
    repo.git(&["pack-refs", "--all", "--prune"]);
    repo.git(&["gc", "-q"]);
    let checkout = open(&repo);
    for revision in
        ["v1", "light", "feature/x", "refs/heads/feature/x", "HEAD~1", "main^", &first, &first[..9]]
    {
        assert_eq!(checkout.resolve(revision).unwrap(), id(&first), "{revision}");
    }
    assert_eq!(checkout.resolve("HEAD").unwrap(), id(&second));
    assert_eq!(checkout.commit_time(id(&first)).unwrap(), 1_700_000_000);
    assert_eq!(checkout.commit_time(id(&second)).unwrap(), 1_700_000_060);
}

#[test]
fn a_revision_that_is_no_commit_is_named_in_the_error() {
    let repo = Fixture::from_text("//- /a.py\n");
    repo.commit("first");
    let checkout = open(&repo);
    for revision in ["nothing", "HEAD:a.py", "HEAD~7", "", &"0".repeat(40), "HEAD..HEAD"] {
        let error = checkout.resolve(revision).unwrap_err();
        assert!(matches!(&error, Error::Revision { text, .. } if text == revision), "{revision}: {error}");
    }
    assert!(checkout.resolve("nothing").unwrap_err().to_string().starts_with("`nothing` names no commit"));
}

#[test]
fn sha256_repositories_are_read() {
    let repo = Fixture::directory();
    repo.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    repo.git(&["remote", "add", "origin", "https://example.com/a/b.git"]);
    repo.write("a/b.py", "x = 1\n");
    let commit = repo.commit("first");
    repo.git(&["gc", "-q"]);
    let checkout = open(&repo);
    assert_eq!(checkout.object_format(), ObjectFormat::Sha256);
    assert_eq!(checkout.head().unwrap().commit.unwrap().to_string(), commit);
    let identity = checkout.identity(None).unwrap();
    assert_eq!((identity.url.as_str(), identity.object_format.name()), ("example.com/a/b", "sha256"));
    let tree = checkout.tree(id(&commit)).unwrap();
    assert_eq!(tree.entries[0].blob.as_bytes().len(), 32);
    assert_eq!(checkout.reader().blob(tree.entries[0].blob).unwrap().unwrap(), b"x = 1\n");
    assert_eq!(crate::hash_blob(ObjectFormat::Sha256, b"x = 1\n").unwrap(), tree.entries[0].blob);
}

#[test]
fn an_unknown_object_format_is_refused_by_name() {
    let repo = Fixture::new();
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["config", "extensions.objectFormat", "sha3"]);
    let error = Checkout::open(repo.path()).err().unwrap();
    assert!(matches!(error, Error::ObjectFormat { .. }), "{error}");
    assert!(error.to_string().contains("sha3"), "{error}");
}

#[test]
fn a_repository_of_another_user_is_read_all_the_same() {
    let repo = Fixture::from_text("//- /a.py\nx = 1\n");
    let commit = repo.commit("first");
    repo.git(&["remote", "add", "origin", "https://example.com/a/b.git"]);
    let marker = repo.beside("marker");
    let program = format!("touch {}", marker.display());
    for key in
        ["core.fsmonitor", "core.sshCommand", "filter.evil.clean", "filter.evil.smudge", "diff.external"]
    {
        repo.git(&["config", key, &program]);
    }
    repo.write(".git/info/attributes", "* filter=evil\n");
    for trust in [Trust::Reduced, Trust::Full] {
        let checkout = Checkout::open_with(repo.path(), TrustPolicy::Assume(trust)).unwrap();
        assert_eq!(checkout.identity(None).unwrap().url, "example.com/a/b");
        let tree = checkout.tree(id(&commit)).unwrap();
        assert_eq!(checkout.reader().blob(tree.entries[0].blob).unwrap().unwrap(), b"x = 1\n");
        assert_eq!(checkout.work_files().unwrap().files.len(), 1);
        assert_eq!(checkout.work_reader().unwrap().unwrap().read("a.py").unwrap().unwrap(), b"x = 1\n");
    }
    assert!(!marker.exists(), "a program of the repository's configuration was started");
}

#[test]
fn replaced_objects_do_not_change_what_a_commit_is() {
    let repo = Fixture::from_text("//- /a.py\n");
    let first = repo.commit("first");
    repo.write("b.py", "");
    let second = repo.commit("second");
    repo.git(&["replace", &second, &first]);
    assert_eq!(paths(&open(&repo).tree(id(&second)).unwrap()), ["a.py", "b.py"]);
}

#[test]
fn a_damaged_repository_is_an_error_and_no_panic() {
    let repo = Fixture::from_text("//- /a.py\nx = 1\n");
    let commit = repo.commit("first");
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let object = repo.path().join(".git/objects").join(&tree[..2]).join(&tree[2..]);
    fs::remove_file(&object).unwrap();
    let error = open(&repo).tree(id(&commit)).unwrap_err();
    assert!(matches!(&error, Error::Git { .. }) && error.to_string().contains(&tree), "{error}");
}
