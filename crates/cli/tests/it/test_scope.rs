//! Why `knowing test-scope` selects a test: each kind of evidence alone, what comes first, what history may say, and how
//! the tests of each language are run.

use std::collections::BTreeSet;

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::Session;
use crate::tools::names;

/// Name and evidence of each selected test, in their order.
fn selected(found: &Value) -> Vec<(String, Vec<String>)> {
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let of_one = |it: &Value| {
        (text(&it["name"]), it["evidence"].as_array().unwrap().iter().map(text).collect::<Vec<_>>())
    };
    found["functions"].as_array().unwrap().iter().map(of_one).collect()
}

fn indexed(text: &str) -> (Session, Fixture) {
    let (session, repo) = (Session::new(), Fixture::from_text(text));
    repo.commit("everything");
    session.index(&repo);
    (session, repo)
}

fn scope(session: &Session, repo: &Fixture, arguments: &[&str]) -> Value {
    session.json(repo.path(), &[&["test-scope", "--output", "functions"][..], arguments].concat())
}

fn one(name: &str, evidence: &[&str]) -> (String, Vec<String>) {
    (name.to_owned(), evidence.iter().map(|it| (*it).to_owned()).collect())
}

#[test]
fn a3_a_test_six_steps_away_is_found_where_no_other_is_nearer() {
    let chain: String =
        (1..6).map(|it| format!("def step_{it}():\n    return step_{}()\n\n\n", it - 1)).collect();
    let text = format!(
        "//- /deep.py\ndef step_0():\n    return 1\n\n\n{chain}//- /tests/test_all.py\nfrom deep import step_5\n\n\ndef test_all():\n    assert step_5()\n"
    );
    let (session, repo) = indexed(&text);
    repo.write("deep.py", &format!("def step_0():\n    return 2\n\n\n{chain}"));
    let found = scope(&session, &repo, &["--evidence", "calls"]);
    assert_eq!(selected(&found), [one("test_all", &["calls, 6 steps"])]);
    assert_eq!((&found["functions"][0]["depth"], &found["uncovered"]), (&json!(6), &json!([])));
    let near = scope(&session, &repo, &["--evidence", "calls", "--depth", "3"]);
    assert_eq!((&near["total"], &near["uncovered"]), (&json!(0), &json!(["deep.py"])));
}

/// A file, its test by name, and a namesake's test that is not meant. No edge leads from one to the other.
const NAMED: [(&str, &str, &str); 8] = [
    (
        "//- /shop/cart.py\nTOTAL = 1\n//- /shop/order.py\nTOTAL = 2\n//- /tests/test_cart.py\ndef test_cart():\n    run('cart')\n//- /tests/test_order.py\ndef test_order():\n    run('order')\n",
        "shop/cart.py",
        "test_cart",
    ),
    (
        "//- /go.mod\nmodule a\n//- /shop/cart.go\npackage shop\n\nvar total = 1\n//- /shop/cart_test.go\npackage shop\n\nimport \"testing\"\n\nfunc TestCart(t *testing.T) { t.Log() }\n//- /other/cart.go\npackage other\n\nvar total = 1\n//- /other/cart_test.go\npackage other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) { t.Log() }\n",
        "shop/cart.go",
        "TestCart",
    ),
    (
        "//- /src/main/java/shop/Cart.java\npackage shop;\nclass Cart { int total; }\n//- /src/test/java/shop/CartTest.java\npackage shop;\nimport org.junit.jupiter.api.Test;\nclass CartTest { @Test void totals() { run(\"cart\"); } }\n//- /src/test/java/shop/OrderTest.java\npackage shop;\nimport org.junit.jupiter.api.Test;\nclass OrderTest { @Test void orders() { run(\"order\"); } }\n",
        "src/main/java/shop/Cart.java",
        "totals",
    ),
    (
        "//- /package.json\n{\"devDependencies\": {\"vitest\": \"1\"}}\n//- /src/cart/index.ts\nexport const total = 1;\n//- /src/cart/cart.spec.ts\nit('totals', () => { run('cart'); });\n//- /src/order/order.spec.ts\nit('orders', () => { run('order'); });\n",
        "src/cart/index.ts",
        "totals",
    ),
    (
        "//- /lib/shop/cart.rb\nTOTAL = 1\n//- /spec/shop/cart_spec.rb\nRSpec.describe 'cart' do\n  it 'totals' do\n    run 'cart'\n  end\nend\n//- /spec/shop/order_spec.rb\nRSpec.describe 'order' do\n  it 'orders' do\n    run 'order'\n  end\nend\n",
        "lib/shop/cart.rb",
        "cart totals",
    ),
    (
        "//- /Cargo.toml\n[package]\nname = \"shop\"\n//- /src/lib.rs\nmod cart;\n//- /src/cart.rs\npub const TOTAL: u32 = 1;\n//- /tests/cart.rs\n#[test]\nfn totals() { run(\"cart\"); }\n//- /tests/order.rs\n#[test]\nfn orders() { run(\"order\"); }\n",
        "src/cart.rs",
        "totals",
    ),
    (
        "//- /Shop/Cart.cs\nnamespace Shop;\npublic class Cart { public int Total; }\n//- /Shop.Tests/CartTests.cs\nusing Xunit;\nnamespace Shop.Tests;\npublic class CartTests { [Fact] public void Totals() { Run(\"cart\"); } }\n//- /Shop.Tests/OrderTests.cs\nusing Xunit;\nnamespace Shop.Tests;\npublic class OrderTests { [Fact] public void Orders() { Run(\"order\"); } }\n",
        "Shop/Cart.cs",
        "Totals",
    ),
    (
        "//- /src/Cart.php\n<?php\nnamespace Shop;\nclass Cart { public int $total = 1; }\n//- /tests/CartTest.php\n<?php\nnamespace Shop\\Tests;\nuse PHPUnit\\Framework\\TestCase;\nclass CartTest extends TestCase { public function testTotals(): void { run('cart'); } }\n//- /tests/OrderTest.php\n<?php\nnamespace Shop\\Tests;\nuse PHPUnit\\Framework\\TestCase;\nclass OrderTest extends TestCase { public function testOrders(): void { run('order'); } }\n",
        "src/Cart.php",
        "testTotals",
    ),
];

