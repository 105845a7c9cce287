//! YAML and JSON files that are known by what stands in them: one parse, then every format that fits reads the documents.

use super::yaml::{Id, Yaml};
use super::{
    Format, Sheet, ansible, cloudformation, compose, github_actions, gitlab_ci, helm, kubernetes, openapi,
    serverless, symfony,
};

pub(crate) const YAML: Format = Format {
    name: "yaml",
    accepts: |_, name| name.ends_with(".yml") || name.ends_with(".yaml"),
    takes: &["*.yml", "*.yaml"],
    read,
};

/// JSON is looked at where its name says that it may be a description of something.
pub(crate) const JSON: Format = Format {
    name: "json",
    accepts: |_, name| {
        let lower = name.to_ascii_lowercase();
        lower.ends_with(".json")
            && ["openapi", "swagger", "schema", "template", "cloudformation"]
                .iter()
                .any(|it| lower.contains(it))
    },
    takes: &["*openapi*.json", "*swagger*.json", "*schema*.json", "*template*.json"],
    read,
};

/// What a document can be, and who reads it then; more than one may fit.
struct Reader {
    /// Whether a file may hold such a document, from its path and its words: most files hold none, and are not parsed.
    may_be: fn(&Sheet<'_>) -> bool,
    is_it: fn(&Sheet<'_>, &Yaml, Id) -> bool,
    read: fn(&mut Sheet<'_>, &Yaml, Id),
}

const READERS: &[Reader] = &[
    Reader { may_be: ansible::may_be, is_it: ansible::is_it, read: ansible::read },
    Reader { may_be: cloudformation::may_be, is_it: cloudformation::is_it, read: cloudformation::read },
    Reader { may_be: compose::may_be, is_it: compose::is_it, read: compose::read },
    Reader { may_be: github_actions::may_be, is_it: github_actions::is_it, read: github_actions::read },
    Reader { may_be: gitlab_ci::may_be, is_it: gitlab_ci::is_it, read: gitlab_ci::read },
    Reader { may_be: helm::may_be, is_it: helm::is_it, read: helm::read },
    Reader { may_be: kubernetes::may_be, is_it: kubernetes::is_it, read: kubernetes::read },
    Reader { may_be: openapi::may_be, is_it: openapi::is_it, read: openapi::read },
    Reader { may_be: serverless::may_be, is_it: serverless::is_it, read: serverless::read },
    Reader { may_be: symfony::may_be, is_it: symfony::is_it, read: symfony::read },
];

/// Files up to this size, in bytes, are parsed whatever they may hold, to say where they are broken. Larger ones without a
/// known word are translations and other data.
const SMALL: usize = 16 << 10;

fn read(sheet: &mut Sheet<'_>) {
    let readers: Vec<&Reader> = READERS.iter().filter(|it| (it.may_be)(sheet)).collect();
    if !readers.is_empty() || sheet.text.len() <= SMALL {
        read_documents(sheet, &readers);
    }
    helm::read_values(sheet);
}

fn read_documents(sheet: &mut Sheet<'_>, readers: &[&Reader]) {
    let yaml = Yaml::parse(sheet.text);
    if let Some(line) = yaml.error {
        // An error at the end stands behind the last line.
        sheet.partial(line.min(sheet.facts.n_lines.max(1)));
    }
    if yaml.is_cut {
        sheet.partial_for(knowing_model::facts::PartialReason::TooManyNodes, None);
    }
    for document in &yaml.documents {
        for reader in readers {
            if (reader.is_it)(sheet, &yaml, *document) {
                (reader.read)(sheet, &yaml, *document);
            }
        }
    }
}
