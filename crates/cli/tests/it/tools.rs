//! Ways, tests, dataflow, packages, plans and pages: on one shop in four languages, with what is true written down.

use std::collections::BTreeSet;

use knowing_testkit::Fixture;
use serde_json::{Map, Value, json};

use crate::mcp::{answer, call, converse};
use crate::session::Session;

const SHOP: &str = r#"
//- /go.mod
module example.com/shop

go 1.22
//- /gocart/cart.go
package gocart

func PriceGo(n int) int { return n }

func TotalGo(n int) int { return PriceGo(n) + 1 }

func CheckoutGo(n int) int { return TotalGo(n) }

func LonelyGo() int { return 1 }
//- /gocart/cart_test.go
package gocart

import "testing"

func TestCheckoutGo(t *testing.T) { CheckoutGo(1) }

func TestOtherGo(t *testing.T) { t.Log("nothing") }
//- /pycart/__init__.py
//- /pycart/cart.py
def price_py(n):
    return n


def total_py(n):
    return price_py(n) + 1


def checkout_py(n):
    return total_py(n)


def lonely_py():
    return 1
//- /tests/test_cart.py
from pycart.cart import checkout_py


class TestCart:
    def test_checkout_py(self):
        assert checkout_py(1) == 2


def test_other_py():
    assert True
//- /tscart/package.json
{"name": "tscart", "devDependencies": {"vitest": "^1.0.0"}}
//- /tscart/src/cart.ts
export function priceTs(n: number): number { return n; }

export function totalTs(n: number): number { return priceTs(n) + 1; }

export function checkoutTs(n: number): number { return totalTs(n); }

export function lonelyTs(): number { return 1; }
//- /tscart/src/cart.test.ts
import { describe, it } from "vitest";
import { checkoutTs } from "./cart";

describe("cart", () => {
  it("checks out (ts)", () => { checkoutTs(1); });
});

describe("other", () => {
  it("does nothing", () => {});
});
//- /javacart/pom.xml
<project></project>
//- /javacart/src/main/java/com/shop/Cart.java
package com.shop;

public class Cart {
    public int priceJava(int n) { return n; }

    public int totalJava(int n) { return priceJava(n) + 1; }

    public int checkoutJava(int n) { return totalJava(n); }

    public int lonelyJava() { return 1; }
}
//- /javacart/src/test/java/com/shop/CartTest.java
package com.shop;

import org.junit.jupiter.api.Test;

class CartTest {
    @Test
    void checksOutJava() { new Cart().checkoutJava(1); }

    @Test
    void otherJava() { }
}
"#;

fn shop() -> Fixture {
    let fixture = Fixture::from_text(SHOP.trim_start());
    fixture.commit("a shop in four languages");
    fixture
}

const LANGUAGES: [(&str, [&str; 4], &str, &str); 4] = [
    (
        "gocart/cart.go",
        ["CheckoutGo", "TotalGo", "PriceGo", "LonelyGo"],
        "TestCheckoutGo",
        "go test ./gocart -run '^(TestCheckoutGo)$'",
    ),
    (
        "pycart/cart.py",
        ["checkout_py", "total_py", "price_py", "lonely_py"],
        "test_checkout_py",
        "python -m pytest tests/test_cart.py::TestCart::test_checkout_py",
    ),
    (
        "tscart/src/cart.ts",
        ["checkoutTs", "totalTs", "priceTs", "lonelyTs"],
        "checks out (ts)",
        r"(cd tscart && npx vitest run src/cart.test.ts -t 'checks out \(ts\)')",
    ),
    (
        "javacart/src/main/java/com/shop/Cart.java",
        ["checkoutJava", "totalJava", "priceJava", "lonelyJava"],
        "checksOutJava",
        "mvn -pl javacart test -Dtest='CartTest#checksOutJava'",
    ),
];

fn last_names(steps: &Value) -> Vec<String> {
    let last = |it: &Value| it["symbol"].as_str().unwrap().rsplit(['.', '/']).next().unwrap().to_owned();
    steps.as_array().unwrap().iter().map(last).collect()
}

pub(crate) fn names(list: &Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn flows_lead_from_one_symbol_to_another_in_four_languages() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for (_, [checkout, total, price, lonely], _, _) in LANGUAGES {
        let found = session.json(repo.path(), &["flow", checkout, price]);
        assert_eq!((&found["reachable"], &found["total"]), (&json!(true), &json!(1)), "{found}");
        assert_eq!(last_names(&found["paths"][0]["steps"]), [checkout, total, price]);
        assert_eq!(found["paths"][0]["steps"][1]["kind"], "calls");
        let near = session.json(repo.path(), &["flow-between", checkout, price, "--depth", "1"]);
        assert_eq!((&near["reachable"], &near["truncated"]), (&json!(false), &json!(false)));
        let back = session.json(repo.path(), &["flow", price, checkout]);
        assert_eq!((&back["reachable"], &back["paths"]), (&json!(false), &json!([])));
        let none = session.text(repo.path(), &["flow", checkout, lonely]);
        assert!(none.starts_with("no path from "), "{none}");
    }
}