#[test]
fn a3_tests_of_a_file_that_is_named_after_the_changed_one_in_eight_languages() {
    for (text, file, test) in NAMED {
        let (session, repo) = indexed(text);
        let found = scope(&session, &repo, &["--files", file]);
        assert_eq!(selected(&found), [one(test, &["named after"])], "{file}: {found}");
        assert!(found["functions"][0].get("depth").is_none(), "no way is known: {found}");
        assert_eq!(found["uncovered"], json!([file]), "a name is no proof that it is run");
        let run = session.json(repo.path(), &["test-scope", "--files", file, "--output", "run"]);
        assert!(run["run"][0]["command"].as_str().is_some_and(|it| !it.is_empty()), "{file}: {run}");
    }
}

#[test]
fn a3_tests_that_changed_together_count_the_commits_before_the_change_alone() {
    let (session, repo) = (Session::new(), Fixture::new());
    let code = |n: u32| format!("RULES = {{}}\n\n\ndef rule():\n    return {n}\n");
    let test = |n: u32| format!("def test_everything():\n    run('all', {n})\n");
    repo.write("shop/rules.py", &code(0));
    repo.write("tests/test_flows.py", &test(0));
    repo.write("tests/test_others.py", "def test_others():\n    run('others')\n");
    repo.commit("begin");
    for n in 1..4 {
        repo.write("shop/rules.py", &code(n));
        repo.write("tests/test_flows.py", &test(n));
        repo.commit("a rule and its test");
    }
    repo.write("shop/rules.py", &code(9));
    repo.write("tests/test_others.py", "def test_others():\n    run('other things')\n");
    repo.commit("the change itself");
    session.index(&repo);
    let found = scope(&session, &repo, &["--base", "HEAD~1", "--evidence", "together"]);
    let expected =
        [one("test_others", &["changed itself"]), one("test_everything", &["changed together 4 times"])];
    assert_eq!(selected(&found), expected, "{found}");
    let found = scope(&session, &repo, &["--base", "HEAD~4", "--evidence", "together"]);
    let itself = selected(&found).into_iter().find(|it| it.0 == "test_everything");
    assert_eq!(
        itself,
        Some(one("test_everything", &["changed itself"])),
        "commits of the change say nothing of it: {found}"
    );
}

