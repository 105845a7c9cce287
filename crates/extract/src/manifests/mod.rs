//! Project files: which packages there are, where their sources lie and what they depend on.

pub(crate) mod cargo;
pub(crate) mod composer;
pub(crate) mod gomod;
mod json;
pub(crate) mod node;
pub(crate) mod pyproject;
mod rest;
pub(crate) mod setup;
pub(crate) mod tsconfig;

use std::borrow::Cow;

use knowing_model::facts::{FileFacts, LinkEnd, Manifest, Partial, PartialReason};

use crate::engine::source::Source;
use crate::formats::{Sheet, packages};
use crate::limits::Limits;

pub(crate) struct Manifests {
    pub(crate) name: &'static str,
    pub(crate) file_names: &'static [&'static str],
    /// What the text states; the line of the first trouble when it cannot be understood.
    pub(crate) read: fn(&str) -> Result<Manifest, u32>,
}

impl Manifests {
    pub(crate) fn read(&self, path: &str, bytes: &[u8], limits: &Limits) -> FileFacts {
        let source = Source::new(bytes);
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let (manifest, readable, partial) = match (self.read)(text) {
            Ok(manifest) => (manifest, Cow::Borrowed(text), None),
            Err(line) => {
                let partial = Partial { reason: PartialReason::SyntaxError, line: Some(line) };
                let rest = self.rest(text);
                ((self.read)(&rest).unwrap_or_default(), Cow::Owned(rest), Some(partial))
            }
        };
        let mut sheet = Sheet::new(path, text, limits);
        self.depends(&mut sheet, &manifest, &readable);
        FileFacts {
            language: self.name.to_owned(),
            n_lines: source.n_lines(),
            manifest: Some(manifest),
            partial,
            is_private: false,
            ..sheet.finish()
        }
    }

    /// What can be read of a broken text; nothing of one whose parts cannot be told apart.
    fn rest(&self, text: &str) -> String {
        let trouble = |it: &str| (self.read)(it).err();
        let left = match self.name {
            "gomod" | "gowork" => rest::of_lines(text, &trouble),
            "cargo" | "pyproject" => rest::of_toml(text, &trouble),
            "package_json" | "lerna" | "composer" | "tsconfig" => Some(rest::of_json(text)),
            _ => None,
        };
        left.unwrap_or_default()
    }

    /// Packages that are asked for, and scripts that can be run.
    fn depends(&self, sheet: &mut Sheet<'_>, manifest: &Manifest, readable: &str) {
        let ecosystem = match self.name {
            "cargo" => "cargo",
            "composer" => "composer",
            "gomod" => "go",
            "package_json" => "npm",
            "pyproject" | "setup_cfg" => "pypi",
            _ => return,
        };
        for it in &manifest.dependencies {
            if it.path.is_some() || it.from_workspace {
                continue;
            }
            let name = it.package.as_deref().unwrap_or(&it.name);
            let offset = memchr::memmem::find(sheet.text.as_bytes(), it.name.as_bytes()).unwrap_or(0);
            let position = sheet.position(offset);
            let version = it.version.as_deref().unwrap_or_default();
            packages::depends(sheet, LinkEnd::File, ecosystem, name, version, position);
        }
        if self.name == "package_json" {
            node::scripts(sheet, readable);
        }
    }
}

/// The line of a byte offset.
fn line_of(text: &str, offset: usize) -> u32 {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    u32::try_from(before.iter().filter(|&&it| it == b'\n').count() + 1).unwrap_or(u32::MAX)
}

/// A TOML text, or the line of what is wrong with it.
fn parse_toml(text: &str) -> Result<toml::Table, u32> {
    text.parse::<toml::Table>().map_err(|error| error.span().map_or(1, |span| line_of(text, span.start)))
}

/// A list of texts; anything else in it is left out.
fn strings(value: Option<&toml::Value>) -> Vec<String> {
    let array = value.and_then(toml::Value::as_array);
    array.into_iter().flatten().filter_map(toml::Value::as_str).map(str::to_owned).collect()
}
