//! What was said of symbols: whether an answer that had them was the better for it.

use knowing_model::{Hash, NodeId};

use crate::connection::Store;
use crate::error::{Fault, Result};

/// One thing that was said of one symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeedbackRecord {
    pub symbol: NodeId,
    /// Empty when there was none.
    pub session: String,
    pub useful: bool,
    pub source: FeedbackSource,
    /// What the task was about.
    pub cluster: String,
    pub keywords: String,
    /// Of the symbol's package when it was said.
    pub package_root: Hash,
    pub pack_root: Option<Hash>,
    pub note: String,
    /// Seconds since 1970.
    pub at: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeedbackSource {
    /// Someone said so.
    Explicit,
    /// It was seen to be used, or not.
    Implicit,
}

impl FeedbackSource {
    pub fn name(self) -> &'static str {
        match self {
            FeedbackSource::Explicit => "explicit",
            FeedbackSource::Implicit => "implicit",
        }
    }

    fn from_name(name: &str) -> Option<FeedbackSource> {
        [FeedbackSource::Explicit, FeedbackSource::Implicit].into_iter().find(|it| it.name() == name)
    }
}

impl Store {
    /// What is said explicitly stands instead of what was concluded in the same session.
    pub fn record_feedback(&mut self, repo: i64, record: &FeedbackRecord) -> Result<()> {
        self.write(|db| {
            if record.source == FeedbackSource::Explicit && !record.session.is_empty() {
                db.prepare_cached(
                    "DELETE FROM feedback
                     WHERE repo_id = ?1 AND node_id = ?2 AND session = ?3 AND source = 'implicit'",
                )?
                .execute((repo, record.symbol.as_bytes().as_slice(), &record.session))?;
            }
            db.prepare_cached(
                "INSERT INTO feedback (repo_id, node_id, session, useful, source, cluster, keywords, package_root,
                     pack_root, note, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute((
                repo,
                record.symbol.as_bytes().as_slice(),
                &record.session,
                record.useful,
                record.source.name(),
                &record.cluster,
                &record.keywords,
                record.package_root.as_bytes().as_slice(),
                record.pack_root.as_ref().map(|it| it.as_bytes().as_slice()),
                &record.note,
                record.at,
            ))?;
            Ok(())
        })
    }

    /// All that was said of a symbol, oldest first.
    pub fn feedback_of(&self, repo: i64, symbol: NodeId) -> Result<Vec<FeedbackRecord>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT session, useful, source, cluster, keywords, package_root, pack_root, note, created_at
                 FROM feedback WHERE repo_id = ?1 AND node_id = ?2 ORDER BY feedback_row",
            )?;
            let mut rows = statement.query((repo, symbol.as_bytes().as_slice()))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let source: String = row.get(2)?;
                let pack_root: Option<Vec<u8>> = row.get(6)?;
                found.push(FeedbackRecord {
                    symbol,
                    session: row.get(0)?,
                    useful: row.get(1)?,
                    source: FeedbackSource::from_name(&source)
                        .ok_or_else(|| Fault::damaged(format!("feedback of an unknown source `{source}`")))?,
                    cluster: row.get(3)?,
                    keywords: row.get(4)?,
                    package_root: hash(&row.get::<_, Vec<u8>>(5)?)?,
                    pack_root: pack_root.map(|it| hash(&it)).transpose()?,
                    note: row.get(7)?,
                    at: row.get(8)?,
                });
            }
            Ok(found)
        })
    }
}

fn hash(bytes: &[u8]) -> std::result::Result<Hash, Fault> {
    let bytes = bytes.try_into().map_err(|_| Fault::damaged("a hash of feedback is cut off"))?;
    Ok(Hash(bytes))
}
