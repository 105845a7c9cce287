//! Which languages and project files there are: one line each, sorted.

use std::borrow::Cow;

use crate::formats::{
    Format, codeowners, css, dockerfile, documents, dotenv, graphql, makefile, packages, protobuf, sql,
    terraform, yaml_files,
};
use crate::language::Language;
use crate::languages::{cpp, csharp, go, java, kotlin, php, python, ruby, rust, typescript};
use crate::manifests::{self, Manifests};

/// Languages by name; one that has several grammars has a line for each.
pub(crate) const LANGUAGES: &[&Language] = &[
    &cpp::C,
    &cpp::CPP,
    &csharp::LANGUAGE,
    &go::LANGUAGE,
    &java::LANGUAGE,
    &kotlin::LANGUAGE,
    &php::LANGUAGE,
    &python::LANGUAGE,
    &ruby::LANGUAGE,
    &rust::LANGUAGE,
    &typescript::JAVASCRIPT,
    &typescript::TSX,
    &typescript::TYPESCRIPT,
];

/// Whole names of files that have no extension to tell their language by.
const NAMED: &[(&str, &[&str])] = &[("ruby", &["Capfile", "Gemfile", "Guardfile", "Rakefile", "config.ru"])];

/// Languages whose parser is given another text of the same length, where a file asks for it.
pub(crate) const BLANKED: &[(&str, Blanked)] = &[
    ("c", cpp::fitting::fitted),
    ("cpp", cpp::fitting::fitted),
    ("csharp", csharp::blanked),
    ("go", go::blanked),
    ("kotlin", kotlin::blanked),
    ("rust", rust::blanked),
    ("typescript", typescript::blanked),
];

/// None when the file is parsed as it is.
pub(crate) type Blanked = fn(&[u8]) -> Option<Vec<u8>>;

/// Project files by name.
pub(crate) const MANIFESTS: &[&Manifests] = &[
    &manifests::cargo::CARGO,
    &manifests::composer::COMPOSER,
    &manifests::gomod::GO_MOD,
    &manifests::gomod::GO_WORK,
    &manifests::node::LERNA,
    &manifests::node::PACKAGE,
    &manifests::node::PNPM,
    &manifests::pyproject::PYPROJECT,
    &manifests::setup::SETUP_CFG,
    &manifests::tsconfig::TSCONFIG,
];

/// Formats without code by name: what is left when no language and no project file takes a path.
pub(crate) const FORMATS: &[&Format] = &[
    &documents::ASCIIDOC,
    &codeowners::CODEOWNERS,
    &css::CSS,
    &dockerfile::DOCKERFILE,
    &dotenv::DOTENV,
    &packages::DOTNET,
    &packages::GRADLE,
    &graphql::GRAPHQL,
    &yaml_files::JSON,
    &makefile::MAKEFILE,
    &documents::MARKDOWN,
    &packages::MAVEN,
    &protobuf::PROTOBUF,
    &packages::REQUIREMENTS,
    &documents::RST,
    &sql::SQL,
    &terraform::TERRAFORM,
    &yaml_files::YAML,
];

/// Extensions that two languages share: the one that takes the path, what tells the other by the bytes, and the other.
const SHARED: &[(&str, IsOther, &Language)] = &[("h", cpp::fitting::is_cpp, &cpp::CPP)];

type IsOther = fn(&[u8]) -> bool;

/// A file to what of it is code, of the same length.
type Code = fn(&[u8]) -> Vec<u8>;

/// Files of which a part alone is code, by extension.
const EMBEDDED: &[(&str, Code)] = &[("vue", typescript::vue::scripts)];

/// What of a file is parsed.
pub(crate) fn code_of<'b>(path: &str, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    let extension = path.rsplit_once('.').map_or("", |(_, it)| it);
    match EMBEDDED.iter().find(|(it, _)| *it == extension) {
        Some((_, code)) => Cow::Owned(code(bytes)),
        None => Cow::Borrowed(bytes),
    }
}

/// A language or project format and the paths it takes, for documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    pub name: &'static str,
    /// File name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// Whole file names.
    pub file_names: &'static [&'static str],
}

pub fn languages() -> Vec<Accepted> {
    let languages = LANGUAGES.iter().map(|it| Accepted {
        name: it.name,
        extensions: it.extensions,
        file_names: NAMED.iter().find(|(language, _)| *language == it.name).map_or(&[], |(_, names)| names),
    });
    let manifests =
        MANIFESTS.iter().map(|it| Accepted { name: it.name, extensions: &[], file_names: it.file_names });
    let formats = FORMATS.iter().map(|it| Accepted { name: it.name, extensions: &[], file_names: it.takes });
    languages.chain(manifests).chain(formats).collect()
}

/// The language or project format a path belongs to.
pub fn accepts(path: &str) -> Option<&'static str> {
    reader_of(path).map(Reader::name)
}

/// The grammar a path is parsed with: for measurements that parse and do nothing else.
pub fn grammar(path: &str) -> Option<tree_sitter::Language> {
    match reader_of(path)? {
        Reader::Language(language) => Some((language.grammar)()),
        Reader::Manifest(_) | Reader::Format(_) => None,
    }
}

/// The language of a file, where the path alone does not say.
pub(crate) fn reader_of_file(path: &str, bytes: &[u8]) -> Option<Reader> {
    let by_path = reader_of(path)?;
    let extension = path.rsplit('.').next().unwrap_or_default();
    let shared = SHARED.iter().find(|(it, _, _)| *it == extension);
    match (by_path, shared) {
        (Reader::Language(_), Some((_, is_other, other))) if is_other(bytes) => Some(Reader::Language(other)),
        _ => Some(by_path),
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Reader {
    Language(&'static Language),
    Manifest(&'static Manifests),
    Format(&'static Format),
}

impl Reader {
    fn name(self) -> &'static str {
        match self {
            Reader::Language(it) => it.name,
            Reader::Manifest(it) => it.name,
            Reader::Format(it) => it.name,
        }
    }
}

pub(crate) fn reader_of(path: &str) -> Option<Reader> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(manifest) = MANIFESTS.iter().find(|it| it.file_names.contains(&name)) {
        return Some(Reader::Manifest(manifest));
    }
    let named = NAMED.iter().find(|(_, names)| names.contains(&name)).map(|(language, _)| *language);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    LANGUAGES
        .iter()
        .find(|it| {
            named.map_or_else(
                || extension.is_some_and(|text| it.extensions.contains(&text)),
                |text| text == it.name,
            )
        })
        .map(|it| Reader::Language(it))
        .or_else(|| {
            let directory = path.rsplit_once('/').map_or("", |it| it.0);
            FORMATS.iter().find(|it| (it.accepts)(directory, name)).map(|it| Reader::Format(it))
        })
}
