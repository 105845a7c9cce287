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

type Reader = (fn(&Sheet<'_>, &Yaml, Id) -> bool, fn(&mut Sheet<'_>, &Yaml, Id));

/// What a document can be, and who reads it then; more than one may fit.
const READERS: &[Reader] = &[
    (ansible::is_it, ansible::read),
    (cloudformation::is_it, cloudformation::read),
    (compose::is_it, compose::read),
    (github_actions::is_it, github_actions::read),
    (gitlab_ci::is_it, gitlab_ci::read),
    (helm::is_it, helm::read),
    (kubernetes::is_it, kubernetes::read),
    (openapi::is_it, openapi::read),
    (serverless::is_it, serverless::read),
    (symfony::is_it, symfony::read),
];

fn read(sheet: &mut Sheet<'_>) {
    let yaml = Yaml::parse(sheet.text);
    if let Some(line) = yaml.error {
        // An error at the end stands behind the last line.
        sheet.partial(line.min(sheet.facts.n_lines.max(1)));
    }
    if yaml.is_cut {
        sheet.partial_for(knowing_model::facts::PartialReason::TooManyNodes, None);
    }
    for document in &yaml.documents {
        for (is_it, read) in READERS {
            if is_it(sheet, &yaml, *document) {
                read(sheet, &yaml, *document);
            }
        }
    }
    helm::read_values(sheet);
}