#[test]
fn data_flows_along_calls_in_four_languages() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for (_, [checkout, total, price, _], _, _) in LANGUAGES {
        let found = session.json(repo.path(), &["dataflow", checkout]);
        let reached = names(&found["reached"]);
        assert!(reached.contains(total) && reached.contains(price), "{reached:?}");
        assert_eq!(found["reached"][0]["path"][0]["kind"], "calls");
        let near = session.json(repo.path(), &["trace-dataflow", checkout, "--depth", "1"]);
        assert_eq!(names(&near["reached"]), BTreeSet::from([total.to_owned()]));
    }
}

#[test]
fn a3_the_tests_of_a_changed_file_and_how_to_run_them() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for (file, _, test, command) in LANGUAGES {
        let found = session.json(repo.path(), &["test-scope", "--files", file, "--output", "functions"]);
        assert_eq!(found["functions"][0]["name"], test, "{file}: the test that calls it comes first");
        assert_eq!(found["uncovered"], json!([]));
        let reaching = ["test-scope", "--files", file, "--evidence", "calls,name"];
        let found = session.json(repo.path(), &[&reaching[..], &["--output", "functions"]].concat());
        assert_eq!(names(&found["functions"]), BTreeSet::from([test.to_owned()]));
        let run = session.json(repo.path(), &[&reaching[..], &["--output", "run"]].concat());
        assert_eq!(run["run"][0]["command"], command);
        let packages = session.json(repo.path(), &["test-scope", "--files", file]);
        assert_eq!(packages["packages"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a3_changed_lines_select_only_tests_that_reach_them() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let cart = std::fs::read_to_string(repo.path().join("pycart/cart.py")).unwrap();
    repo.write(
        "pycart/cart.py",
        &cart.replace("def lonely_py():\n    return 1", "def lonely_py():\n    return 2"),
    );
    // Not committed: the line of a function that no test reaches.
    let reaching = ["test-scope", "--evidence", "calls,name", "--output", "functions"];
    let found = session.json(repo.path(), &reaching);
    assert_eq!((&found["functions"], &found["uncovered"]), (&json!([]), &json!(["pycart/cart.py"])));
    repo.write("pycart/cart.py", &cart.replace("    return n\n", "    return n + 0\n"));
    let found = session.json(repo.path(), &reaching);
    assert_eq!(names(&found["functions"]), BTreeSet::from(["test_checkout_py".to_owned()]));
    assert_eq!(found["functions"][0]["depth"], 3);
    repo.commit("another price");
    let since = session.json(repo.path(), &[&reaching[..], &["--base", "HEAD~1"]].concat());
    assert_eq!(since["functions"], found["functions"]);
    let near = session
        .json(repo.path(), &["test-scope", "--base", "HEAD~1", "--depth", "1", "--evidence", "calls,name"]);
    assert_eq!((&near["total"], &near["uncovered"]), (&json!(0), &json!(["pycart/cart.py"])));
    session.error(repo.path(), &["test-scope"], 2, "usage");
    session.error(repo.path(), &["test-scope", "--files", "no/such/file.py"], 1, "not_found");
    session.error(repo.path(), &["test-scope", "--base", "no-such-revision"], 1, "not_found");
}

#[test]
fn the_repository_from_above_counts_what_joins_its_parts() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let found = session.json(repo.path(), &["repo-graph", "--edge-kinds", "calls"]);
    let items = found["items"].as_array().unwrap();
    let item = |name: &str| {
        items.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name}: {items:?}"))
    };
    assert_eq!((&item("gocart")["files"], &item("pycart")["files"]), (&json!(2), &json!(2)));
    let link = json!({"source": "tests", "target": "pycart", "kind": "calls", "count": 1});
    assert!(found["links"].as_array().unwrap().contains(&link), "{found}");
    let files = session.json(repo.path(), &["repo-graph", "--level", "files", "--package", "tscart"]);
    let link = json!({"source": "tscart/src/cart.test.ts", "target": "tscart/src/cart.ts", "kind": "calls", "count": 1});
    assert!(files["links"].as_array().unwrap().contains(&link), "{files}");
    let symbols = session.json(
        repo.path(),
        &["repo-graph", "--level", "symbols", "--package", "javacart", "--edge-kinds", "calls"],
    );
    let link = |it: &Value| {
        it["source"].as_str().unwrap().ends_with("checkoutJava")
            && it["target"].as_str().unwrap().ends_with("totalJava")
    };
    assert!(symbols["links"].as_array().unwrap().iter().any(link), "{symbols}");
    session.error(repo.path(), &["repo-graph", "--package", "nowhere"], 1, "not_found");
}

