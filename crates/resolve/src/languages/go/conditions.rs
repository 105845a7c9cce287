//! Build constraints: which files are built together.
//!
//! A name that several files declare under constraints that exclude each other means the one that is built together
//! with the file that uses it; where that leaves a choice, on Linux with the usual processor.

const SYSTEMS: [&str; 16] = [
    "linux",
    "darwin",
    "windows",
    "freebsd",
    "netbsd",
    "openbsd",
    "dragonfly",
    "solaris",
    "illumos",
    "android",
    "ios",
    "js",
    "wasip1",
    "plan9",
    "aix",
    "zos",
];
const PROCESSORS: [&str; 12] = [
    "amd64", "arm64", "386", "arm", "riscv64", "ppc64le", "ppc64", "s390x", "mips", "mips64", "loong64",
    "wasm",
];

/// What a build is for.
pub(super) struct Config {
    system: &'static str,
    processor: &'static str,
    tags: Vec<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config { system: "linux", processor: "amd64", tags: Vec::new() }
    }
}

impl Config {
    fn has(&self, tag: &str) -> bool {
        let is_unix = !matches!(self.system, "windows" | "js" | "wasip1" | "plan9");
        tag == self.system
            || tag == self.processor
            || matches!(tag, "gc" | "cgo")
            || tag == "unix" && is_unix
            || tag == "linux" && self.system == "android"
            || tag.starts_with("go1.")
            || self.tags.iter().any(|it| it == tag)
    }
}

/// Under which tags a file is built.
pub(super) enum Condition {
    Tag(String),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

impl Condition {
    /// By the file's name (`x_linux_amd64.go`) and what it says itself; none when it is always built.
    pub(super) fn of(path: &str, stated: Option<&str>) -> Option<Condition> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.strip_suffix(".go").unwrap_or(name);
        let stem = stem.strip_suffix("_test").unwrap_or(stem);
        let parts: Vec<&str> = stem.split('_').skip(1).collect();
        let mut all = Vec::new();
        let tag = |it: &str| Condition::Tag(it.to_owned());
        match parts.as_slice() {
            [.., system, processor] if SYSTEMS.contains(system) && PROCESSORS.contains(processor) => {
                all.extend([tag(system), tag(processor)]);
            }
            [.., last] if SYSTEMS.contains(last) || PROCESSORS.contains(last) => all.push(tag(last)),
            _ => {}
        }
        all.extend(stated.and_then(|it| Parser { words: words(it), at: 0 }.any(0)));
        match all.len() {
            0 => None,
            1 => all.pop(),
            _ => Some(Condition::All(all)),
        }
    }

    pub(super) fn holds(&self, config: &Config) -> bool {
        match self {
            Condition::Tag(tag) => config.has(tag),
            Condition::Not(inner) => !inner.holds(config),
            Condition::All(all) => all.iter().all(|it| it.holds(config)),
            Condition::Any(any) => any.iter().any(|it| it.holds(config)),
        }
    }

    /// The most usual build that the file is part of.
    pub(super) fn config(&self) -> Config {
        let mut own = Vec::new();
        self.tags(&mut own);
        own.retain(|it| !SYSTEMS.contains(&it.as_str()) && !PROCESSORS.contains(&it.as_str()));
        for tags in [Vec::new(), own] {
            for processor in PROCESSORS {
                for system in SYSTEMS {
                    let config = Config { system, processor, tags: tags.clone() };
                    if self.holds(&config) {
                        return config;
                    }
                }
            }
        }
        Config::default()
    }

    fn tags(&self, out: &mut Vec<String>) {
        match self {
            Condition::Tag(tag) => out.push(tag.clone()),
            Condition::Not(_) => {}
            Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|it| it.tags(out)),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in text.chars() {
        if character.is_alphanumeric() || matches!(character, '_' | '.') {
            word.push(character);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        match character {
            '(' | ')' | '!' => words.push(character.to_string()),
            // Of `&&` and `||` the first half is enough.
            '&' | '|' if words.last().is_none_or(|it| it != &character.to_string()) => {
                words.push(character.to_string());
            }
            _ => {}
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

struct Parser {
    words: Vec<String>,
    at: usize,
}

impl Parser {
    /// Deeper than anybody writes.
    const MAX_DEPTH: usize = 50;

    fn next_is(&mut self, word: &str) -> bool {
        let is_it = self.words.get(self.at).is_some_and(|it| it == word);
        self.at += usize::from(is_it);
        is_it
    }

    fn any(&mut self, depth: usize) -> Option<Condition> {
        let mut parts = vec![self.all(depth)?];
        while self.next_is("|") {
            parts.push(self.all(depth)?);
        }
        Some(if parts.len() == 1 { parts.pop()? } else { Condition::Any(parts) })
    }

    fn all(&mut self, depth: usize) -> Option<Condition> {
        let mut parts = vec![self.one(depth)?];
        while self.next_is("&") {
            parts.push(self.one(depth)?);
        }
        Some(if parts.len() == 1 { parts.pop()? } else { Condition::All(parts) })
    }

    fn one(&mut self, depth: usize) -> Option<Condition> {
        if depth > Parser::MAX_DEPTH {
            return None;
        }
        if self.next_is("!") {
            return Some(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.next_is("(") {
            let inner = self.any(depth + 1)?;
            self.next_is(")");
            return Some(inner);
        }
        let tag = self.words.get(self.at)?.clone();
        self.at += 1;
        Some(Condition::Tag(tag))
    }
}
