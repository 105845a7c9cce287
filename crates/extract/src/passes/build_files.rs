//! Build files that are code: what they depend on.

use knowing_model::facts::Certainty;
use knowing_model::{EdgeKind, NodeKind};

use super::{Found, Pass};

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let file = pass.path.rsplit('/').next().unwrap_or_default();
    let (ecosystem, calls): (&str, &[&str]) = match file {
        "Gemfile" => ("gem", &["gem"]),
        "build.gradle.kts" => (
            "maven",
            &[
                "implementation",
                "api",
                "compileOnly",
                "runtimeOnly",
                "testImplementation",
                "kapt",
                "ksp",
                "annotationProcessor",
                "classpath",
            ],
        ),
        _ if file.ends_with(".gemspec") => {
            ("gem", &["add_dependency", "add_runtime_dependency", "add_development_dependency"])
        }
        _ => return,
    };
    for call in pass.facts.calls.iter().filter(|it| calls.contains(&pass.called(it))) {
        let args = pass.arguments(call.position);
        let Some(name) = pass.first_literal(&args) else { continue };
        // `group:artifact:version`.
        let name = match ecosystem {
            "maven" => name.split(':').take(2).collect::<Vec<_>>().join(":"),
            _ => name,
        };
        let to = (NodeKind::External, format!("{ecosystem}/{name}"));
        found.outside(None, EdgeKind::DependsOn, (to.0, &to.1, ""), Certainty::Declared, call.position);
    }
}
