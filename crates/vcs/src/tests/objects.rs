use std::thread;

use knowing_testkit::Fixture;

use super::{id, open, paths};
use crate::{BlobId, EntryKind, Error, ObjectFormat, hash_blob};

#[test]
fn a_tree_is_listed_in_the_order_of_path_bytes() {
    let repo = Fixture::from_text(
        "//- /b.py\n//- /a/x.py\n//- /a.py\n//- /a-b/y.py\n//- /A.py\n//- /ä.py\n//- /a/z/deep.py\n",
    );
    let commit = repo.commit("first");
    let tree = open(&repo).tree(id(&commit)).unwrap();
    assert_eq!(paths(&tree), ["A.py", "a-b/y.py", "a.py", "a/x.py", "a/z/deep.py", "b.py", "ä.py"]);
    assert_eq!(tree.unusable_paths, <[String; 0]>::default());
}

#[test]
fn kinds_of_entries_are_told_apart() {
    let library = Fixture::from_text("//- /lib.py\n");
    let pinned = library.commit("library");
    let repo = Fixture::from_text("//- /plain.py\n//- /run.sh\n");
    repo.git(&["add", "-A"]);
    repo.git(&["update-index", "--chmod=+x", "run.sh"]);
    repo.git(&["submodule", "--quiet", "add", library.path().to_str().unwrap(), "library"]);
    let target = repo.git(&["rev-parse", ":plain.py"]);
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("120000,{target},link.py")]);
    let commit = repo.commit_staged("first");
    let tree = open(&repo).tree(id(&commit)).unwrap();
    let kinds: Vec<_> = tree.entries.iter().map(|it| (it.path.as_str(), it.kind)).collect();
    let expect = [
        (".gitmodules", EntryKind::File),
        ("library", EntryKind::Submodule),
        ("link.py", EntryKind::Symlink),
        ("plain.py", EntryKind::File),
        ("run.sh", EntryKind::Executable),
    ];
    assert_eq!(kinds, expect);
    assert_eq!(tree.entries[1].blob.to_string(), pinned);
}

#[test]
fn an_empty_commit_has_an_empty_tree() {
    let repo = Fixture::new();
    let commit = repo.commit("nothing");
    assert_eq!(open(&repo).tree(id(&commit)).unwrap().entries, []);
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_set_apart() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let repo = Fixture::from_text("//- /a.py\n");
    std::fs::write(repo.path().join(OsStr::from_bytes(b"caf\xe9.py")), "x").unwrap();
    let commit = repo.commit("first");
    let checkout = open(&repo);
    let tree = checkout.tree(id(&commit)).unwrap();
    assert_eq!(paths(&tree), ["a.py"]);
    assert_eq!(tree.unusable_paths, ["caf\u{fffd}.py"]);
    let files = checkout.work_files().unwrap();
    assert_eq!((files.files.len(), files.unusable_paths), (1, vec!["caf\u{fffd}.py".to_owned()]));
}

#[test]
fn x7_content_is_the_committed_bytes_whatever_checkout_made_of_it() {
    let repo = Fixture::from_text("//- /.gitattributes\n*.py text eol=crlf\n*.txt filter=shout\n");
    repo.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    repo.git(&["config", "filter.shout.clean", "tr A-Z a-z"]);
    repo.write("a.py", "x = 1\r\ny = 2\r\n");
    repo.write("b.txt", "LOUD\n");
    let commit = repo.commit("first");
    let checkout = open(&repo);
    let tree = checkout.tree(id(&commit)).unwrap();
    let read = |at: usize| checkout.reader().blob(tree.entries[at].blob).unwrap().unwrap();
    assert_eq!(paths(&tree), [".gitattributes", "a.py", "b.txt"]);
    assert_eq!(read(1), b"x = 1\ny = 2\n");
    assert_eq!(read(2), b"loud\n");
    assert_eq!(checkout.hash_blob(b"x = 1\ny = 2\n").unwrap(), tree.entries[1].blob);
    assert_eq!(tree.entries[1].blob.to_string(), repo.git(&["rev-parse", "HEAD:a.py"]));

    // The same for the working tree, except that no program is run.
    let mut work = checkout.work_reader().unwrap().unwrap();
    assert_eq!(repo.read("a.py"), b"x = 1\r\ny = 2\r\n");
    assert_eq!(work.read("a.py").unwrap().unwrap(), b"x = 1\ny = 2\n");
    assert_eq!(work.read("b.txt").unwrap().unwrap(), b"LOUD\n");
}

