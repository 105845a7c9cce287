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
        // `group:artifact:version`; `gem "name", ">= 1", "< 3"`.
        let (name, version) = match ecosystem {
            "maven" => {
                let version = name.split(':').nth(2).unwrap_or_default().to_owned();
                (name.split(':').take(2).collect::<Vec<_>>().join(":"), version)
            }
            _ => {
                let rest = args.iter().filter(|it| it.name.is_none()).skip(1);
                (name, rest.map_while(|it| pass.literal(it)).collect::<Vec<_>>().join(", "))
            }
        };
        let package = format!("{ecosystem}/{name}");
        let to = (NodeKind::External, package.as_str(), "");
        found.outside(None, EdgeKind::DependsOn, to, Certainty::Declared, call.position);
        if !version.is_empty() {
            found.versions.push((package, version));
        }
    }
}