#[test]
fn a3_tests_that_import_the_changed_file() {
    let (session, repo) = indexed(
        "//- /shop/__init__.py\n//- /shop/settings.py\nLIMIT = 1\n//- /tests/test_flow.py\nfrom shop import settings\n\n\ndef test_flow():\n    run('x')\n//- /tests/test_other.py\ndef test_other():\n    run('y')\n",
    );
    let found = scope(&session, &repo, &["--files", "shop/settings.py"]);
    assert_eq!(selected(&found), [one("test_flow", &["imports"])], "{found}");
}

#[test]
fn a3_what_nobody_is_known_to_call_is_tested_where_its_type_is_used() {
    let (session, repo) = indexed(
        "//- /lock.py\nclass Lock:\n    def __enter__(self):\n        return self\n\n    def __exit__(self, *rest):\n        return None\n\n\nclass Other:\n    def __enter__(self):\n        return self\n//- /tests/test_flow.py\nfrom lock import Lock, Other\n\n\ndef test_holds():\n    with Lock():\n        pass\n\n\ndef test_other():\n    Other()\n",
    );
    let text = String::from_utf8(repo.read("lock.py")).unwrap();
    repo.write("lock.py", &text.replace("return None", "return False"));
    let found = scope(&session, &repo, &["--evidence", "calls"]);
    let names: Vec<String> = selected(&found).into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["test_holds"], "{found}");
}

#[test]
fn a3_the_best_tests_come_first_and_a_limit_takes_them() {
    let (session, repo) = indexed(
        "//- /cart.py\ndef price(n):\n    return n\n\n\ndef total(n):\n    return price(n)\n//- /tests/test_aaa.py\nfrom cart import total\n\n\ndef test_far():\n    total(1)\n//- /tests/test_cart.py\nfrom cart import price\n\n\ndef test_price():\n    price(1)\n\n\ndef test_nothing():\n    run()\n",
    );
    repo.write("cart.py", "def price(n):\n    return n + 0\n\n\ndef total(n):\n    return price(n)\n");
    let found = scope(&session, &repo, &[]);
    let names: Vec<String> = selected(&found).into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["test_price", "test_far", "test_nothing"], "{found}");
    assert_eq!((&found["total"], &found["all_tests"]), (&json!(3), &json!(3)));
    let best = scope(&session, &repo, &["--limit", "1"]);
    assert_eq!(selected(&best), selected(&found)[..1]);
    assert_eq!(best["total"], json!(3));
    let text = session.text(repo.path(), &["test-scope", "--output", "functions"]);
    assert!(text.contains("calls, 1 step, named after"), "{text}");
}

