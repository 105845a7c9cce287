//! More than code: routes, owners, configuration, and that no secret is kept.

use knowing_testkit::Fixture;

use crate::session::Session;

fn service() -> Fixture {
    Fixture::from_text(
        "\
//- /app/main.py
from fastapi import FastAPI
from app import users
app = FastAPI()
app.include_router(users.router, prefix=\"/v1\")
//- /app/users.py
from fastapi import APIRouter
router = APIRouter(prefix=\"/users\")

@router.get(\"/{user_id}\")
async def read(user_id: int):
    return user_id

def computed():
    return \"/x\"

@router.post(computed())
async def make(): ...
//- /web/api.ts
export async function load(id: string) {
  return fetch(`/v1/users/${id}`);
}
//- /CODEOWNERS
* @acme/all
/app/ @acme/api
//- /.env
DATABASE_URL=postgres://admin:hunter2secret@db/x
//- /docker-compose.yml
services:
  web:
    build: .
    environment:
      API_PASSWORD: hunter2secret
//- /deploy/secret.yaml
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {token: hunter2secret}
//- /broken.yaml
a: [1
",
    )
}

#[test]
fn x3_routes_are_listed_with_handlers_and_callers() {
    let session = Session::new();
    let repo = service();
    repo.commit("service");
    session.index(&repo);
    let answer = session.json(repo.path(), &["routes"]);
    assert_eq!(answer["total"], 1, "{answer}");
    assert_eq!(answer["n_computed"], 1);
    let route = &answer["routes"][0];
    assert_eq!((&route["method"], &route["pattern"]), (&"GET".into(), &"/v1/users/{user_id}".into()));
    assert_eq!(route["handlers"][0]["name"], "read");
    assert_eq!(route["callers"][0]["name"], "load");
    for (arguments, total) in [
        (&["--method", "post"][..], 0),
        (&["--path", "/v1/users/7"][..], 1),
        (&["--path", "/nothing"][..], 0),
    ] {
        let answer = session.json(repo.path(), &[&["routes"], arguments].concat());
        assert_eq!(answer["total"], total, "{arguments:?}");
    }
    // A prefix that changes in one file changes the routes of the other.
    let main = String::from_utf8(repo.read("app/main.py")).unwrap().replace("/v1", "/v2");
    repo.write("app/main.py", &main);
    repo.commit("second version");
    session.index(&repo);
    let answer = session.json(repo.path(), &["routes"]);
    assert_eq!(answer["routes"][0]["pattern"], "/v2/users/{user_id}");
    assert_eq!(answer["routes"][0]["callers"].as_array().map(Vec::len), Some(0));
    assert!(session.text(repo.path(), &["routes"]).contains("GET /v2/users/{user_id} -> app/users.py.read"));
}

#[test]
fn x2_a_package_from_outside_shows_the_versions_that_are_asked_for() {
    let session = Session::new();
    let repo = Fixture::from_text(
        r#"
//- /package.json
{"name": "web", "dependencies": {"react": "^18.2.0"}}
//- /admin/package.json
{"name": "admin", "dependencies": {"react": "^18.2.0"}}
//- /Cargo.toml
[workspace.dependencies]
serde = { version = "1.0.200", features = ["derive"] }
"#,
    );
    repo.commit("one version");
    session.index(&repo);
    let signature = |package: &str| {
        let answer = session.json(repo.path(), &["query", package, "--detail", "signature"]);
        answer["symbols"][0]["signature"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(signature("external://npm/react"), "^18.2.0");
    assert_eq!(signature("external://cargo/serde"), "1.0.200");
    repo.write("admin/package.json", r#"{"name": "admin", "dependencies": {"react": "^17.0.2"}}"#);
    repo.commit("two versions");
    session.index(&repo);
    assert_eq!(signature("external://npm/react"), "^17.0.2 (admin/package.json), ^18.2.0 (package.json)");
}

#[test]
fn the_last_rule_that_fits_says_who_owns_a_file() {
    let session = Session::new();
    let repo = service();
    repo.commit("service");
    session.index(&repo);
    for (of, owner) in [("app/main.py", "@acme/api"), ("web/api.ts", "@acme/all"), ("load", "@acme/all")] {
        let answer = session.json(repo.path(), &["owners", of]);
        assert_eq!(answer["owners"][0], owner, "{of}: {answer}");
    }
}

#[test]
fn x6_no_value_of_a_secret_is_anywhere() {
    let session = Session::new();
    let repo = service();
    repo.commit("service");
    session.index(&repo);
    let export = session.text(repo.path(), &["export"]);
    assert!(
        export.contains("DATABASE_URL") && export.contains("API_PASSWORD") && export.contains("Secret/keys")
    );
    assert!(!export.contains("hunter2secret"));
    let mut open = vec![session.data()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                let found = bytes.windows(13).any(|it| it.eq_ignore_ascii_case(b"hunter2secret"));
                assert!(!found, "{}", path.display());
            }
        }
    }
    session.error(repo.path(), &["query", "hunter2secret"], 1, "not_found");
}
