//! Helm: charts, the values they are given; templates are read as Kubernetes.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn is_it(sheet: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    let name = sheet.path.rsplit('/').next().unwrap_or_default();
    name == "Chart.yaml" && yaml.get(document, "name").is_some()
        || (name == "values.yaml" || name.starts_with("values-") || name.starts_with("values."))
            && yaml.is_map(document)
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    if !sheet.path.ends_with("Chart.yaml") {
        values(sheet, yaml, document);
        return;
    }
    let Some(name) = yaml.get(document, "name") else { return };
    let text = yaml.text(name).unwrap_or_default().to_owned();
    let version = yaml.text_at(document, &["version"]).unwrap_or_default();
    let signature = format!("chart {text} {version}");
    let Some(decl) =
        sheet.declare(NodeKind::Package, &text, yaml.position(name), yaml.last_line(document), &signature)
    else {
        return;
    };
    sheet.offer("helm-chart", &text, decl);
    for dependency in yaml.get(document, "dependencies").map(|it| yaml.list(it).to_vec()).unwrap_or_default()
    {
        let Some(name) = yaml.get(dependency, "name") else { continue };
        let text = yaml.text(name).unwrap_or_default();
        let repository = yaml.text_at(dependency, &["repository"]).unwrap_or_default();
        let to = match repository
            .strip_prefix("file://")
            .and_then(|it| sheet.relative(&format!("{it}/Chart.yaml")))
        {
            Some(path) => LinkEnd::Path(sheet.str(&path)),
            None => sheet.outside(NodeKind::External, &format!("helm/{text}"), ""),
        };
        sheet.link(LinkEnd::Decl(decl), EdgeKind::DependsOn, to, yaml.position(name));
    }
}

/// Names of values, two levels deep; what they are set to is not kept.
fn values(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    let pairs: Vec<(String, Id, Id)> =
        yaml.pairs(document).map(|(name, key, value)| (name.to_owned(), key, value)).collect();
    for (name, key, value) in pairs {
        let last = yaml.last_line(value);
        sheet.declare(NodeKind::Var, &name, yaml.position(key), last, &name);
        let inner: Vec<(String, Id)> =
            yaml.pairs(value).map(|(name, key, _)| (name.to_owned(), key)).collect();
        for (below, key) in inner {
            let path = format!("{name}.{below}");
            sheet.declare(NodeKind::Var, &path, yaml.position(key), 0, &path);
        }
    }
    if let Some(chart) = sheet.path_end("Chart.yaml") {
        sheet.link(
            LinkEnd::File,
            EdgeKind::Configures,
            chart,
            knowing_model::Position { line: 1, column: 0 },
        );
    }
}
