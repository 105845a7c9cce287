//! A temporary directory with a git repository in it, and the `git` command cut off from the user's configuration.

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// A directory that lives as long as this value. Most have a git repository in them.
pub struct Fixture {
    home: TempDir,
    root: PathBuf,
    n_commits: Cell<u64>,
}

impl Fixture {
    /// An empty repository on the branch `main`.
    #[track_caller]
    pub fn new() -> Fixture {
        let fixture = Fixture::directory();
        fixture.git(&["init", "-q", "-b", "main"]);
        fixture
    }

    /// An empty directory without git.
    #[track_caller]
    pub fn directory() -> Fixture {
        let home = TempDir::new().expect("a temporary directory");
        // Canonical, because that is how git spells it; one level down, so that there is room for siblings.
        let root = fs::canonicalize(home.path()).expect("the directory exists").join("repo");
        fs::create_dir(&root).expect("the directory is new");
        Fixture { home, root, n_commits: Cell::new(0) }
    }

    /// A repository with these files, not yet committed. A line `//- /path` begins a file.
    #[track_caller]
    pub fn from_text(text: &str) -> Fixture {
        let fixture = Fixture::new();
        fixture.write_text(text);
        fixture
    }

    /// A repository made by `git clone` with these arguments from `source`, as another fixture.
    #[track_caller]
    pub fn clone_of(source: &Fixture, arguments: &[&str]) -> Fixture {
        let fixture = Fixture::directory();
        // `file://` goes through the transport, so `--depth` and `--filter` mean something.
        let url = format!("file://{}", source.path().display());
        let target = fixture.root.to_str().expect("temporary paths are UTF-8").to_owned();
        let mut all = vec!["clone", "-q"];
        all.extend(arguments);
        all.extend([url.as_str(), target.as_str()]);
        fixture.git(&all);
        fixture
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// A path beside the repository that is removed with it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.with_file_name(name)
    }

    #[track_caller]
    pub fn write(&self, path: &str, text: &str) {
        self.write_bytes(path, text.as_bytes());
    }

    #[track_caller]
    pub fn write_bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.root.join(path);
        let parent = path.parent().expect("a file stands in a directory");
        fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
        fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Writes every file of a text with lines `//- /path`.
    #[track_caller]
    pub fn write_text(&self, text: &str) {
        for (path, content) in split_files(text) {
            self.write(path, &content);
        }
    }

    #[track_caller]
    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    #[track_caller]
    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Commits the whole work tree, changed or not, and returns the commit's id in hex.
    #[track_caller]
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.commit_staged(message)
    }

    /// Commits what stands in the index.
    #[track_caller]
    pub fn commit_staged(&self, message: &str) -> String {
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.n_commits.set(self.n_commits.get() + 1);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in the repository and returns what it printed, trimmed.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.root, arguments)
    }

    /// Runs git in another directory, for example in a linked worktree of this repository.
    #[track_caller]
    pub fn git_in(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = self.command(directory).args(arguments).output().expect("git is installed");
        assert!(
            output.status.success(),
            "git {} failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            // A test may itself run inside a git hook, whose variables name another repository.
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        // One minute a commit, so that histories have an order in time.
        let date = format!("{} +0000", 1_700_000_000 + 60 * self.n_commits.get());
        command
            .current_dir(directory)
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ALLOW_PROTOCOL", "file")
            .env("GIT_AUTHOR_NAME", "Ada")
            .env("GIT_AUTHOR_EMAIL", "ada@example.com")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", "Ada")
            .env("GIT_COMMITTER_EMAIL", "ada@example.com")
            .env("GIT_COMMITTER_DATE", &date)
            .env("LC_ALL", "C")
            .args(["-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"]);
        command
    }
}

impl Default for Fixture {
    fn default() -> Fixture {
        Fixture::new()
    }
}

/// The files of a text in which a line `//- /path` begins a file.
#[track_caller]
pub fn split_files(text: &str) -> Vec<(&str, String)> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("//- /") {
            Some(path) => files.push((path.trim_end(), String::new())),
            None => match files.last_mut() {
                Some((_, content)) => content.push_str(line),
                None => assert!(line.trim().is_empty(), "text before the first `//- /path`: {line:?}"),
            },
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_gives_the_same_commit() {
        let text = "//- /a/b.py\nx = 1\n//- /c.py\n";
        let one = Fixture::from_text(text);
        let two = Fixture::from_text(text);
        assert_eq!(one.commit("first"), two.commit("first"));
        assert_eq!(one.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "a/b.py\nc.py");
        assert_eq!(one.read("a/b.py"), b"x = 1\n");
        assert_eq!(one.read("c.py"), b"");
    }

    #[test]
    fn later_commits_are_later_in_time() {
        let repo = Fixture::new();
        let first = repo.commit("first");
        let second = repo.commit("second");
        assert_ne!(first, second);
        assert_eq!(repo.git(&["log", "--format=%ct %s"]), "1700000060 second\n1700000000 first");
        assert_eq!(repo.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    }

    #[test]
    #[should_panic(expected = "git no-such-command failed")]
    fn a_failing_command_fails_the_test() {
        Fixture::new().git(&["no-such-command"]);
    }
}
