//! GitHub Actions: workflows, their jobs, what jobs wait for, use and run.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    sheet.path.contains(".github/workflows/")
}

pub(super) fn is_it(_: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    yaml.get(document, "jobs").is_some_and(|it| yaml.is_map(it))
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    let file = sheet.path.rsplit('/').next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |it| it.0).to_owned();
    let title = yaml.text_at(document, &["name"]).unwrap_or(&stem).to_owned();
    let at = yaml.position(document);
    let workflow = sheet.declare(NodeKind::Workflow, &stem, at, yaml.last_line(document), &title);
    let Some(jobs) = yaml.get(document, "jobs") else { return };
    let named: Vec<(String, Id, Id)> =
        yaml.pairs(jobs).map(|(name, key, value)| (name.to_owned(), key, value)).collect();
    let mut decls = Vec::new();
    for (name, key, value) in &named {
        let signature = yaml.text_at(*value, &["name"]).unwrap_or(name).to_owned();
        let path = format!("{stem}.{name}");
        let decl =
            sheet.declare(NodeKind::Job, &path, yaml.position(*key), yaml.last_line(*value), &signature);
        if let (Some(workflow), Some(decl)) = (workflow, decl) {
            sheet.link(LinkEnd::Decl(workflow), EdgeKind::Contains, LinkEnd::Decl(decl), yaml.position(*key));
        }
        decls.push(decl);
    }
    for (at, (name, _, value)) in named.iter().enumerate() {
        let Some(decl) = decls[at] else { continue };
        let own = LinkEnd::Decl(decl);
        for (needed, position) in yaml.get(*value, "needs").map(|it| yaml.texts(it)).unwrap_or_default() {
            let target = named.iter().position(|it| it.0 == needed).and_then(|at| decls[at]);
            if let Some(target) = target {
                sheet.link(own, EdgeKind::DependsOn, LinkEnd::Decl(target), position);
            }
        }
        if let Some(uses) = yaml.get(*value, "uses") {
            used(sheet, yaml, own, uses);
        }
        let mut run = String::new();
        for step in yaml.get(*value, "steps").map(|it| yaml.list(it).to_vec()).unwrap_or_default() {
            if let Some(uses) = yaml.get(step, "uses") {
                used(sheet, yaml, own, uses);
            }
            if let Some(script) = yaml.get(step, "run")
                && let Some(text) = yaml.text(script)
            {
                sheet.processes(own, text, yaml.position(script));
                run.push_str(text);
                run.push('\n');
            }
        }
        for node in yaml.all(*value) {
            let Some(text) = yaml.text(node).filter(|it| it.contains("secrets.")) else { continue };
            for secret in text.split("secrets.").skip(1) {
                let name: String =
                    secret.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
                if !name.is_empty() {
                    let to = sheet.outside(NodeKind::EnvVar, "", &name);
                    sheet.link(own, EdgeKind::References, to, yaml.position(node));
                }
            }
        }
        purpose(sheet, own, name, &run, yaml.position(*value));
    }
}

/// Whether a job tests or deploys the repository: by what it runs, or by what it is called.
pub(super) fn purpose(
    sheet: &mut Sheet<'_>,
    job: LinkEnd,
    name: &str,
    run: &str,
    position: knowing_model::Position,
) {
    const TESTS: &[&str] = &[
        "pytest",
        "go test",
        "cargo test",
        "cargo nextest",
        "npm test",
        "npm run test",
        "yarn test",
        "pnpm test",
        "mvn test",
        "mvn verify",
        "gradle test",
        "gradlew test",
        "gradlew check",
        "dotnet test",
        "rspec",
        "rails test",
        "rake test",
        "phpunit",
        "tox",
        "ctest",
        "make test",
        "make check",
        "vitest",
        "jest",
    ];
    const DEPLOYS: &[&str] = &[
        "kubectl apply",
        "helm upgrade",
        "helm install",
        "terraform apply",
        "serverless deploy",
        "npm publish",
        "cargo publish",
        "twine upload",
        "docker push",
        "gem push",
        "dotnet nuget push",
        "fly deploy",
        "flyctl deploy",
        "gcloud run deploy",
        "make deploy",
    ];
    let top = LinkEnd::Directory(sheet.str("."));
    if TESTS.iter().any(|it| run.contains(it)) {
        sheet.link(top, EdgeKind::TestedBy, job, position);
    }
    let lower = name.to_ascii_lowercase();
    if DEPLOYS.iter().any(|it| run.contains(it))
        || lower.split(['-', '_', ' ', ':']).any(|it| matches!(it, "deploy" | "publish"))
    {
        sheet.link(top, EdgeKind::DeployedBy, job, position);
    }
}

fn used(sheet: &mut Sheet<'_>, yaml: &Yaml, own: LinkEnd, uses: Id) {
    let Some(text) = yaml.text(uses).map(str::to_owned) else { return };
    let position = yaml.position(uses);
    if let Some(local) = text.strip_prefix("./") {
        let path = if local.ends_with(".yml") || local.ends_with(".yaml") {
            local.to_owned()
        } else {
            format!("{local}/action.yml")
        };
        let to = LinkEnd::Path(sheet.str(&path));
        sheet.link(own, EdgeKind::References, to, position);
    } else if let Some(image) = text.strip_prefix("docker://") {
        let to = sheet.outside(NodeKind::Image, "", image);
        sheet.link(own, EdgeKind::DependsOn, to, position);
    } else {
        let name = text.split('@').next().unwrap_or_default();
        let to = sheet.outside(NodeKind::External, &format!("github-actions/{name}"), "");
        sheet.link(own, EdgeKind::DependsOn, to, position);
    }
}