#[test]
fn what_is_stale_is_told_and_not_mended() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let ran = session.run(repo.path(), &["stale"]);
    assert_eq!((ran.code, ran.stdout.starts_with("nothing differs")), (0, true), "{}", ran.stdout);
    let cart = std::fs::read_to_string(repo.path().join("pycart/cart.py")).unwrap();
    repo.write("pycart/cart.py", &format!("{cart}\n\ndef more_py():\n    return total_py(1)\n"));
    let ran = session.run(repo.path(), &["stale"]);
    // To index again would not take in what is not committed.
    assert!(ran.stdout.contains("1 file differs from what is indexed"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("`--working-tree`") && !ran.stdout.contains("knowing index"),
        "{}",
        ran.stdout
    );
    let ran = session.run(repo.path(), &["stale", "--json"]);
    let stale: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &stale["is_stale"], &stale["symbols"]), (1, &json!(true), &json!(4)), "{stale}");
    assert_eq!(stale["files"], json!([{"file": "pycart/cart.py", "change": "modified"}]));
    let edges: Vec<&str> =
        stale["edges"].as_array().unwrap().iter().map(|it| it["source"].as_str().unwrap()).collect();
    assert!(edges.iter().any(|it| it.ends_with("checkout_py")), "{edges:?}");
    repo.commit("more");
    let ran = session.run(repo.path(), &["stale", "--json"]);
    let stale: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &stale["fresh"]), (1, &json!("behind(1)")), "asking did not index: {stale}");
    let status = session.json(repo.path(), &["status"]);
    assert_eq!((&status["fresh"], &status["languages"]["python"]), (&json!("behind(1)"), &json!(3)));
    session.index(&repo);
    assert_eq!(session.run(repo.path(), &["stale"]).code, 0);
}

#[test]
fn feedback_is_kept_while_the_package_is_what_it_was() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    session.error(repo.path(), &["feedback", "record", "nobody_at_all", "--useful"], 1, "not_found");
    session.error(repo.path(), &["feedback", "record", "total_py"], 2, "usage");
    let told = session.json(repo.path(), &["feedback", "record", "total_py", "--useful", "--task", "totals"]);
    assert_eq!(
        (&told["status"], &told["useful"], &told["score"]),
        (&json!("recorded"), &json!(1), &json!(0.25))
    );
    session.json(repo.path(), &["feedback", "record", "total_py", "--useful=false", "--note", "no"]);
    let asked = session.json(repo.path(), &["feedback", "query", "total_py"]);
    assert_eq!(
        (&asked["useful"], &asked["not_useful"], &asked["expired"]),
        (&json!(1), &json!(1), &json!(0))
    );
    // An edge elsewhere changes nothing; one in the package ends it.
    let cart = std::fs::read_to_string(repo.path().join("gocart/cart.go")).unwrap();
    repo.write("gocart/cart.go", &format!("{cart}\nfunc MoreGo() int {{ return TotalGo(1) }}\n"));
    repo.commit("more go");
    assert_eq!(session.json(repo.path(), &["feedback", "query", "total_py"])["expired"], json!(0));
    let cart = std::fs::read_to_string(repo.path().join("pycart/cart.py")).unwrap();
    repo.write("pycart/cart.py", &format!("{cart}\n\ndef more_py():\n    return total_py(1)\n"));
    repo.commit("more python");
    let asked = session.json(repo.path(), &["feedback", "query", "total_py"]);
    assert_eq!((&asked["useful"], &asked["score"], &asked["expired"]), (&json!(0), &json!(0.0), &json!(2)));
}