/// Projects with a program: a file deep in it, and the test that starts it. No other evidence leads to the test, and a test
/// that starts another program stands beside it.
const STARTED: [(&str, &str, &str); 5] = [
    (
        "//- /Cargo.toml\n[package]\nname = \"shop\"\n//- /src/main.rs\nmod cart;\nfn main() { run(); }\nfn run() { cart::total(1); }\n//- /src/cart.rs\npub fn total(n: u32) -> u32 { price(n) }\nfn price(n: u32) -> u32 { n }\n//- /tests/all.rs\nuse std::process::Command;\nfn shop() -> Command { Command::new(env!(\"CARGO_BIN_EXE_shop\")) }\n#[test]\nfn sells() { shop().arg(\"--list\").output().unwrap(); }\n#[test]\nfn asks_git() { Command::new(\"git\").arg(\"shop\").output().unwrap(); }\n",
        "src/cart.rs",
        "sells",
    ),
    (
        "//- /Cargo.toml\n[workspace]\nmembers = [\"tool\", \"support\"]\n//- /tool/Cargo.toml\n[package]\nname = \"shop-tool\"\n[[bin]]\nname = \"shop\"\npath = \"src/main.rs\"\n[dev-dependencies]\nsupport = { path = \"../support\" }\n//- /tool/src/main.rs\nmod cart;\nfn main() { cart::total(1); }\n//- /tool/src/cart.rs\npub fn total(n: u32) -> u32 { n }\n//- /support/Cargo.toml\n[package]\nname = \"support\"\n//- /support/src/lib.rs\nuse std::path::PathBuf;\nuse std::process::Command;\nfn executable_path() -> PathBuf { let mut path = PathBuf::new(); path.push(\"shop\"); path }\npub fn start() -> Command { Command::new(executable_path()) }\n//- /tool/tests/all.rs\nuse support::start;\n#[test]\nfn sells() { start(); }\n#[test]\nfn asks_git() { std::process::Command::new(\"git\"); }\n",
        "tool/src/cart.rs",
        "sells",
    ),
    (
        "//- /go.mod\nmodule example.com/shop\n//- /cart/cart.go\npackage cart\n\nfunc Total(n int) int { return n }\n//- /cmd/shop/main.go\npackage main\n\nimport \"example.com/shop/cart\"\n\nfunc main() { cart.Total(1) }\n//- /e2e/all_test.go\npackage e2e\n\nimport (\n\t\"os/exec\"\n\t\"testing\"\n)\n\nfunc start() *exec.Cmd { return exec.Command(\"go\", \"run\", \"../cmd/shop\", \"list\") }\n\nfunc TestSells(t *testing.T) { start().Run() }\n\nfunc TestGit(t *testing.T) { exec.Command(\"git\", \"shop\").Run() }\n",
        "cart/cart.go",
        "TestSells",
    ),
    (
        "//- /pyproject.toml\n[project]\nname = \"shop\"\n[project.scripts]\ntill = \"shop.cli:main\"\n//- /shop/__init__.py\n//- /shop/cart.py\ndef total(n):\n    return n\n//- /shop/cli.py\nfrom shop.cart import total\n\n\ndef main():\n    total(1)\n//- /shop/__main__.py\nfrom shop.cli import main\n\nmain()\n//- /tests/test_all.py\nimport subprocess\nimport sys\n\n\ndef test_sells():\n    subprocess.run([sys.executable, \"-m\", \"shop\"])\n\n\ndef test_git():\n    subprocess.run([\"git\", \"till\"])\n",
        "shop/cart.py",
        "test_sells",
    ),
    (
        "//- /package.json\n{\"name\": \"shop\", \"bin\": {\"till\": \"bin/till.js\"}, \"devDependencies\": {\"jest\": \"29\"}}\n//- /bin/till.js\nrequire('../src/cli');\n//- /src/cli.js\nconst { total } = require('./cart');\nfunction run() { total(1); }\nrun();\n//- /src/cart.js\nfunction total(n) { return n; }\nmodule.exports = { total };\n//- /tests/all.test.js\nconst { spawnSync } = require('child_process');\nconst path = require('path');\nconst bin = path.join(__dirname, '..', 'bin', 'till.js');\ntest('sells', () => { spawnSync(process.execPath, [bin, '--list']); });\ntest('git', () => { spawnSync('git', ['till']); });\n",
        "src/cart.js",
        "sells",
    ),
];

#[test]
fn a3_tests_that_start_the_program_are_tests_of_what_it_leads_to() {
    for (text, file, test) in STARTED {
        let (session, repo) = indexed(text);
        let found = scope(&session, &repo, &["--files", file]);
        assert_eq!(selected(&found), [one(test, &["starts the program"])], "{file}: {found}");
        assert_eq!(found["uncovered"], json!([]), "a way is known: {found}");
        let alone = scope(&session, &repo, &["--files", file, "--evidence", "program"]);
        assert_eq!(selected(&alone), selected(&found));
        let without = scope(&session, &repo, &["--files", file, "--evidence", "calls,name,named,imports"]);
        assert_eq!((&without["total"], &without["uncovered"]), (&json!(0), &json!([file])), "{without}");
    }
}

#[test]
fn a3_tests_that_start_the_program_are_few_where_calls_lead_to_others_and_speak_of_the_change() {
    let starts: String =
        (0..60).map(|it| format!("#[test]\nfn way_{it}() {{ shop().arg(\"--way-{it}\"); }}\n")).collect();
    let (session, repo) = indexed(&format!(
        "//- /Cargo.toml\n[package]\nname = \"shop\"\n//- /src/main.rs\nmod cart;\nfn main() {{ cart::total(1); }}\n//- /src/cart.rs\npub fn total(n: u32) -> u32 {{\n    n\n}}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn totals() {{ super::total(1); }}\n}}\n//- /tests/all.rs\nuse std::process::Command;\nfn shop() -> Command {{ Command::new(env!(\"CARGO_BIN_EXE_shop\")) }}\n{starts}#[test]\nfn sells() {{ shop().arg(\"--exact-total\"); }}\n"
    ));
    let text = String::from_utf8(repo.read("src/cart.rs")).unwrap();
    repo.write("src/cart.rs", &text.replace("    n\n", "    n + read(\"exact-total\")\n"));
    let found = scope(&session, &repo, &["--evidence", "calls,program"]);
    let expected = [one("totals", &["calls, 1 step"]), one("sells", &["starts the program"])];
    assert_eq!(selected(&found), expected, "{found}");
}

