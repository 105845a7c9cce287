//! Whether a proof holds: from the file alone, without a repository or a database.

use std::io::Read as _;
use std::path::PathBuf;

use knowing_model::name::qualified_name;
use knowing_snapshot::proof::{Proof, ProofType, Symbol};
use knowing_snapshot::verify::{Expected, verify};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::SCHEMA;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};

/// Verify a proof from its file alone
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing verify proof.json
  knowing verify proof.json --expect-commit $(git rev-parse HEAD) --expect-repo github.com/acme/app
  knowing prove serve make | knowing verify -

A proof binds a statement to a snapshot, and a snapshot to a commit. Whether that is the commit you trust, only you can \
say: give it with `--expect-commit`. Exit codes: 0 it holds, 1 it does not, 2 the file cannot be read.")]
pub struct Verify {
    /// The proof; `-` reads it from standard input
    pub file: PathBuf,
    /// The commit you trust, in hex; 8 or more digits
    #[arg(long, value_name = "COMMIT")]
    #[serde(default)]
    pub expect_commit: Option<String>,
    /// The snapshot you trust, in hex; 8 or more digits
    #[arg(long, value_name = "SNAPSHOT")]
    #[serde(default)]
    pub expect_snapshot: Option<String>,
    /// The repository you trust, by its url
    #[arg(long, value_name = "URL")]
    #[serde(default)]
    pub expect_repo: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerifyReply {
    /// Version of this JSON.
    pub schema: u32,
    pub holds: bool,
    /// What the proof claims, in words.
    pub statement: String,
    pub repo: String,
    pub commit: String,
    pub snapshot: String,
    pub stage: String,
    /// How the edge is known, of one that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<String>,
    /// The first step that fails: 1 identities, 2 inclusion, 3 absence, 4 snapshot, 5 expectations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_step: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Proofs are a few kilobytes; what is larger than this is something else.
const MAX_BYTES: u64 = 16 << 20;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Verify) -> Result<VerifyReply> {
    let expected_repo = arguments
        .expect_repo
        .as_deref()
        .map(|it| knowing_model::normalise_url(it).unwrap_or_else(|| it.trim_matches('/').to_owned()));
    let expected = Expected {
        commit: digits("commit", arguments.expect_commit.as_deref())?,
        snapshot: digits("snapshot", arguments.expect_snapshot.as_deref())?,
        repo: expected_repo.as_deref(),
    };
    let name = arguments.file.display().to_string();
    let bytes = read(cx, arguments).map_err(|error| {
        let hint = "give a file that `knowing prove` has written";
        Error::new(ErrorKind::BadInput, format!("cannot read the proof `{name}`: {error}"), hint)
    })?;
    let proof = Proof::from_json(&bytes).map_err(|reason| {
        let hint = "it may be cut short, or of another program: make it again with `knowing prove`";
        Error::new(ErrorKind::BadInput, format!("`{name}` is no proof: {reason}"), hint).at(&name)
    })?;
    let failure = verify(&proof, expected).err();
    Ok(VerifyReply {
        schema: SCHEMA,
        holds: failure.is_none(),
        statement: in_words(&proof),
        provenance: proof.leaf.as_ref().map(|it| it.provenance.clone()),
        repo: proof.repo,
        commit: proof.commit,
        snapshot: proof.snapshot,
        stage: proof.stage,
        failed_step: failure.as_ref().map(|it| it.step),
        reason: failure.map(|it| it.reason),
    })
}

fn read(cx: &Cx<'_>, arguments: &Verify) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if arguments.file.as_os_str() == "-" {
        std::io::stdin().lock().take(MAX_BYTES).read_to_end(&mut bytes)?;
    } else {
        let path = cx.environment.working_directory.join(&arguments.file);
        std::fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// A whole id or the first digits of one; fewer than eight could be anyone's.
fn digits<'a>(what: &str, given: Option<&'a str>) -> Result<Option<&'a str>> {
    match given {
        Some(text) if text.len() < 8 || !text.bytes().all(|it| it.is_ascii_hexdigit()) => Err(Error::new(
            ErrorKind::Usage,
            format!("`{text}` is no {what} id of 8 or more hex digits"),
            "give the id itself, such as `$(git rev-parse HEAD)`",
        )),
        given => Ok(given),
    }
}

/// What a proof says, with names as they are in its repository.
pub(crate) fn in_words(proof: &Proof) -> String {
    let name = |it: &Symbol| {
        let name = qualified_name(&it.repo, &it.container, &it.symbol);
        let own = name.strip_prefix(&proof.repo).and_then(|it| it.strip_prefix("://"));
        format!("{} `{}`", it.kind, own.unwrap_or(&name))
    };
    let article = match proof.proof_type {
        ProofType::Inclusion => "an",
        ProofType::Absence => "no",
    };
    let statement = &proof.statement;
    let (source, target) = (name(&statement.source), name(&statement.target));
    format!("there is {article} edge `{}` from {source} to {target}", statement.kind)
}