#[test]
fn callers_are_found_in_other_repositories_and_never_by_name_alone() {
    let session = Session::new();
    let library = Fixture::from_text(
        "//- /go.mod\nmodule example.com/lib\n//- /store/store.go\npackage store\n\nfunc Open(n int) int { return n }\n\nfunc Close(n int) int { return n }\n",
    );
    library.commit("a library");
    let user = Fixture::from_text(
        "//- /go.mod\nmodule example.com/app\n\nrequire example.com/lib v1.0.0\n//- /main.go\npackage main\n\nimport (\n\t\"example.com/lib/store\"\n\tother \"example.com/other/store\"\n)\n\nfunc serve() int { return store.Open(1) }\n\nfunc run() int { return other.Close(1) }\n\nfunc main() { serve(); run() }\n",
    );
    user.commit("its user");
    for (repo, url) in [(&library, "example.com/lib"), (&user, "example.com/app")] {
        session.text(repo.path(), &["index", "--url", url]);
    }
    let found = session.json(library.path(), &["cross-repo-callers", "Open"]);
    assert_eq!(
        found["known_as"],
        json!(["external://go/example.com/lib.store.Open", "external://go/example.com/lib/store.Open"])
    );
    let callers: Vec<(&str, u64)> = found["callers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (it["symbol"].as_str().unwrap().rsplit(['.', '/']).next().unwrap(), it["depth"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(callers, [("serve", 1), ("main", 2)], "{found}");
    assert_eq!((&found["by_repo"]["example.com/app"], &found["searched"]), (&json!(2), &json!(1)));
    let none = session.json(library.path(), &["cross-repo-callers", "Close"]);
    assert_eq!((&none["total"], &none["unresolved"]), (&json!(0), &json!(0)), "a namesake is not it: {none}");
}

/// A library, who uses it, and the symbol that `serve` calls there, which `run` calls.
const ACROSS: [(&str, &str, &str); 3] = [
    (
        "//- /pyproject.toml\n[project]\nname = \"lib\"\n//- /src/lib/__init__.py\n//- /src/lib/store.py\n\
         def open_store(n):\n    return n\n\n\ndef close_store(n):\n    return n\n",
        "//- /app/main.py\nfrom lib.store import open_store\nfrom other.store import close_store\n\n\n\
         def serve():\n    return open_store(1)\n\n\ndef run():\n    return serve() + close_store(1)\n",
        "open_store",
    ),
    (
        "//- /package.json\n{\"name\": \"lib\"}\n//- /src/store.ts\n\
         export function openStore(n: number): number { return n; }\n\n\
         export function closeStore(n: number): number { return n; }\n",
        "//- /package.json\n{\"name\": \"app\", \"dependencies\": {\"lib\": \"^1.0.0\"}}\n//- /src/main.ts\n\
         import { openStore } from \"lib\";\nimport { closeStore } from \"other\";\n\n\
         export function serve(): number { return openStore(1); }\n\n\
         export function run(): number { return serve() + closeStore(1); }\n",
        "openStore",
    ),
    (
        "//- /pom.xml\n<project></project>\n//- /src/main/java/com/lib/Store.java\npackage com.lib;\n\n\
         public class Store {\n    public static int open(int n) { return n; }\n\n    \
         public static int close(int n) { return n; }\n}\n",
        "//- /pom.xml\n<project></project>\n//- /src/main/java/com/app/Main.java\npackage com.app;\n\n\
         import com.lib.Store;\n\npublic class Main {\n    static int serve() { return Store.open(1); }\n\n    \
         static int run() { return serve() + com.other.Store.close(1); }\n}\n",
        "Store.open",
    ),
];

#[test]
fn callers_in_other_repositories_are_found_in_python_typescript_and_java() {
    for (library, user, symbol) in ACROSS {
        let session = Session::new();
        let [library, user] = [library, user].map(Fixture::from_text);
        for (repo, url) in [(&library, "example.com/lib"), (&user, "example.com/app")] {
            repo.commit(url);
            session.text(repo.path(), &["index", "--url", url]);
        }
        let ask = |symbol: &str| session.json(library.path(), &["cross-repo-callers", symbol]);
        let found = ask(symbol);
        let callers: Vec<(&str, u64)> = found["callers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| {
                (it["symbol"].as_str().unwrap().rsplit('.').next().unwrap(), it["depth"].as_u64().unwrap())
            })
            .collect();
        assert_eq!(callers, [("serve", 1), ("run", 2)], "{symbol}: {found}");
        let namesake = symbol.replace("open", "close");
        assert_eq!(ask(&namesake)["total"], 0, "a namesake of another package is not it");
    }
}

#[test]
fn the_impact_of_named_files_is_that_of_all_they_declare() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let impact = session.json(repo.path(), &["pr-impact", "--files", "pycart/cart.py"]);
    let names: Vec<&str> =
        impact["symbols"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["price_py", "total_py", "checkout_py", "lonely_py"]);
    assert_eq!((&impact["change"], &impact["n_tests"]), (&json!("unknown"), &json!(1)), "{impact}");
    assert!(impact["tests"][0].as_str().unwrap().ends_with("test_checkout_py"));
    session.error(repo.path(), &["pr-impact", "--files", "nothing.py"], 1, "not_found");
    session.error(repo.path(), &["pr-impact", "HEAD", "--files", "pycart/cart.py"], 2, "usage");
    converse(&session, repo.path(), &[], async |client| {
        let (data, _) = answer(call(client, "pr_impact", json!({"files": "pycart/cart.py"})).await);
        assert_eq!(data, impact);
        for arguments in [json!({}), json!({"files": ["pycart/cart.py"], "base": "HEAD"})] {
            let refused = call(client, "pr_impact", arguments).await.unwrap();
            assert_eq!(refused.structured_content.unwrap()["error"]["kind"], "usage");
        }
        let refused = call(client, "index_repo", json!({"enrich": "lsp"})).await.unwrap();
        assert_eq!(refused.structured_content.unwrap()["error"]["kind"], "unsupported");
        answer(call(client, "index_repo", json!({"enrich": "auto"})).await);
    });
}

#[test]
fn l5_feedback_is_kept_with_the_session_it_was_said_in() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    converse(&session, repo.path(), &[], async |client| {
        for handle in [json!("one"), json!("two"), Value::Null] {
            let said = json!({"action": "record", "symbol": "total_py", "useful": true, "session": handle});
            answer(call(client, "feedback", said).await);
        }
    });
    session.json(repo.path(), &["feedback", "record", "total_py", "--useful"]);
    let database = session.json(repo.path(), &["status"])["database"].as_str().unwrap().to_owned();
    let database = rusqlite::Connection::open(database).unwrap();
    let mut select = database.prepare("SELECT session FROM feedback ORDER BY rowid").unwrap();
    let sessions: Vec<String> =
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!((&sessions[..2], sessions[3].as_str()), (&["one".to_owned(), "two".to_owned()][..], ""));
    assert!(sessions[2].starts_with("stdio-"), "of the connection: {sessions:?}");
}

