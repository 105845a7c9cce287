//! The Tier 1 pipeline: from a repository to a stored snapshot.
