//! Files a task names: `aider/main.py`, `src/lib.rs:12`, `models.py`. Dotted modules are no paths.

use rustc_hash::FxHashMap;

use super::code;
use super::lines::{Kind, Line};
use super::words;

/// A file or folder, with `/`, as far as the task writes it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMention {
    pub path: String,
    pub line: Option<u32>,
}

/// Paths in order of first appearance; those of links to a file's page come last.
pub(super) fn read(raw: &[&str], subject: &str, lines: &[Line]) -> Vec<PathMention> {
    let mut found = Mentions::default();
    scan(subject, Kind::Prose, &mut found);
    for line in lines {
        match line.kind {
            Kind::Prose | Kind::Code => scan(&line.text, line.kind, &mut found),
            Kind::Trace | Kind::Blank => {}
        }
    }
    for line in raw {
        links(line, &mut found);
    }
    found.list
}

/// The whole text is a path.
pub(super) fn is_path(text: &str) -> bool {
    let mut found = Mentions::default();
    scan(text, Kind::Code, &mut found);
    matches!(found.list.as_slice(), [one] if one.line.is_none() && one.path.len() + 2 >= text.len() && text.contains(['/', '\\']))
}

/// Of a source or data file, without the dot.
pub(super) fn is_extension(text: &str) -> bool {
    matches!(
        text,
        "py" | "pyi"
            | "pyx"
            | "pyc"
            | "rs"
            | "go"
            | "js"
            | "jsx"
            | "mjs"
            | "cjs"
            | "ts"
            | "tsx"
            | "vue"
            | "svelte"
            | "java"
            | "kt"
            | "scala"
            | "groovy"
            | "cs"
            | "rb"
            | "erb"
            | "rake"
            | "php"
            | "swift"
            | "c"
            | "h"
            | "cc"
            | "cpp"
            | "cxx"
            | "hpp"
            | "hh"
            | "css"
            | "scss"
            | "sass"
            | "less"
            | "html"
            | "htm"
            | "proto"
            | "graphql"
            | "gql"
            | "tf"
            | "hcl"
            | "sql"
            | "yml"
            | "yaml"
            | "toml"
            | "json"
            | "md"
            | "rst"
            | "txt"
            | "cfg"
            | "ini"
            | "xml"
            | "sh"
            | "bash"
            | "ps1"
            | "gradle"
            | "lock"
            | "csproj"
            | "ipynb"
            | "jinja2"
            | "j2"
            | "tmpl"
            | "po"
            | "env"
            | "conf"
            | "exs"
            | "ex"
            | "lua"
    )
}

#[derive(Default)]
struct Mentions {
    list: Vec<PathMention>,
    known: FxHashMap<String, usize>,
}

impl Mentions {
    /// A second line in the same file is a mention of its own; one without a line adds nothing.
    fn add(&mut self, path: String, line: Option<u32>) {
        if path.is_empty() || path.len() > 300 {
            return;
        }
        match self.known.get(&path) {
            None => {
                self.known.insert(path.clone(), self.list.len());
                self.list.push(PathMention { path, line });
            }
            Some(&index) if line.is_some() => {
                if self.list[index].line.is_none() {
                    self.list[index].line = line;
                } else if self.list[index].line != line {
                    self.known.insert(path.clone(), self.list.len());
                    self.list.push(PathMention { path, line });
                }
            }
            Some(_) => {}
        }
    }
}

fn is_path_character(it: char) -> bool {
    it.is_alphanumeric() || "_./\\-~+@$".contains(it)
}

fn scan(text: &str, kind: Kind, found: &mut Mentions) {
    if text.starts_with("diff --git ") {
        return;
    }
    let in_diff = code::diff_path(text);
    let text = in_diff.unwrap_or(text);
    let mut at = 0;
    let mut before = ' ';
    while let Some(it) = text[at..].chars().next() {
        if !is_path_character(it) {
            before = it;
            at += it.len_utf8();
            continue;
        }
        let start = at;
        at += text[at..].find(|it| !is_path_character(it)).unwrap_or(text.len() - at);
        // `C:\dir\file.py`
        if at - start == 1 && it.is_ascii_alphabetic() && text[at..].starts_with(":\\") {
            let tail = &text[at + 1..];
            at += 1 + tail.find(|it| !is_path_character(it)).unwrap_or(tail.len());
        }
        let run = &text[start..at];
        let is_called = text[at..].starts_with('(');
        let is_quoted = in_diff.is_some() || matches!(before, '"' | '\'' | '`' | '<' | '“');
        before = '_';
        if is_called {
            continue;
        }
        let run = run.trim_end_matches(['.', '-', '+', '@', '~']);
        if fits(run, kind, is_quoted) {
            let line = line_after(&text[at..]);
            found.add(tidy(run), line);
        }
    }
}