#[test]
fn requests_of_other_repositories_mean_the_route_that_one_alone_serves() {
    let session = Session::new();
    let service = |pattern: &str| {
        format!(
            "//- /app.py\nfrom fastapi import FastAPI\napp = FastAPI()\n@app.get(\"/users/{{user_id}}\")\ndef show(user_id): ...\n@app.get(\"{pattern}\")\ndef state(): ...\n"
        )
    };
    let users = Fixture::from_text(&service("/health"));
    users.commit("a service");
    let other = Fixture::from_text(&service("/health").replace("/users/", "/orders/"));
    other.commit("another service");
    let client = Fixture::from_text(
        "//- /client.py\nimport requests\ndef load(i):\n    return requests.get(f\"http://users/users/{i}\")\ndef alive():\n    return requests.get(\"http://users/health\")\n",
    );
    client.commit("a client");
    for (repo, url) in [(&users, "acme/users"), (&other, "acme/orders"), (&client, "acme/client")] {
        session.text(repo.path(), &["index", "--url", url]);
    }
    let found = session.json(users.path(), &["cross-repo-callers", "show"]);
    let callers = found["callers"].as_array().unwrap();
    assert_eq!(callers.len(), 1, "{found}");
    assert!(callers[0]["symbol"].as_str().unwrap().ends_with("client.py.load"), "{found}");
    assert_eq!(
        (&callers[0]["kind"], &callers[0]["repo"]),
        (&json!("consumes_endpoint"), &json!("acme/client"))
    );
    let unsure = session.json(users.path(), &["cross-repo-callers", "state"]);
    assert_eq!((&unsure["total"], &unsure["unresolved"]), (&json!(0), &json!(1)), "two serve it: {unsure}");
    let routes = session.json(users.path(), &["routes"]);
    let elsewhere = |pattern: &str| {
        let all = routes["routes"].as_array().unwrap().iter();
        all.filter(|it| it["pattern"] == pattern).map(|it| it["callers_elsewhere"].clone()).next().unwrap()
    };
    let asker = &elsewhere("/users/{user_id}")[0];
    assert_eq!(asker["repo"], "acme/client", "{routes}");
    assert!(asker["symbol"].as_str().unwrap().ends_with("client.py.load"), "{routes}");
    assert_eq!(elsewhere("/health"), Value::Null, "two serve it: {routes}");
    let text = session.text(users.path(), &["routes"]);
    assert!(text.contains("called from another repository by client.py.load acme/client"), "{text}");
}

#[test]
fn t6_what_a_plan_suggests_is_accepted() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    repo.write("notes.md", "notes\n");
    repo.commit("notes");
    let tasks = [
        "rename `total_py` and everything that uses it",
        "how does checkoutTs reach priceTs",
        "review this branch before the merge",
        "which tests cover pycart/cart.py",
        "who calls Cart.totalJava",
        "prices are wrong in the cart",
        "zzz qqq",
    ];
    converse(&session, repo.path(), &[], async |client| {
        let mut tools = BTreeSet::new();
        for task in tasks {
            let (plan, _) = answer(call(client, "plan_turn", json!({ "task": task })).await);
            let suggestions = plan["suggestions"].as_array().unwrap();
            assert!((1..=4).contains(&suggestions.len()), "{task}: {plan}");
            for it in suggestions {
                let tool: &'static str =
                    knowing_ops::tools().into_iter().find(|tool| tool.name == it["tool"]).unwrap().name;
                let result = call(client, tool, it["arguments"].clone()).await.unwrap();
                let error = result
                    .structured_content
                    .as_ref()
                    .and_then(|it| it.get("error"))
                    .cloned()
                    .unwrap_or_default();
                // That nothing fits a task is an answer; that arguments do not is none.
                assert!(
                    error.is_null() || error["kind"] == "not_found" && tool == "context_for_task",
                    "{task}: {it}: {error}"
                );
                tools.insert(tool);
            }
        }
        for tool in
            ["blast_radius", "flow_between", "pr_impact", "test_scope", "graph_query", "context_for_task"]
        {
            assert!(tools.contains(tool), "{tool} was never suggested: {tools:?}");
        }
        let (one, _) = answer(call(client, "plan_turn", json!({ "task": tasks[0] })).await);
        let (other, _) = answer(call(client, "plan_turn", json!({ "task": tasks[0] })).await);
        assert_eq!(one, other);
    });
}

