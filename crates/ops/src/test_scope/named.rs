//! Which test files are named after a file: `foo.py` and `test_foo.py`, `Foo.java` and `FooTest.java`, `foo/index.ts` and
//! `foo.spec.ts`, `lib/x/foo.rb` and `spec/x/foo_spec.rb`, `foo.rs` and `tests/foo.rs`.
//!
//! Names are compared as words, so that it does not matter how a language joins them. Of files that are called alike the
//! one counts whose directories have most in common with the test's.

use std::collections::{BTreeMap, BTreeSet};

use knowing_search::{FileIndex, Names};

/// Words around the name of what is tested.
const TEST_WORDS: &[&str] = &["test", "tests", "spec", "specs"];
/// Words that may stand there too, and may be the name itself.
const KINDS_OF_TESTS: &[&str] = &["it", "e2e", "unit", "integration", "case", "suite"];
/// Names that say nothing without the directory.
const PLAIN: &[&str] = &["index", "init", "mod", "main", "lib"];
/// Directories that say what kind of files they hold, not what these are about.
const FRAMES: &[&str] = &[
    "src",
    "main",
    "java",
    "kotlin",
    "scala",
    "test",
    "tests",
    "spec",
    "specs",
    "lib",
    "unit",
    "app",
    "python",
    "testing",
    "integration",
    "__tests__",
    "packages",
    "crates",
];
/// Test files in a directory that is named after a file; a larger one is about more.
const MAX_IN_DIRECTORY: usize = 12;

type Words = Vec<String>;

/// The files of a snapshot by what they are called.
pub(crate) struct NamedAfter<'a> {
    names: &'a Names,
    test_files: &'a BTreeSet<FileIndex>,
    /// Files without tests, by their words.
    code: BTreeMap<Words, Vec<FileIndex>>,
    /// Test files by the words that are left when those of tests are gone.
    tests: BTreeMap<Words, Vec<FileIndex>>,
    /// Test files by the last of their directories that says something.
    directories: BTreeMap<Words, Vec<FileIndex>>,
}

impl<'a> NamedAfter<'a> {
    pub(crate) fn new(names: &'a Names, test_files: &'a BTreeSet<FileIndex>) -> NamedAfter<'a> {
        let mut named = NamedAfter {
            names,
            test_files,
            code: BTreeMap::new(),
            tests: BTreeMap::new(),
            directories: BTreeMap::new(),
        };
        for file in (0..names.n_files() as u32).map(FileIndex) {
            let path = names.path(file);
            if names.language(file).is_empty() {
                continue;
            }
            if test_files.contains(&file) {
                named.tests.entry(without_test_words(subject(path))).or_default().push(file);
                if let Some(last) = directories(path).last() {
                    named.directories.entry(words(last)).or_default().push(file);
                }
            } else {
                named.code.entry(subject(path)).or_default().push(file);
            }
        }
        named
    }

    /// Test files that are named after a file, or after one of these types that it declares.
    pub(crate) fn of(&self, file: FileIndex, types: &[&str]) -> BTreeSet<FileIndex> {
        let mut found = BTreeSet::new();
        if self.test_files.contains(&file) {
            return found;
        }
        let path = self.names.path(file);
        let called = subject(path);
        if called.is_empty() {
            return found;
        }
        let is_sibling = |it: &&FileIndex| {
            let other = self.names.path(**it);
            family(path) == family(other) && self.is_nearest(file, &called, other)
        };
        found.extend(self.tests.get(&called).into_iter().flatten().filter(is_sibling));
        // `FooStreamingTest` is about `Foo` where there is no `FooStreaming`.
        let longer = self.tests.range(called.clone()..).take_while(|it| it.0.starts_with(&called));
        for (rest, files) in longer.filter(|it| it.0.len() > called.len()) {
            let has_nearer = (called.len() + 1..=rest.len()).any(|n| self.code.contains_key(&rest[..n]));
            if !has_nearer {
                found.extend(files.iter().filter(is_sibling));
            }
        }
        let inside: Vec<&FileIndex> =
            self.directories.get(&called).into_iter().flatten().filter(is_sibling).collect();
        if inside.len() <= MAX_IN_DIRECTORY {
            found.extend(inside);
        }
        for name in types.iter().map(|it| words(it)).filter(|it| it.len() > 1) {
            let files = self.tests.get(&name).into_iter().flatten();
            found.extend(files.filter(|it| family(path) == family(self.names.path(**it))));
        }
        found
    }

    /// No other file of that name has more directories in common with a test.
    fn is_nearest(&self, file: FileIndex, called: &Words, test: &str) -> bool {
        let shared = |it: FileIndex| shared_directories(self.names.path(it), test);
        let own = shared(file);
        self.code.get(called).into_iter().flatten().all(|it| shared(*it) <= own)
    }
}

