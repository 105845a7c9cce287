//! The files are what they promise, and phrases are found on word borders.

use std::collections::BTreeSet;
use std::path::Path;

use super::phrases::{Phrases, Words};
use super::{FILES, File, Source, digest, matched, parse};

fn read() -> Vec<(&'static str, File)> {
    FILES
        .iter()
        .map(|(name, text)| (*name, parse(text).unwrap_or_else(|error| panic!("{name}: {error}"))))
        .collect()
}

#[track_caller]
fn concepts(text: &str, languages: &[&str], expected: &[&str]) {
    let found: Vec<&str> = matched(text, languages).iter().map(|it| it.concept).collect();
    for concept in expected {
        assert!(found.contains(concept), "`{concept}` is not among {found:?}");
    }
    assert_eq!(found.is_empty(), expected.is_empty(), "{found:?}");
}

/// How many phrases of one class a text has, and how long the longest is.
#[track_caller]
fn found(phrases: &[&str], text: &str, expected: (usize, usize)) {
    let phrases: Vec<String> = phrases.iter().map(|it| (*it).to_owned()).collect();
    let it = Phrases::of([phrases.as_slice()].into_iter()).find(&Words::of(text), 1)[0];
    assert_eq!((it.n_phrases, it.longest), expected);
}

#[test]
fn every_file_is_listed_in_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vocab");
    let on_disk: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter_map(|it| it.strip_suffix(".toml").map(str::to_owned))
        .collect();
    let listed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, on_disk.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn weights_follow_the_source() {
    for (name, file) in read() {
        let expected = if file.source == Source::Framework { 0.9 } else { 0.8 };
        assert!((file.weight - expected).abs() < f64::EPSILON, "{name}");
        assert_eq!(file.lang.is_none(), file.source == Source::Universal, "{name}");
    }
}

#[test]
fn concepts_are_sorted_and_unique() {
    let mut all = BTreeSet::new();
    for (name, file) in read() {
        let concepts: Vec<&str> = file.classes.iter().map(|it| it.concept.as_str()).collect();
        assert!(concepts.is_sorted(), "{name}");
        assert!((8..=25).contains(&concepts.len()), "{name} has {} classes", concepts.len());
        for concept in concepts {
            assert!(concept.starts_with(&format!("{name}.")), "{concept}");
            assert!(all.insert(concept.to_owned()), "{concept} twice");
        }
    }
}

#[test]
fn phrases_are_plain_lower_case_words() {
    for (name, file) in read() {
        for class in &file.classes {
            assert!(!class.phrases.is_empty(), "{name}");
            let unique: BTreeSet<&String> = class.phrases.iter().collect();
            assert_eq!(unique.len(), class.phrases.len(), "{}", class.concept);
            for phrase in &class.phrases {
                let plain =
                    phrase.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == ' ');
                assert!(
                    plain && phrase.trim() == phrase && !phrase.contains("  "),
                    "{}: `{phrase}`",
                    class.concept
                );
                let plural = format!("{phrase}s");
                assert!(!class.phrases.contains(&plural), "{}: `{plural}` is found already", class.concept);
            }
        }
    }
}

#[test]
fn targets_are_names_of_more_than_three_characters() {
    for (_, file) in read() {
        for class in &file.classes {
            assert!(!class.targets.is_empty(), "{}", class.concept);
            let unique: BTreeSet<&String> = class.targets.iter().collect();
            assert_eq!(unique.len(), class.targets.len(), "{}", class.concept);
            for target in &class.targets {
                let name = target.rsplit('.').next().unwrap_or_default();
                let is_name = target
                    .split('.')
                    .all(|it| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_'));
                assert!(name.len() > 3 && is_name, "{}: `{target}`", class.concept);
            }
        }
    }
}

#[test]
fn a_task_finds_its_classes() {
    concepts(
        "Fix deletion of a ForeignKey: the Foreign Key is null",
        &["python"],
        &["django_models.relations"],
    );
    concepts("spawn blocking tasks on the blocking pool", &["rust"], &["tokio.blocking"]);
    concepts("add a rate limiter", &[], &["universal_web.rate-limiting"]);
    concepts("", &["python", "rust"], &[]);
    concepts("zzz", &["python", "rust"], &[]);
}

#[test]
fn classes_of_other_languages_stay_out() {
    let found = matched("foreign key", &["rust", "go"]);
    assert!(found.iter().all(|it| !it.concept.starts_with("django")), "{found:?}");
    assert!(matched("foreign key", &[]).iter().all(|it| it.source == Source::Universal));
}

#[test]
fn classes_come_in_file_order() {
    let found: Vec<&str> = matched("session cookie and cache of the template", &["python"])
        .iter()
        .map(|it| it.concept)
        .collect();
    assert!(found.len() > 3 && found.is_sorted(), "{found:?}");
}

#[test]
fn phrases_match_on_word_borders() {
    found(&["cache"], "the cache.", (1, 1));
    found(&["cache"], "cached caches_x", (1, 1));
    found(&["cache"], "cached recache", (0, 0));
    found(&["foreign key"], "foreign-key, foreign_key", (1, 2));
    found(&["foreign key"], "foreign keys", (1, 2));
    found(&["foreign key"], "foreign\n  key", (1, 2));
    found(&["foreign key"], "foreigns key", (0, 0));
    found(&["foreign key"], "foreign. key", (0, 0));
    found(&["foreign key"], "foreign", (0, 0));
    found(&["key"], "keyss", (0, 0));
}

#[test]
fn different_phrases_count_and_overlapping_ones_do_not() {
    found(&["time limit", "retry"], "retry at the time limit, retry", (2, 2));
    found(&["time limit", "soft time limit"], "the soft time limit", (1, 3));
    found(&["soft time limit", "time limit"], "a soft time limit and a time limit", (2, 3));
}

#[test]
fn the_digest_is_of_all_files() {
    assert_eq!(digest(), digest());
    assert_ne!(digest().as_bytes(), &[0; 32]);
}