/// A case of every tool: its arguments, and the command that asks the same.
fn cases() -> Vec<(&'static str, Value, Vec<&'static str>)> {
    let task = "the total of a cart";
    vec![
        ("index_repo", json!({}), vec!["index"]),
        (
            "graph_query",
            json!({"query": "*total*", "edges": "both", "detail": "source"}),
            vec!["query", "*total*", "--edges", "both", "--detail", "source"],
        ),
        ("blast_radius", json!({"symbol_hash": "price_py"}), vec!["blast-radius", "price_py"]),
        (
            "flow_between",
            json!({"source_hash": "checkoutTs", "target_hash": "priceTs"}),
            vec!["flow", "checkoutTs", "priceTs"],
        ),
        (
            "test_scope",
            json!({"files": "pycart/cart.py", "output": "run"}),
            vec!["test-scope", "--files", "pycart/cart.py", "--output", "run"],
        ),
        ("trace_dataflow", json!({"symbol": "CheckoutGo"}), vec!["dataflow", "CheckoutGo"]),
        ("repo_graph", json!({"level": "files"}), vec!["repo-graph", "--level", "files"]),
        ("cross_repo_callers", json!({"symbol": "TotalGo"}), vec!["cross-repo-callers", "TotalGo"]),
        ("plan_turn", json!({"task": task}), vec!["plan", task]),
        ("feedback", json!({"action": "query", "symbol": "TotalGo"}), vec!["feedback", "query", "TotalGo"]),
        ("stale_edges", json!({"snapshot": "HEAD~1"}), vec!["stale", "HEAD~1"]),
        ("context_for_task", json!({"task_description": task, "format": "json"}), vec!["context", task]),
        (
            "context_for_files",
            json!({"files": ["pycart/cart.py"], "format": "json"}),
            vec!["context", "--files", "pycart/cart.py"],
        ),
        ("context_for_pr", json!({"base": "HEAD~1", "format": "json"}), vec!["context", "--base", "HEAD~1"]),
        (
            "explain_symbol",
            json!({"task_description": task, "symbol": "total_py"}),
            vec!["why", task, "--symbol", "total_py"],
        ),
        ("snapshot_diff", json!({"old": "HEAD~1", "new": "HEAD"}), vec!["diff", "HEAD~1", "HEAD"]),
        ("semantic_diff", json!({"old": "HEAD~1", "new": "HEAD"}), vec!["semantic-diff", "HEAD~1", "HEAD"]),
        ("pr_impact", json!({"base": "HEAD~1"}), vec!["pr-impact", "HEAD~1"]),
        ("prove", json!({"source": "total_py", "target": "price_py"}), vec!["prove", "total_py", "price_py"]),
        (
            "prove_absent",
            json!({"source": "price_py", "target": "total_py"}),
            vec!["prove-absent", "price_py", "total_py"],
        ),
        ("fsck", json!({}), vec!["fsck"]),
        ("untrack_repo", json!({"dry_run": true}), vec!["untrack-repo", "--dry-run"]),
    ]
}

/// A shop with a commit more.
fn grown_shop(session: &Session) -> Fixture {
    let repo = shop();
    session.index(&repo);
    let cart = std::fs::read_to_string(repo.path().join("pycart/cart.py")).unwrap();
    repo.write(
        "pycart/cart.py",
        &format!("{cart}\n\ndef more_py():\n    return total_py(1) + checkout_py(2)\n"),
    );
    repo.write(
        "pycart/late.py",
        "from pycart.cart import total_py\n\n\ndef late_py(items):\n    return total_py(items)\n",
    );
    repo.commit("more of it");
    session.index(&repo);
    repo
}

#[test]
fn c1_every_tool_gives_the_same_data_on_both_faces() {
    let session = Session::new();
    let repo = grown_shop(&session);
    let cases = cases();
    for tool in knowing_ops::tools() {
        assert!(cases.iter().any(|it| it.0 == tool.name), "{} has no case", tool.name);
    }
    converse(&session, repo.path(), &[], async |client| {
        for (tool, arguments, command) in &cases {
            let ran = session.run(repo.path(), &[command.as_slice(), &["--json"]].concat());
            let mut expected: Value = serde_json::from_str(&ran.stdout).unwrap();
            let (mut data, _) = answer(call(client, tool, arguments.clone()).await);
            // What depends on the clock.
            for reply in [&mut expected, &mut data] {
                for at in ["/proof/issued_at", "/phases"] {
                    if let Some(value) = reply.pointer_mut(at) {
                        value.take();
                    }
                }
            }
            assert_eq!(data, expected, "{tool}");
        }
    });
}

fn lists(reply: &Value) -> Map<String, Value> {
    let fields = reply.as_object().unwrap().iter();
    fields
        .filter(|(name, it)| it.is_array() && *name != "dirty")
        .map(|(name, it)| (name.clone(), it.clone()))
        .collect()
}