/// Projects in other languages: a production file, its test file, and the command that runs its test.
const OTHERS: [(&str, &str, &str); 6] = [
    (
        "//- /Cargo.toml\n[package]\nname = \"shop\"\nversion = \"0.1.0\"\n//- /src/lib.rs\npub fn price(n: u32) -> u32 { n }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn prices() { super::price(1); }\n}\n",
        "src/lib.rs",
        "cargo test -p shop -- prices",
    ),
    (
        "//- /build.gradle.kts\n//- /src/main/kotlin/com/shop/Cart.kt\npackage com.shop\n\nfun price(n: Int): Int = n\n//- /src/test/kotlin/com/shop/CartTest.kt\npackage com.shop\n\nimport org.junit.jupiter.api.Test\n\nclass CartTest {\n    @Test\n    fun prices() { price(1) }\n}\n",
        "src/main/kotlin/com/shop/Cart.kt",
        "gradle test --tests com.shop.CartTest.prices",
    ),
    (
        "//- /Shop/Cart.cs\nnamespace Shop;\npublic class Cart { public int Price(int n) { return n; } }\n//- /Shop.Tests/Shop.Tests.csproj\n<Project></Project>\n//- /Shop.Tests/CartTests.cs\nusing Xunit;\nusing Shop;\nnamespace Shop.Tests;\npublic class CartTests {\n    [Fact]\n    public void Prices() { new Cart().Price(1); }\n}\n",
        "Shop/Cart.cs",
        "dotnet test Shop.Tests/Shop.Tests.csproj --filter 'FullyQualifiedName~CartTests.Prices'",
    ),
    (
        "//- /Gemfile\n//- /lib/cart.rb\nclass Cart\n  def price(n)\n    n\n  end\nend\n//- /spec/cart_spec.rb\nrequire_relative '../lib/cart'\n\nRSpec.describe Cart do\n  it 'prices' do\n    Cart.new.price(1)\n  end\nend\n",
        "lib/cart.rb",
        "bundle exec rspec spec/cart_spec.rb:4",
    ),
    (
        "//- /composer.json\n{\"autoload\": {\"psr-4\": {\"Shop\\\\\\\\\": \"src/\"}}}\n//- /src/Cart.php\n<?php\nnamespace Shop;\nclass Cart { public function price(int $n): int { return $n; } }\n//- /tests/CartTest.php\n<?php\nnamespace Shop\\Tests;\nuse PHPUnit\\Framework\\TestCase;\nuse Shop\\Cart;\nclass CartTest extends TestCase {\n    public function testPrices(): void { (new Cart())->price(1); }\n}\n",
        "src/Cart.php",
        "vendor/bin/phpunit --filter '/(testPrices)( .*)?$/' tests/CartTest.php",
    ),
    (
        "//- /package.json\n{\"scripts\": {\"test\": \"jest\"}}\n//- /cart.js\nexport function price(n) { return n; }\n//- /cart.test.js\nimport { price } from './cart';\ntest('prices', () => { price(1); });\n",
        "cart.js",
        "npx jest cart.test.js -t prices",
    ),
];

#[test]
fn a3_five_more_languages_and_runners_have_their_commands() {
    for (text, file, command) in OTHERS {
        let (session, repo) = (Session::new(), Fixture::from_text(text));
        repo.commit("a shop");
        session.index(&repo);
        let run = session.json(repo.path(), &["test-scope", "--files", file, "--output", "run"]);
        let commands: Vec<&str> =
            run["run"].as_array().unwrap().iter().map(|it| it["command"].as_str().unwrap()).collect();
        assert_eq!(commands, [command], "{file}: {run}");
    }
}

