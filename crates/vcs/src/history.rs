//! How far apart two commits are.

use crate::{Checkout, CommitId, Error, Result};

impl Checkout {
    /// How many commits of `later`'s history `earlier`'s lacks; none when `earlier` is not in it, or is not here.
    pub fn n_commits_between(&self, earlier: CommitId, later: CommitId) -> Result<Option<usize>> {
        let repo = self.local();
        if !matches!(repo.merge_base(earlier.0, later.0), Ok(Some(base)) if base.detach() == earlier.0) {
            return Ok(None);
        }
        let walk = repo.rev_walk([later.0]).with_hidden([earlier.0]).all();
        let walk = walk.map_err(Error::git("read the history of HEAD"))?;
        Ok(Some(walk.take_while(|it| it.is_ok()).count()))
    }
}

#[cfg(test)]
mod tests {
    use knowing_testkit::Fixture;

    use super::*;

    #[test]
    fn commits_are_counted_from_ancestor_to_descendant() {
        let repo = Fixture::new();
        let first = repo.commit("first");
        repo.commit("second");
        let third = repo.commit("third");
        repo.git(&["checkout", "-q", "--orphan", "other"]);
        let other = repo.commit("other");
        let checkout = Checkout::open(repo.path()).unwrap();
        let id = |hex: &str| CommitId::from_hex(hex).unwrap();
        let between = |a: &str, b: &str| checkout.n_commits_between(id(a), id(b)).unwrap();
        assert_eq!(between(&first, &third), Some(2));
        assert_eq!(between(&third, &third), Some(0));
        assert_eq!(between(&third, &first), None);
        assert_eq!(between(&first, &other), None);
        assert_eq!(between(&"1".repeat(40), &third), None);
    }
}