#[test]
fn t4_no_reply_exceeds_its_size_and_cursors_yield_every_item_once() {
    let session = Session::new();
    let repo = grown_shop(&session);
    let mut paged: BTreeSet<&str> = knowing_ops::tools()
        .iter()
        .filter(|it| Value::Object(it.reply.clone()).to_string().contains("next_cursor"))
        // Packs have a limit of another kind, and tests of their own.
        .filter(|it| !it.name.starts_with("context_"))
        .map(|it| it.name)
        .collect();
    assert!(paged.len() >= 10, "{paged:?}");
    let mut n_cut = 0;
    for (tool, _, command) in cases() {
        if !paged.remove(tool) {
            continue;
        }
        let ask = |more: &[&str]| -> Value {
            let ran = session.run(repo.path(), &[command.as_slice(), &["--json"], more].concat());
            serde_json::from_str(&ran.stdout)
                .unwrap_or_else(|error| panic!("{command:?}: {error} {}", ran.stderr))
        };
        let whole = ask(&["--max-tokens", "100000", "--limit", "100000"]);
        assert_eq!((&whole["truncated"], whole.get("next_cursor")), (&json!(false), None), "{tool}: {whole}");
        for (limit, max_tokens) in [("1", "100000"), ("3", "2000"), ("100000", "1500")] {
            let mut seen: Map<String, Value> = Map::new();
            let mut cursor: Option<String> = None;
            loop {
                let mut asked = vec!["--limit", limit, "--max-tokens", max_tokens];
                asked.extend(cursor.as_deref().into_iter().flat_map(|it| ["--cursor", it]));
                let page = ask(&asked);
                assert!(page.get("error").is_none(), "{tool} {asked:?}: {page}");
                assert!(page.to_string().len().div_ceil(4) <= max_tokens.parse().unwrap(), "{tool}");
                for (name, list) in lists(&page) {
                    let known = seen.entry(name).or_insert_with(|| json!([])).as_array_mut().unwrap();
                    known.extend(list.as_array().unwrap().iter().cloned());
                }
                n_cut += usize::from(page.get("next_cursor").is_some());
                match page["next_cursor"].as_str() {
                    Some(next) => cursor = Some(next.to_owned()),
                    None => break,
                }
            }
            // Lists that are no pages stand on every one of them.
            for (name, list) in lists(&whole)
                .into_iter()
                .filter(|it| !["by_depth", "notes", "owners", "known_as"].contains(&it.0.as_str()))
            {
                assert_eq!(seen.get(&name), Some(&list), "{tool}.{name} by {limit}, {max_tokens}");
            }
        }
        let counted = ask(&["--limit", "0"]);
        assert_eq!(counted.get("next_cursor"), None, "{tool}");
    }
    assert!(paged.is_empty(), "no case of {paged:?}");
    assert!(n_cut > 30, "only {n_cut} pages were followed by another");
}

#[test]
fn t4_a_cursor_belongs_to_its_question_and_to_its_snapshot() {
    let session = Session::new();
    let repo = grown_shop(&session);
    let page = session.json(repo.path(), &["query", "*py*", "--limit", "2"]);
    let cursor = page["next_cursor"].as_str().unwrap();
    session.error(repo.path(), &["query", "*Go*", "--limit", "2", "--cursor", cursor], 2, "usage");
    session.error(repo.path(), &["callers", "*py*", "--cursor", cursor], 2, "usage");
    session.error(repo.path(), &["query", "*py*", "--cursor", "beef"], 2, "usage");
    session.error(repo.path(), &["query", "*py*", "--max-tokens", "100001"], 2, "usage");
    // A new commit comes between two pages: they are of one snapshot all the same.
    repo.write("pycart/aaa_py.py", "def aaa_py():\n    pass\n");
    repo.commit("between");
    let next = session.json(repo.path(), &["query", "*py*", "--limit", "2", "--cursor", cursor]);
    assert_eq!((&next["snapshot"], &next["total"]), (&page["snapshot"], &page["total"]));
    session.index(&repo);
    session.run(repo.path(), &["gc", "--keep", "1"]);
    let left = session.run(repo.path(), &["snapshots", "--json", "--limit", "100"]).stdout;
    assert!(!left.contains(&format!("\"id\":{}", page["snapshot"])), "{left}");
    session.error(repo.path(), &["query", "*py*", "--limit", "2", "--cursor", cursor], 1, "expired");
}