/// Applications whose tests know nothing of a handler but its path: the handler's file, and the command of its test.
const ASKED: [(&str, &str, &str); 4] = [
    (
        "//- /shop/urls.py\nfrom django.urls import path\n\nfrom shop import views\n\nurlpatterns = [path(\"carts/<int:id>/\", views.show)]\n//- /shop/views.py\ndef show(request, id):\n    return None\n//- /shop/tests.py\nfrom django.test import TestCase\n\n\nclass ShowTests(TestCase):\n    def test_show(self):\n        self.client.get(\"/carts/3/\")\n",
        "shop/views.py",
        "test_show",
    ),
    (
        "//- /package.json\n{\"devDependencies\": {\"jest\": \"29\", \"express\": \"4\"}}\n//- /routes.js\nfunction list(req, res) {}\nmodule.exports = { list };\n//- /app.js\nconst express = require('express');\nconst { list } = require('./routes');\nconst app = express();\napp.get('/carts', list);\nmodule.exports = app;\n//- /app.test.js\nconst request = require('supertest');\nconst app = require('./app');\ntest('lists', async () => { await request(app).get('/carts'); });\n",
        "routes.js",
        "lists",
    ),
    (
        "//- /pom.xml\n<project></project>\n//- /src/main/java/shop/Carts.java\npackage shop;\nimport org.springframework.web.bind.annotation.GetMapping;\nimport org.springframework.web.bind.annotation.RestController;\n@RestController\npublic class Carts {\n    @GetMapping(\"/carts/{id}\")\n    public String show(String id) { return id; }\n}\n//- /src/test/java/shop/CartsTest.java\npackage shop;\nimport static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;\nimport org.junit.jupiter.api.Test;\nimport org.springframework.test.web.servlet.MockMvc;\nclass CartsTest {\n    MockMvc mvc;\n    @Test\n    void shows() throws Exception { mvc.perform(get(\"/carts/7\")); }\n}\n",
        "src/main/java/shop/Carts.java",
        "shows",
    ),
    (
        "//- /Gemfile\n//- /config/routes.rb\nRails.application.routes.draw do\n  resources :carts\nend\n//- /app/controllers/carts_controller.rb\nclass CartsController < ApplicationController\n  def show\n    nil\n  end\nend\n//- /test/integration/carts_test.rb\nclass CartsTest < ActionDispatch::IntegrationTest\n  test \"shows a cart\" do\n    get \"/carts/3\"\n  end\nend\n",
        "app/controllers/carts_controller.rb",
        "shows a cart",
    ),
];

#[test]
fn a3_tests_that_ask_for_a_path_are_tests_of_its_handler() {
    for (text, file, test) in ASKED {
        let (session, repo) = (Session::new(), Fixture::from_text(text));
        repo.commit("a shop");
        session.index(&repo);
        let found = session.json(repo.path(), &["test-scope", "--files", file, "--output", "functions"]);
        assert_eq!(names(&found["functions"]), BTreeSet::from([test.to_owned()]), "{file}: {found}");
        let run = session.json(repo.path(), &["test-scope", "--files", file, "--output", "run"]);
        assert!(run["run"][0]["command"].as_str().is_some_and(|it| !it.is_empty()), "{run}");
    }
}

#[test]
fn a3_a_test_that_calls_the_name_counts_where_nothing_else_leads_to_one() {
    let text = "//- /cart.py\nclass Cart:\n    def settle(self):\n        return 1\n//- /tests/test_cart.py\ndef test_settles(cart):\n    assert cart.settle()\n\n\ndef test_other(cart):\n    assert cart.open()\n";
    let (session, repo) = (Session::new(), Fixture::from_text(text));
    repo.commit("a cart that a fixture makes");
    session.index(&repo);
    let found = session.json(
        repo.path(),
        &["test-scope", "--files", "cart.py", "--output", "functions", "--evidence", "name,named"],
    );
    assert_eq!((&found["functions"][0]["by_name"], &found["uncovered"]), (&json!(true), &json!([])));
    assert_eq!(found["functions"][0]["name"], "test_settles", "{found}");
    assert_eq!(found["functions"][1]["evidence"], json!(["named after"]), "{found}");
    let by_name = ["test-scope", "--files", "cart.py", "--output", "functions", "--evidence", "name"];
    let found = session.json(repo.path(), &by_name);
    assert_eq!(names(&found["functions"]), BTreeSet::from(["test_settles".to_owned()]), "{found}");
}
