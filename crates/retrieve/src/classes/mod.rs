//! Concept classes: words of a framework's documentation, and the public symbols it uses them for.
//!
//! A task says "url pattern" where the code says `re_path`. One TOML file in `vocab/` for each framework or theme.
//! A class may name only what stands in the documentation, so that it helps everyone and fits no benchmark.

mod phrases;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use knowing_model::{Hash, Hasher};
use serde::Deserialize;

use phrases::Phrases;

/// Where a class comes from; decides what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    Framework,
    Language,
    Universal,
}

/// A class whose phrases stand in the task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatchedClass {
    /// `file.theme`, unique over all files.
    pub(crate) concept: &'static str,
    pub(crate) weight: f64,
    pub(crate) source: Source,
    /// Different phrases found; one within another counts once.
    pub(crate) phrases_matched: usize,
    /// Words of the longest phrase found.
    pub(crate) longest_phrase_words: usize,
    /// Terminal names of symbols, with the owner where the name alone is common: `QuerySet.filter`.
    pub(crate) targets: &'static [String],
}

/// The classes a task's words belong to, in file order, for code in these languages.
pub(crate) fn matched(task_text: &str, languages: &[&str]) -> Vec<MatchedClass> {
    let text = phrases::Words::of(&task_text.to_lowercase());
    let mut out = Vec::new();
    for file in files().filter(|it| it.applies_to(languages)) {
        let found = file.phrases.find(&text, file.classes.len());
        for (class, found) in file.classes.iter().zip(found) {
            if found.n_phrases > 0 {
                out.push(MatchedClass {
                    concept: &class.concept,
                    weight: file.weight,
                    source: file.source,
                    phrases_matched: found.n_phrases,
                    longest_phrase_words: found.longest,
                    targets: &class.targets,
                });
            }
        }
    }
    out
}

/// Of all classes, for the keys of caches: a changed word gives another digest.
pub(crate) fn digest() -> Hash {
    static DIGEST: LazyLock<Hash> = LazyLock::new(|| {
        let mut hasher = Hasher::new("classes");
        for (name, text) in FILES {
            hasher.push(name.as_bytes());
            hasher.push(text.as_bytes());
        }
        hasher.finish()
    });
    *DIGEST
}

/// One file of `vocab/`.
struct File {
    source: Source,
    weight: f64,
    /// None: any language.
    lang: Option<String>,
    classes: Vec<Class>,
    phrases: Phrases,
}

impl File {
    fn applies_to(&self, languages: &[&str]) -> bool {
        self.lang.as_deref().is_none_or(|it| languages.contains(&it))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    concept: String,
    phrases: Vec<String>,
    targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    source: Source,
    weight: f64,
    lang: Option<String>,
    #[serde(rename = "class")]
    classes: Vec<Class>,
}

fn parse(text: &str) -> Result<File, toml::de::Error> {
    let Written { source, weight, lang, classes } = toml::from_str(text)?;
    let phrases = Phrases::of(classes.iter().map(|it| it.phrases.as_slice()));
    Ok(File { source, weight, lang, classes, phrases })
}

/// Every file, read once.
fn files() -> impl Iterator<Item = &'static File> {
    static READ: LazyLock<Vec<File>> = LazyLock::new(|| {
        FILES.iter().map(|(_, text)| parse(text).expect("a test reads every file")).collect()
    });
    READ.iter()
}

macro_rules! vocab {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../vocab/", $name, ".toml")))),*]
    };
}

/// Name and text, in the order classes are reported in.
const FILES: &[(&str, &str)] = vocab![
    "actix",
    "asyncio",
    "axum",
    "celery",
    "clap",
    "click",
    "diesel",
    "django_models",
    "django_services",
    "django_web",
    "fastapi",
    "flask",
    "pydantic",
    "pytest",
    "python",
    "requests",
    "rust",
    "serde",
    "sqlalchemy",
    "tokio",
    "universal_systems",
    "universal_web",
];