#[test]
fn packed_and_loose_blobs_have_content_and_size() {
    let repo = Fixture::new();
    // Alike, so that the pack stores deltas.
    let text = |n: usize| {
        (0..500)
            .map(|line| format!("value_{line} = {}\n", if line == n { 0 } else { line }))
            .collect::<String>()
    };
    for n in 0..10 {
        repo.write(&format!("packed_{n}.py"), &text(n));
    }
    repo.commit("packed");
    repo.git(&["gc", "-q", "--aggressive"]);
    repo.write("loose.py", &text(11));
    repo.write("empty.py", "");
    let commit = repo.commit("loose");
    let checkout = open(&repo);
    let tree = checkout.tree(id(&commit)).unwrap();
    assert_eq!(tree.entries.len(), 12);
    let reader = checkout.reader();
    for entry in &tree.entries {
        let content = repo.read(&entry.path);
        assert_eq!(reader.blob_size(entry.blob).unwrap(), Some(content.len() as u64), "{}", entry.path);
        assert_eq!(reader.blob(entry.blob).unwrap(), Some(content), "{}", entry.path);
    }
}

#[test]
fn many_threads_read_one_repository() {
    let repo = Fixture::new();
    for n in 0..40 {
        repo.write(&format!("{n}.py"), &format!("x = {n}\n"));
    }
    let commit = repo.commit("first");
    repo.git(&["gc", "-q"]);
    let checkout = open(&repo);
    let tree = checkout.tree(id(&commit)).unwrap();
    thread::scope(|scope| {
        for chunk in tree.entries.chunks(10) {
            let checkout = checkout.clone();
            scope.spawn(move || {
                let reader = checkout.reader();
                for entry in chunk {
                    let number = entry.path.trim_end_matches(".py");
                    assert_eq!(
                        reader.blob(entry.blob).unwrap().unwrap(),
                        format!("x = {number}\n").into_bytes()
                    );
                }
            });
        }
    });
}

#[test]
fn a_partial_clone_has_its_tree_and_says_which_blobs_are_missing() {
    let source = Fixture::from_text("//- /a.py\nx = 1\n//- /.knowingignore\nb.py\n");
    let commit = source.commit("first");
    source.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = Fixture::clone_of(&source, &["--filter=blob:none", "--no-checkout"]);
    let checkout = open(&clone);
    let tree = checkout.tree(id(&commit)).unwrap();
    assert_eq!(paths(&tree), [".knowingignore", "a.py"]);
    let reader = checkout.reader();
    assert_eq!(reader.blob(tree.entries[1].blob).unwrap(), None);
    assert_eq!(reader.blob_size(tree.entries[1].blob).unwrap(), None);
    assert!(!crate::Ignore::from_tree(&reader, &tree).unwrap().is_ignored("b.py"));
    // Nothing was fetched on the way.
    let missing = clone.git(&["rev-list", "--objects", "--missing=print", "HEAD"]);
    assert!(missing.contains(&format!("?{}", tree.entries[1].blob)), "{missing}");
}

#[test]
fn a_shallow_clone_reads_its_commit() {
    let source = Fixture::from_text("//- /a.py\nold\n");
    source.commit("first");
    source.write("a.py", "new\n");
    let commit = source.commit("second");
    let clone = Fixture::clone_of(&source, &["--depth", "1"]);
    let checkout = open(&clone);
    let tree = checkout.tree(id(&commit)).unwrap();
    assert_eq!(checkout.reader().blob(tree.entries[0].blob).unwrap().unwrap(), b"new\n");
    assert!(matches!(checkout.resolve("HEAD~1"), Err(Error::Revision { .. })));
}

#[test]
fn a_commit_is_not_a_blob() {
    let repo = Fixture::new();
    let commit = repo.commit("first");
    let blob = BlobId::from_hex(&commit).unwrap();
    assert!(matches!(open(&repo).reader().blob(blob), Err(Error::Git { .. })));
    assert!(matches!(open(&repo).reader().blob_size(blob), Err(Error::Git { .. })));
}

#[test]
fn hashes_are_those_of_git() {
    let id = hash_blob(ObjectFormat::Sha1, b"hello\n").unwrap();
    assert_eq!(id.to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
    assert_eq!(id.as_bytes()[..2], [0xce, 0x01]);
    assert_eq!(BlobId::from_bytes(id.as_bytes()), Some(id));
    assert_eq!(BlobId::from_bytes(b"short"), None);
    let id = hash_blob(ObjectFormat::Sha256, b"").unwrap();
    assert_eq!(id.to_string(), "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
}

#[test]
fn a_tree_made_by_hand_cannot_name_places_outside() {
    let repo = Fixture::from_text("//- /evil\nx\n");
    repo.git(&["add", "-A"]);
    let blob = repo.git(&["rev-parse", ":evil"]);
    let raw = BlobId::from_hex(&blob).unwrap();
    let mut object = Vec::new();
    for name in ["..", "ok.py"] {
        object.extend_from_slice(format!("100644 {name}\0").as_bytes());
        object.extend_from_slice(raw.as_bytes());
    }
    repo.write_bytes("tree", &object);
    let tree = repo.git(&["hash-object", "-t", "tree", "-w", "--literally", "tree"]);
    let commit = repo.git(&["commit-tree", "-m", "by hand", &tree]);
    let tree = open(&repo).tree(id(&commit)).unwrap();
    assert_eq!(paths(&tree), ["ok.py"]);
    assert_eq!(tree.unusable_paths, [".."]);
}
