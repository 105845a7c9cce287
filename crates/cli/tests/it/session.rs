//! Runs the real executable with a data directory of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use knowing_testkit::Fixture;
use serde_json::Value;
use tempfile::TempDir;

/// An empty data directory that lives as long as this value.
pub(crate) struct Session {
    home: TempDir,
}

/// What a command left.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session { home: TempDir::new().unwrap() }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The executable, cut off from the user's own settings.
    pub(crate) fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("knowing"));
        command
            .current_dir(directory)
            .env("XDG_DATA_HOME", self.data())
            .env("HOME", self.home.path())
            .env_remove("KNOWING_DB")
            .env_remove("NO_COLOR");
        command
    }

    #[track_caller]
    pub(crate) fn run(&self, directory: &Path, arguments: &[&str]) -> Ran {
        let output = self.command(directory).args(arguments).output().unwrap();
        Ran {
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command that must succeed, and gives its text.
    #[track_caller]
    pub(crate) fn text(&self, directory: &Path, arguments: &[&str]) -> String {
        let ran = self.run(directory, arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Runs a command that must succeed with `--json`.
    #[track_caller]
    pub(crate) fn json(&self, directory: &Path, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--json"]].concat();
        serde_json::from_str(&self.text(directory, &arguments)).unwrap()
    }

    /// Runs a command that must fail with this exit code and kind, and gives the error of its JSON.
    #[track_caller]
    pub(crate) fn error(&self, directory: &Path, arguments: &[&str], code: i32, kind: &str) -> Value {
        let arguments = [arguments, &["--json"]].concat();
        let ran = self.run(directory, &arguments);
        let object: Value = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}{}", ran.stdout, ran.stderr));
        let error = object["error"].clone();
        assert_eq!((ran.code, error["kind"].as_str()), (code, Some(kind)), "{arguments:?}: {error}");
        for field in ["message", "hint"] {
            assert!(error[field].as_str().is_some_and(|it| !it.is_empty()), "{arguments:?}: no {field}");
        }
        error
    }

    #[track_caller]
    pub(crate) fn index(&self, repo: &Fixture) -> Value {
        self.json(repo.path(), &["index"])
    }
}

/// A small shop, committed: classes that inherit, calls that resolve and one that does not.
pub(crate) fn shop() -> Fixture {
    let repo = Fixture::from_text(SHOP);
    repo.commit("open the shop");
    repo
}

const SHOP: &str = r#"
//- /shop/__init__.py
//- /shop/cart.py
"""Carts."""


class Base:
    def close(self):
        pass

    def run(self, x):
        return x


class Cart(Base):
    def __init__(self):
        self.items = []

    def total(self, tax=0):
        return sum(self.items) + tax

    def run(self, x):
        return self.total() + x


def make():
    cart = Cart()
    cart.total()
    cart.close()
    return cart
//- /shop/desk.py
from shop.cart import make


def serve():
    return make()


def loose(thing):
    thing.close()
    thing.close(1, 2)
//- /tests/test_cart.py
from shop.cart import make


def test_make():
    cart = make()
    assert cart.total() == 0
"#;