#[test]
fn c2_exit_codes_of_every_verb() {
    let session = Session::new();
    let repo = grown_shop(&session);
    let task = "the total of a cart";
    let cases: &[(&[&str], i32)] = &[
        (&["context", task], 0),
        (&["context", "zzz qqq"], 1),
        (&["context", task, "--budget", "1"], 2),
        (&["why", task, "--symbol", "total_py"], 0),
        (&["why", task, "--symbol", "nobody"], 1),
        (&["why", task], 2),
        (&["index"], 0),
        (&["index", "/no/such/place"], 2),
        (&["stats"], 0),
        (&["stats", "--repo", "no/such"], 1),
        (&["stats", "--nonsense"], 2),
        (&["status"], 0),
        (&["status", "--repo", "no/such"], 1),
        (&["status", "x"], 2),
        (&["query", "total_py"], 0),
        (&["query", "nobody"], 1),
        (&["query", "x", "--kinds", "sort"], 2),
        (&["callers", "total_py"], 0),
        (&["callers", "nobody"], 1),
        (&["callers"], 2),
        (&["callees", "total_py"], 0),
        (&["callees", "nobody"], 1),
        (&["callees", "x", "--depth", "0"], 2),
        (&["blast-radius", "total_py"], 0),
        (&["blast-radius", "nobody"], 1),
        (&["blast-radius", "x", "--min-confidence", "2"], 2),
        (&["flow", "total_py", "price_py"], 0),
        (&["flow", "total_py", "nobody"], 1),
        (&["flow", "total_py"], 2),
        (&["test-scope", "--files", "pycart/cart.py"], 0),
        (&["test-scope", "--files", "nothing.py"], 1),
        (&["test-scope"], 2),
        (&["dataflow", "total_py"], 0),
        (&["dataflow", "nobody"], 1),
        (&["dataflow", "x", "--edge-kinds", "sorts"], 2),
        (&["repo-graph"], 0),
        (&["repo-graph", "--package", "nowhere"], 1),
        (&["repo-graph", "--level", "atoms"], 2),
        (&["cross-repo-callers", "total_py"], 0),
        (&["cross-repo-callers", "nobody"], 1),
        (&["cross-repo-callers"], 2),
        (&["plan", task], 0),
        (&["plan", ""], 2),
        (&["feedback", "query", "total_py"], 0),
        (&["feedback", "query", "nobody"], 1),
        (&["feedback", "guess", "total_py"], 2),
        (&["stale"], 0),
        (&["stale", "HEAD~1"], 1),
        (&["stale", "--nonsense"], 2),
        (&["snapshots"], 0),
        (&["snapshots", "pin", "nothing-like-it"], 1),
        (&["snapshots", "pin"], 2),
        (&["diff"], 0),
        (&["diff", "nothing-like-it"], 1),
        (&["diff", "--nonsense"], 2),
        (&["semantic-diff"], 0),
        (&["semantic-diff", "nothing-like-it"], 1),
        (&["semantic-diff", "a", "b", "c"], 2),
        (&["pr-impact", "HEAD~1"], 0),
        (&["pr-impact", "nothing-like-it"], 1),
        (&["pr-impact"], 2),
        (&["audit-supply-chain", "--base", "HEAD~1"], 0),
        (&["audit-supply-chain", "--base", "nothing-like-it"], 1),
        (&["audit-supply-chain"], 2),
        (&["events"], 0),
        (&["events", "nothing-like-it"], 1),
        (&["events", "--edge-kinds", "sorts"], 2),
        (&["prove", "total_py", "price_py"], 0),
        (&["prove", "price_py", "total_py"], 1),
        (&["prove", "total_py"], 2),
        (&["prove-absent", "price_py", "total_py"], 0),
        (&["prove-absent", "price_py", "nobody"], 1),
        (&["prove-absent"], 2),
        (&["serve", "--address", "0.0.0.0"], 2),
        (&["serve", "--port", "far"], 2),
        (&["init", "--dry-run", "--agent", "claude"], 0),
        (&["init", "--agent", "nobody"], 2),
        (&["uninstall", "--dry-run"], 0),
        (&["uninstall", "x"], 2),
        (&["doctor"], 0),
        (&["doctor", "x"], 2),
        (&["completions", "bash"], 0),
        (&["completions", "abacus"], 2),
        (&["man"], 0),
        (&["man", "x"], 2),
        (&["routes"], 0),
        (&["routes", "--repo", "no/such"], 1),
        (&["routes", "--nonsense"], 2),
        (&["owners", "no/such/file.py"], 1),
        (&["owners"], 2),
        (&["verify", "/no/such/file"], 2),
        (&["fsck"], 0),
        (&["fsck", "--repo", "no/such"], 1),
        (&["fsck", "--nonsense"], 2),
        (&["decode", "/no/such/file"], 2),
        (&["params"], 0),
        (&["params", "x"], 2),
        (&["pack", "00"], 2),
        (&["export"], 0),
        (&["export", "--repo", "no/such"], 1),
        (&["export", "--format", "poem"], 2),
        (&["gc", "--dry-run"], 0),
        (&["gc", "--nonsense"], 2),
        (&["vacuum"], 0),
        (&["vacuum", "x"], 2),
        (&["reset", "--dry-run"], 0),
        (&["reset", "--nonsense"], 2),
        (&["untrack-repo", "--dry-run"], 0),
        (&["untrack-repo", "--repo", "no/such", "--yes"], 1),
        (&["untrack-repo", "x"], 2),
    ];
    let mut wrong = Vec::new();
    for (arguments, code) in cases {
        let ran = session.run(repo.path(), arguments);
        if ran.code != *code {
            wrong.push(format!(
                "{arguments:?} gave {}, not {code}: {}",
                ran.code,
                ran.stderr.lines().next().unwrap_or_default()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let help = session.text(repo.path(), &["help"]);
    let listed = help.lines().skip_while(|it| *it != "Commands:").skip(1).take_while(|it| !it.is_empty());
    let verbs = listed.filter(|it| !it.starts_with("   ")).filter_map(|it| it.split_whitespace().next());
    for verb in verbs.filter(|it| !["help", "mcp"].contains(it)) {
        assert!(cases.iter().any(|it| it.0[0] == verb), "`{verb}` has no case");
    }
}