/// What a file is about, by its name; by its directory where the name says nothing.
fn subject(path: &str) -> Words {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    let named = words(stem);
    match &named[..] {
        [only] if PLAIN.contains(&only.as_str()) => {
            directories(directory).last().map_or(named, |it| words(it))
        }
        _ => named,
    }
}

fn without_test_words(words: Words) -> Words {
    let is_test_word = |it: &String| TEST_WORDS.contains(&it.as_str());
    let is_kind = |it: &String| is_test_word(it) || KINDS_OF_TESTS.contains(&it.as_str());
    let stripped = without(&words, &is_kind);
    if stripped.is_empty() { without(&words, &is_test_word).to_vec() } else { stripped.to_vec() }
}

/// The words between those at either end that are not wanted.
fn without<'w>(words: &'w [String], is_unwanted: &dyn Fn(&String) -> bool) -> &'w [String] {
    let from = words.iter().position(|it| !is_unwanted(it)).unwrap_or(words.len());
    let to = words.iter().rposition(|it| !is_unwanted(it)).map_or(from, |it| it + 1);
    &words[from..to]
}

/// The directories of a path that say what is in them; of `foo/bar.py`, `foo`; of `foo/bar`, both.
fn directories(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = path.split('/').collect();
    if parts.last().is_some_and(|it| it.contains('.')) {
        parts.pop();
    }
    parts.retain(|it| !it.is_empty() && !FRAMES.contains(it));
    parts
}

fn shared_directories(one: &str, other: &str) -> usize {
    let one: BTreeSet<Words> = directories(one).into_iter().map(|it| without_test_words(words(it))).collect();
    let other: BTreeSet<Words> =
        directories(other).into_iter().map(|it| without_test_words(words(it))).collect();
    one.intersection(&other).count()
}

/// `HTTPServer_test-v2` is `http server test v2`.
pub(crate) fn words(name: &str) -> Words {
    let mut words: Words = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        let is_after_lower = at > 0 && !letters[at - 1].is_uppercase();
        let is_before_lower = letters.get(at + 1).is_some_and(|it| it.is_lowercase());
        if letter.is_uppercase() && !word.is_empty() && (is_after_lower || is_before_lower) {
            words.push(std::mem::take(&mut word));
        }
        word.extend(letter.to_lowercase());
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// A word without the ending of the plural.
pub(crate) fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem,
        _ => word,
    }
}

pub(crate) fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().map(|it| stem(&it).to_owned())
}

/// The words of a text, and their stems.
pub(crate) fn forms(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().flat_map(|it| {
        let stem = Some(stem(&it)).filter(|stem| stem.len() < it.len()).map(str::to_owned);
        std::iter::once(it).chain(stem)
    })
}

/// As `stems`, and names of several words as one, however they are joined: `--list-files`, `list_files`, `ListFiles`.
pub(crate) fn terms(text: &str) -> impl Iterator<Item = String> {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
    let names = text.split(move |it: char| !is_part(it)).map(words);
    stems(text).chain(names.filter(|it| it.len() > 1).map(|it| it.join("_")))
}

/// Files of one family test each other.
fn family(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.').map_or("", |it| it.1) {
        "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" => "js",
        "java" | "kt" | "kts" | "scala" | "groovy" => "java",
        "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => "c",
        "py" | "pyi" => "py",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tested(path: &str) -> String {
        without_test_words(subject(path)).join(" ")
    }

    #[test]
    fn names_are_compared_as_words() {
        assert_eq!(words("HTTPServer_test-v2").join(" "), "http server test v2");
        for test in [
            "tests/test_json_reader.py",
            "src/test/java/JsonReaderTest.java",
            "json-reader.spec.ts",
            "spec/x/json_reader_spec.rb",
            "tests/json_reader.rs",
            "JsonReader.Tests.cs",
            "src/json-reader/__tests__/index.test.ts",
        ] {
            assert!(["json reader", "index"].contains(&tested(test).as_str()), "{test}: {}", tested(test));
        }
        assert_eq!(tested("tests/test_case.py"), "case");
        assert_eq!(subject("src/cart/index.ts").join(" "), "cart");
        assert_eq!(subject("src/cart/mod.rs").join(" "), "cart");
    }

    #[test]
    fn directories_in_common_say_which_of_two_is_meant() {
        let (one, other) = ("src/shop/cart/item.py", "src/shop/order/item.py");
        let test = "tests/order/test_item.py";
        assert!(shared_directories(other, test) > shared_directories(one, test));
    }
}
