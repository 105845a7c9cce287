//! Images are made from the database: whatever happens to one, the answer is the same.

use std::path::{Path, PathBuf};

use super::warehouse;
use crate::session::Session;

fn images(session: &Session) -> Vec<PathBuf> {
    fn collect(directory: &Path, into: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, into);
            } else if path.extension().is_some_and(|it| it == "search" || it == "names" || it == "graph") {
                into.push(path);
            }
        }
    }
    let mut images = Vec::new();
    collect(&session.data(), &mut images);
    images.sort();
    images
}

#[test]
fn s7_a_damaged_or_missing_image_gives_the_same_answer_again() {
    let (session, repo) = (Session::new(), warehouse());
    let ask = || {
        let arguments = ["context", "retry sending a parcel of depot 3", "--without", "pack_cache", "--json"];
        let formula = [&arguments[..], &["--ranker", "formula"]].concat();
        session.text(repo.path(), &arguments) + &session.text(repo.path(), &formula)
    };
    let expected = ask();
    let images = images(&session);
    assert_eq!(images.len(), 3, "{images:?}");
    for image in &images {
        let kind = image.extension().unwrap().to_str().unwrap();
        let whole = std::fs::read(image).unwrap();
        let check = |what: &str| {
            assert!(ask() == expected, "{kind}: {what}: another answer");
            assert!(std::fs::read(image).unwrap() == whole, "{kind}: {what}: it was not made anew");
        };
        std::fs::remove_file(image).unwrap();
        check("gone");
        for length in [0, 1, 7, 64, whole.len() / 2, whole.len() - 1] {
            std::fs::write(image, &whole[..length]).unwrap();
            check(&format!("cut to {length} bytes"));
        }
        std::fs::write(image, [&whole[..], b"more"].concat()).unwrap();
        check("longer");
        std::fs::write(image, "x".repeat(whole.len())).unwrap();
        check("other bytes");
        for part in 0..24 {
            let at = part * (whole.len() - 1) / 23;
            let mut flipped = whole.clone();
            flipped[at] ^= 0x55;
            std::fs::write(image, &flipped).unwrap();
            check(&format!("byte {at} of {} flipped", whole.len()));
        }
    }
    // An image of another snapshot under this one's name.
    for kind in ["search", "names", "graph"] {
        let image = images.iter().find(|it| it.extension().is_some_and(|it| it == kind)).unwrap();
        let other = Session::new();
        let shop = crate::session::shop();
        other.text(shop.path(), &["context", "total"]);
        let foreign =
            self::images(&other).into_iter().find(|it| it.extension() == image.extension()).unwrap();
        std::fs::copy(foreign, image).unwrap();
        assert!(ask() == expected, "{kind} of another repository");
    }
}
