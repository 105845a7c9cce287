use knowing_testkit::Fixture;

use super::open;
use crate::{Directory, Note};

#[track_caller]
fn url_with_remotes(remotes: &[(&str, &str)]) -> String {
    let repo = Fixture::new();
    repo.commit("first");
    for (name, url) in remotes {
        repo.git(&["remote", "add", name, url]);
    }
    open(&repo).identity(None).unwrap().url
}

#[test]
fn m2_two_clones_at_different_paths_have_one_identity() {
    let source = Fixture::from_text("//- /a.py\n");
    source.commit("first");
    source.commit("second");
    let one = Fixture::clone_of(&source, &[]);
    let two = Fixture::clone_of(&source, &["--bare"]);
    let (one, two) = (open(&one).identity(None).unwrap(), open(&two).identity(None).unwrap());
    assert_eq!(one, two);
    assert_eq!(one, open(&source).identity(None).unwrap());
}

#[test]
fn a_remote_gives_its_normal_form() {
    let expect = "github.com/acme/App";
    assert_eq!(url_with_remotes(&[("origin", "git@github.com:acme/App.git")]), expect);
    assert_eq!(url_with_remotes(&[("origin", "https://user:secret@GitHub.com:443/acme/App/")]), expect);
    assert_eq!(
        url_with_remotes(&[("fork", "https://github.com/me/App"), ("origin", "https://github.com/acme/App")]),
        expect
    );
}

#[test]
fn without_origin_the_first_remote_by_name_counts() {
    let remotes = [("upstream", "https://example.com/z/z"), ("fork", "https://example.com/a/a")];
    assert_eq!(url_with_remotes(&remotes), "example.com/a/a");
}

#[test]
fn of_two_urls_of_a_remote_the_first_counts() {
    let repo = Fixture::new();
    repo.git(&["remote", "add", "origin", "https://example.com/a/first"]);
    repo.git(&["remote", "set-url", "--add", "origin", "https://example.com/a/second"]);
    assert_eq!(open(&repo).identity(None).unwrap().url, "example.com/a/first");
}

#[test]
fn remotes_on_this_machine_count_as_none() {
    let local = url_with_remotes(&[]);
    assert_eq!(
        url_with_remotes(&[("origin", "/srv/app.git"), ("b", "../x"), ("c", "file:///srv/app")]),
        local
    );
    assert_eq!(
        url_with_remotes(&[("origin", "/srv/app.git"), ("up", "https://example.com/a/b")]),
        "example.com/a/b"
    );
}

#[test]
fn without_remote_the_oldest_first_parent_counts() {
    let repo = Fixture::new();
    let root = repo.commit("first");
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    repo.commit("another root");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["merge", "-q", "--allow-unrelated-histories", "-m", "join", "other"]);
    for _ in 0..3 {
        repo.commit("more");
    }
    let identity = open(&repo).identity(None).unwrap();
    assert_eq!(identity.url, format!("local/{}", &root[..16]));
    assert_eq!(identity.notes, []);
    assert!(!identity.is_shallow);
}

#[test]
fn a_given_url_wins_and_is_normalised() {
    let repo = Fixture::new();
    repo.git(&["remote", "add", "origin", "https://example.com/a/b"]);
    let checkout = open(&repo);
    let url = |given| checkout.identity(Some(given)).unwrap().url;
    assert_eq!(url("git@github.com:acme/app.git"), "github.com/acme/app");
    assert_eq!(url("my-app"), "my-app");
    assert_eq!(url("  "), "example.com/a/b");
}

#[test]
fn a_shallow_clone_says_that_its_name_comes_from_the_boundary() {
    let source = Fixture::new();
    source.commit("first");
    let second = source.commit("second");
    let third = source.commit("third");
    for (depth, oldest) in [("1", third), ("2", second)] {
        let clone = Fixture::clone_of(&source, &["--depth", depth]);
        let identity = open(&clone).identity(None).unwrap();
        assert!(identity.is_shallow);
        assert_eq!(identity.notes, [Note::ShallowBoundary]);
        assert_eq!(identity.url, format!("local/{}", &oldest[..16]));
        let named = open(&clone).identity(Some("https://example.com/a/b")).unwrap();
        assert!(named.is_shallow && named.notes.is_empty(), "{named:?}");
    }
}

#[test]
fn a_shallow_clone_that_reaches_the_root_is_as_good_as_a_full_one() {
    let source = Fixture::new();
    let root = source.commit("first");
    source.commit("second");
    source.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    for _ in 0..4 {
        source.commit("side");
    }
    source.git(&["checkout", "-q", "main"]);
    source.git(&["merge", "-q", "-m", "join", "side"]);
    let clone = Fixture::clone_of(&source, &["--depth", "3"]);
    let identity = open(&clone).identity(None).unwrap();
    assert!(identity.is_shallow);
    assert_eq!(identity.url, format!("local/{}", &root[..16]));
    assert_eq!(identity.notes, []);
}

#[test]
fn before_the_first_commit_the_path_gives_the_name() {
    let repo = Fixture::new();
    let identity = open(&repo).identity(None).unwrap();
    assert_eq!(identity.notes, [Note::NoCommit]);
    assert_eq!(identity.url, Directory::open(repo.path()).unwrap().identity(None).url);
}

#[test]
fn a_directory_without_git_is_named_after_its_canonical_path() {
    let place = Fixture::directory();
    place.write("a/b.py", "");
    let identity = Directory::open(place.path()).unwrap().identity(None);
    assert_eq!(identity.notes, [Note::Unversioned]);
    let hash = knowing_model::identity::repo_id(place.path().to_str().unwrap());
    assert_eq!(identity.url, format!("dir/repo-{}", &knowing_model::hex(hash.as_bytes())[..8]));
    assert_eq!(Directory::open(&place.path().join("a/..")).unwrap().identity(None), identity);
    assert_eq!(Directory::open(place.path()).unwrap().identity(Some("https://a.b/c/")).url, "a.b/c");
}