fn fits(run: &str, kind: Kind, is_quoted: bool) -> bool {
    let has_slash = run.contains(['/', '\\']);
    let name = run.rsplit(['/', '\\']).next().unwrap_or_default();
    let has_extension = name
        .rsplit_once('.')
        .is_some_and(|(stem, extension)| stem.contains(char::is_alphanumeric) && is_extension(extension));
    let well_known =
        matches!(name, "Dockerfile" | "Makefile" | "Gemfile" | "Rakefile" | "Jenkinsfile" | "Vagrantfile");
    if has_extension || well_known {
        if has_slash {
            return true;
        }
        // `a.b.c` with a one-letter ending is an attribute as often as a file.
        let is_module = name.matches('.').count() > 1 && !is_quoted;
        return match kind {
            Kind::Code => is_quoted,
            _ => !is_module && !words::is_product(&name.to_lowercase()) && (name.len() > 3 || is_quoted),
        };
    }
    // Without an ending only what can be no "and/or", no date and no route (`/api/users`).
    let is_date = run.starts_with(|it: char| it.is_ascii_digit());
    if !has_slash || is_date || run.starts_with(['/', '\\', '-', '@', '$']) || run.contains("//") {
        return false;
    }
    let n_slashes = run.matches(['/', '\\']).count();
    let segments_fit = run.split(['/', '\\']).all(|it| it.len() < 60 && !it.ends_with('.') || it == "..");
    let is_folder = run.ends_with('/') && n_slashes >= 1 && run.len() > 3;
    segments_fit
        && run.contains(|it: char| it.is_ascii_lowercase())
        && match kind {
            Kind::Code => is_quoted && n_slashes >= 2 && !run.contains('\\'),
            _ => {
                n_slashes >= 2 && !run.contains('\\')
                    || is_folder
                    || is_quoted && n_slashes == 1 && run.contains('_')
            }
        }
}

/// `:12`, `:12:5`, `#L12`, `", line 12`, `, line 12`, ` line 12`, `(12)`.
fn line_after(tail: &str) -> Option<u32> {
    let tail = tail.strip_prefix(['"', '\'', '`']).unwrap_or(tail);
    let rest = [":L", "#L", ":", ", line ", " line ", " on line ", " at line ", " (line ", " file, line "]
        .into_iter()
        .find_map(|it| tail.strip_prefix(it))?;
    number(rest)
}

/// The digits at the front, if they are a plausible line.
pub(super) fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().take(8).take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok().filter(|it| *it > 0)
}

fn tidy(run: &str) -> String {
    let path = run.replace('\\', "/");
    let path = path.trim_start_matches("./").trim_start_matches("~/");
    installed(path).to_owned()
}

/// `.../blob/REF/path/to/file.py#L12` of code hosts.
fn links(line: &str, found: &mut Mentions) {
    if !line.contains("://") {
        return;
    }
    let mut rest = line;
    while let Some(at) = rest.find("/blob/") {
        rest = &rest[at + 6..];
        let end = rest.find(|it: char| it.is_whitespace() || ")>\"'`]|,".contains(it)).unwrap_or(rest.len());
        let (link, tail) = rest.split_at(end);
        rest = tail;
        let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = target.split('?').next().unwrap_or_default();
        let Some((_, path)) = target.split_once('/') else { continue };
        let is_file = path
            .rsplit('/')
            .next()
            .is_some_and(|it| it.rsplit_once('.').is_some_and(|(_, ext)| is_extension(ext)));
        if is_file {
            found.add(path.to_owned(), anchor.strip_prefix('L').and_then(number));
        }
    }
}

/// Cuts where packages are installed, so that what is left is the path within the package's own repository.
pub(super) fn installed(path: &str) -> &str {
    let mut rest = path;
    for folder in ["site-packages/", "dist-packages/", "node_modules/", "/gems/"] {
        if let Some(at) = rest.rfind(folder) {
            rest = &rest[at + folder.len()..];
            if folder == "/gems/" {
                rest = rest.split_once('/').map_or(rest, |(_, inner)| inner);
            }
        }
    }
    if let Some((_, after)) = rest.rsplit_once("registry/src/") {
        // index/crate-1.2/src/lib.rs
        rest = after.splitn(3, '/').nth(2).unwrap_or(after);
    }
    if let Some((_, after)) = rest.rsplit_once("/pkg/mod/") {
        // host/owner/name@v1.2/file.go
        rest = after.split_once('@').and_then(|(_, it)| it.split_once('/')).map_or(after, |(_, it)| it);
    }
    if let Some(after) = rest.strip_prefix("/rustc/") {
        rest = after.split_once('/').map_or(after, |(_, it)| it);
    }
    // /usr/lib/python3.9/asyncio/tasks.py
    if let Some(at) = rest.rfind("/python3.").or_else(|| rest.rfind("/python2.")) {
        let tail = &rest[at + 1..];
        if let Some((version, inner)) = tail.split_once('/')
            && version["python".len()..].bytes().all(|it| it.is_ascii_digit() || it == b'.')
        {
            rest = inner;
        }
    }
    rest
}
