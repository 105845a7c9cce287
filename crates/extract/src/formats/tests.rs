//! Bad input of every format: what is wrong is said with its line, and the rest is kept.

use std::collections::BTreeSet;

use knowing_model::facts::{FileFacts, PartialReason};

use crate::extractor::extract;
use crate::registry::{FORMATS, MANIFESTS, accepts};

/// Row of the table of formats, path, text, line of the first trouble (0: none is seen), and what has to be kept: names of
/// declarations, of what is offered, of what relations lead to, of dependencies.
const BROKEN: &[(&str, &str, &str, u32, &[&str])] = &[
    (
        "protobuf",
        "a.proto",
        "syntax = \"proto3\";\nmessage Cart { string id = 1; }\nmessage Broken {\n  string name = ;\n  int32 \nservice Shop { rpc Open(Cart) returns (Cart); }\n",
        3,
        &["Cart", "Shop.Open"],
    ),
    (
        "graphql",
        "a.graphql",
        "type Cart { id: ID! }\ntype Broken {\n  name: \ntype Late { id: ID! }\n",
        2,
        &["Cart", "Late.id"],
    ),
    (
        "openapi",
        "openapi.yaml",
        "openapi: 3.0.0\npaths:\n  /carts:\n    get:\n      operationId: list\n    post: {a: [\n  /late:\n    get: {}\n",
        7,
        &["GET /carts"],
    ),
    (
        "openapi",
        "openapi.json",
        "{\n \"openapi\": \"3.0.0\",\n \"paths\": {\n  \"/carts\": { \"get\": { \"operationId\": \"list\" } },\n  \"/broken\": { \"get\": { ]\n",
        5,
        &["GET /carts"],
    ),
    (
        "terraform",
        "a.tf",
        "variable \"region\" {}\nresource \"aws_s3_bucket\" \"b\" {\n  bucket = \"x\"\nvariable \"late\" {}\n",
        2,
        &["var.region", "aws_s3_bucket.b", "var.late"],
    ),
    (
        "sql",
        "a.sql",
        "CREATE TABLE users (id int);\nCREATE TABLE ;\nCREATE TABLE carts (id int, user_id int REFERENCES users(id));\n",
        2,
        &["users", "carts"],
    ),
    (
        "kubernetes",
        "k.yaml",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec: {}\n---\napiVersion: v1\nkind: [\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: late\n",
        9,
        &["web", "late"],
    ),
    (
        "kubernetes",
        "tabs.yaml",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n---\napiVersion: v1\nkind: Service\nmetadata:\n\tname: tab\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: late\n",
        9,
        &["web", "late"],
    ),
    (
        "helm",
        "chart/templates/web.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}-web\n{{- if .Values.on }}\n  labels: {a: b}\n{{- end }}\nspec:\n  replicas: {{ .Values.replicas | default 1 }}\n",
        0,
        &["{{.Release.Name}}-web"],
    ),
    (
        "helm",
        "chart/Chart.yaml",
        "apiVersion: v2\nname: shop\ndependencies:\n  - name: redis\n    version: [\n",
        5,
        &["shop"],
    ),
    (
        "cloudformation",
        "template.yaml",
        "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Queue:\n    Type: AWS::SQS::Queue\n  Broken:\n    Type: {a: [\n",
        6,
        &["Queue"],
    ),
    (
        "serverless",
        "serverless.yml",
        "service: shop\nprovider:\n  name: aws\nfunctions:\n  list:\n    handler: src/list.handler\n    events:\n      - http: GET /carts\n  broken: {handler: [\n",
        9,
        &["list"],
    ),
    (
        "compose",
        "docker-compose.yml",
        "services:\n  web:\n    image: web\n    depends_on: [db]\n  db:\n    image: postgres\n  broken: {image: [\n",
        7,
        &["web", "db"],
    ),
    (
        "github_actions",
        ".github/workflows/ci.yml",
        "name: CI\non: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make test\n  broken: {steps: [\n",
        8,
        &["test"],
    ),
    (
        "gitlab_ci",
        ".gitlab-ci.yml",
        "test:\n  image: ruby\n  script: rake\nbroken: {script: [\n",
        4,
        &["test"],
    ),
    (
        "dockerfile",
        "Dockerfile",
        "FROM debian AS base\nRUN <<EOF\nmake all\nFROM nothing\nEOF\nNONSENSE x\nFROM base AS late\nCMD [\"serve\"]\n",
        6,
        &["base", "late"],
    ),
    (
        "dockerfile",
        "Dockerfile",
        "FROM debian AS base\nCOPY <<A <<-\"B\" /etc/\nFROM one\nA\nFROM two\n\tB\nFROM base AS late\nRUN <<EOF\nFROM three\n",
        9,
        &["base", "late"],
    ),
    (
        "make",
        "Makefile",
        "all: build\n\nbuild:\n\tcc a.c\n\n: broken\n\nlate:\n\techo x\n",
        6,
        &["all", "build", "late"],
    ),
    ("css", "a.css", ".cart { color: red; }\n.broken { color: \n", 2, &[".cart"]),
    (
        "package_json",
        "package.json",
        "{ \"name\": \"shop\",\n \"dependencies\": { \"left\": \"1\" },,\n}\n",
        3,
        &[],
    ),
    ("cargo", "Cargo.toml", "[package]\nname = \"shop\"\n[dependencies\nserde = \"1\"\n", 3, &[]),
    (
        "go_mod",
        "go.mod",
        "module example.com/shop\n\nrequire (\n\tgithub.com/a/b v1.0.0\n\t???\n",
        5,
        &["github.com/a/b"],
    ),
    ("pyproject", "pyproject.toml", "[project]\nname = \"shop\"\ndependencies = [\"a\"\n[x]\n", 4, &[]),
    (
        "requirements",
        "requirements.txt",
        "django==5\n-e ???\n@@@\nflask\n",
        3,
        &["pypi/django", "pypi/flask"],
    ),
    (
        "maven",
        "pom.xml",
        "<project>\n<artifactId>shop</artifactId>\n<dependencies><dependency><groupId>a</groupId><artifactId>b</artifactId></dependency>\n</project>\n",
        4,
        &["shop", "maven/a:b"],
    ),
    (
        "gradle",
        "build.gradle",
        "dependencies {\n    implementation 'org.slf4j:slf4j-api\n    api 'a:b:1'\n}\n",
        2,
        &["maven/a:b"],
    ),
    (
        "dotnet",
        "Shop.csproj",
        "<Project>\n<ItemGroup><PackageReference Include=\"Dapper\" />\n<Broken\n",
        3,
        &["Shop", "nuget/Dapper"],
    ),
    ("composer", "composer.json", "{ \"name\": \"a/b\", \"require\": { \"c/d\": \"1\" }\n", 2, &[]),
    ("ruby", "Gemfile", "gem \"rails\"\ngem \"puma\", (\ngem \"pg\"\n", 2, &["gem/rails"]),
    ("dotenv", ".env", "KEY=secret\nnot a line\nLATE=1\n", 2, &["KEY", "LATE"]),
    ("codeowners", "CODEOWNERS", "*.py @a/team\n[broken @b\n/docs @c/docs\n", 2, &["@a/team", "@c/docs"]),
    (
        "codeowners",
        "CODEOWNERS",
        "*.py @a/team\n!no.py @b\n/a[b @b\n/docs @c/docs\n",
        2,
        &["@a/team", "@c/docs"],
    ),
    ("markdown", "a.md", "# Guide\n\n```python\nunclosed\n\n## Not a heading\n", 6, &["Guide"]),
    ("rst", "a.rst", "Guide\n=====\n\n.. code-block:: python\n\n   x\n\nLate\n----\n", 0, &["Guide"]),
    ("asciidoc", "a.adoc", "= Guide\n\n----\nunclosed\n\n== Not a heading\n", 0, &["Guide"]),
    (
        "ansible",
        "playbooks/site.yml",
        "- hosts: web\n  tasks:\n    - name: Install\n      apt: {name: nginx}\n- hosts: [\n",
        5,
        &["web"],
    ),
];

/// All names that facts speak of.
fn names(facts: &FileFacts) -> BTreeSet<String> {
    facts.strings.iter().map(str::to_owned).collect()
}

fn has(names: &BTreeSet<String>, wanted: &str) -> bool {
    names
        .iter()
        .any(|it| it == wanted || it.ends_with(&format!(".{wanted}")) || it.ends_with(&format!("/{wanted}")))
}

#[test]
fn x2_every_format_says_where_it_is_broken_and_keeps_the_rest() {
    let mut wrong = Vec::new();
    for (format, path, text, line, kept) in BROKEN {
        let facts = extract(path, text.as_bytes());
        let partial = facts.partial.as_ref().map(|it| (it.reason, it.line.unwrap_or(0)));
        let expected = (*line > 0).then_some((PartialReason::SyntaxError, *line));
        let mut names = names(&facts);
        let manifest = facts.manifest.iter().flat_map(|it| &it.dependencies).map(|it| it.name.clone());
        names.extend(manifest);
        let lost: Vec<&&str> = kept.iter().filter(|it| !has(&names, it)).collect();
        if partial != expected || !lost.is_empty() {
            wrong.push(format!("{format} {path}: {partial:?}, not {expected:?}; lost {lost:?} of {names:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn x2_every_reader_of_formats_has_a_broken_case() {
    let read: BTreeSet<&str> = BROKEN.iter().filter_map(|it| accepts(it.1)).collect();
    // Relatives of others that have one: the same reader, or no more than a list of directories.
    const ALIKE: &[&str] = &["gowork", "lerna", "pnpm_workspace", "setup_cfg", "tsconfig"];
    let all = FORMATS.iter().map(|it| it.name).chain(MANIFESTS.iter().map(|it| it.name));
    let missing: Vec<&str> = all.filter(|it| !read.contains(it) && !ALIKE.contains(it)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn x2_a_billion_laughs_and_merge_keys_are_no_trouble() {
    let mut laughs = "a0: &a0 [lol]\n".to_owned();
    for at in 1..64 {
        let before = at - 1;
        laughs.push_str(&format!("a{at}: &a{at} [{}]\n", vec![format!("*a{before}"); 9].join(", ")));
    }
    let merged = "x: &base\n  image: web\nservices:\n  a:\n    <<: *base\n    depends_on: [b]\n  b:\n    <<: [*base, *gone]\n";
    let facts =
        extract("docker-compose.yml", format!("{laughs}services:\n  web:\n    image: *a63\n").as_bytes());
    assert!(has(&names(&facts), "web"));
    let facts = extract("docker-compose.yml", merged.as_bytes());
    assert!(has(&names(&facts), "a"));
    let many: String = (0..40_000).map(|it| format!("- &a{it} x\n- *a0\n")).collect();
    assert_eq!(extract("many.yaml", many.as_bytes()).partial, None);
}

#[test]
fn x2_a_key_that_is_there_twice_loses_nothing() {
    let text = "services:\n  web:\n    image: a\n  web:\n    image: b\n  db:\n    image: c\n";
    let facts = extract("compose.yaml", text.as_bytes());
    assert!(has(&names(&facts), "web") && has(&names(&facts), "db"), "{:?}", names(&facts));
}

#[test]
fn x2_a_dump_of_a_hundred_thousand_lines_is_read() {
    let mut dump = "CREATE TABLE users (id int);\n".to_owned();
    dump.push_str(&"INSERT INTO users VALUES (1);\n".repeat(60_000));
    dump.push_str("CREATE TABLE carts (id int);\n");
    let facts = extract("dump.sql", dump.as_bytes());
    assert!(has(&names(&facts), "users") && has(&names(&facts), "carts"));
    assert_eq!((facts.partial.clone(), facts.n_lines), (None, 60_002));
}

#[test]
fn x2_rows_of_a_large_dump_do_not_hide_what_follows() {
    let sized = |line: &str| line.repeat((8 << 20) / line.len());
    let inserted =
        sized("INSERT INTO users VALUES\n (1, 'a; ''b'''),\n (2, 'it\\'s; \nCREATE TABLE no (id int);');\n");
    let copied = sized("1\tit's; CREATE TABLE no (id int);\n");
    let dump = format!(
        "CREATE TABLE users (id int);\n{inserted}CREATE TABLE carts (id int);\n\
         INSERT INTO carts SELECT id FROM users;\nCOPY public.carts (id) FROM stdin;\n{copied}\\.\n\
         ALTER TABLE carts ADD FOREIGN KEY (id) REFERENCES users (id);\nCREATE TABLE late (id int);\n"
    );
    let facts = extract("dump.sql", dump.as_bytes());
    let tables: Vec<(&str, u32)> = facts
        .decls
        .iter()
        .filter(|it| it.kind == knowing_model::NodeKind::Table)
        .map(|it| (facts.text(it.name), it.span.first_line))
        .collect();
    let n_lines = dump.lines().count() as u32;
    let first = inserted.lines().count() as u32 + 2;
    assert_eq!(tables, [("users", 1), ("carts", first), ("late", n_lines)]);
    assert_eq!((facts.partial.clone(), facts.n_lines), (None, n_lines));
}

#[test]
fn x2_quotes_of_both_dialects_of_sql_end_texts() {
    let text = "INSERT INTO a VALUES ('it\\'s', 'C:\\', 'x');\nCREATE TABLE late (id int);\n";
    let facts = extract("a.sql", text.as_bytes());
    assert!(has(&names(&facts), "late") && facts.partial.is_none());
}

#[test]
fn x2_small_yaml_of_no_known_kind_is_said_to_be_broken() {
    let line = |text: &str| extract("data.yml", text.as_bytes()).partial.and_then(|it| it.line);
    assert_eq!(line("a: 1\nb: 2\n"), None);
    assert_eq!(line("a: 1\nb: [1, 2\nc: 3\n"), Some(3));
    assert!(line("a: 1\n\tb: 2\n").is_some());
}

#[test]
fn x2_of_a_file_that_is_too_large_the_begin_is_read() {
    let sized = |line: &str| line.repeat((20 << 20) / line.len());
    let reason = |facts: &FileFacts| facts.partial.as_ref().map(|it| it.reason);
    let views = sized("CREATE VIEW v AS SELECT id FROM users;\n");
    let dump = format!("CREATE TABLE users (id int);\n{views}CREATE TABLE late (id int);\n");
    let facts = extract("dump.sql", dump.as_bytes());
    assert_eq!(reason(&facts), Some(PartialReason::TooLarge));
    let line = facts.partial.as_ref().and_then(|it| it.line).unwrap();
    assert!((50_000..60_000).contains(&line), "{line}: where reading ended");
    assert!(has(&names(&facts), "users") && !has(&names(&facts), "late"));

    let service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n---\n";
    let facts = extract("all.yaml", sized(service).as_bytes());
    assert_eq!(reason(&facts), Some(PartialReason::TooLarge));
    assert!(facts.decls.len() > 1_000 && has(&names(&facts), "web"), "whole documents are read");

    let schema = format!("openapi: 3.0.0\npaths:\n{}", sized("  /a:\n    get: {}\n"));
    let facts = extract("openapi.yaml", schema.as_bytes());
    assert_eq!(
        (reason(&facts), facts.decls.len(), facts.routes.len()),
        (Some(PartialReason::TooLarge), 0, 0)
    );
}
