//! How much a file is to be suspected: what it can do, against how much of what did not change relies on it.

use knowing_extract::{Capability, CapabilityKind};

/// What counts of a file, and what it comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Score {
    pub(super) value: f64,
    pub(super) dangerous: usize,
}

/// The share of suspicion that code which others rely on is spared at most.
const RELIED_ON: f64 = 0.7;
/// As many things, or as many users, as make a difference.
const MOST_DANGEROUS: usize = 5;
const MOST_INBOUND: usize = 10;
/// Programs read their environment: alone that says little.
const ENVIRONMENT_ALONE: f64 = 0.2;
/// What is run cannot be told from the text.
const UNRESOLVABLE: f64 = 1.5;

pub(super) fn score(found: &[Capability], n_inbound: usize) -> Score {
    let dangerous = found.len();
    let part = |n: usize, most: usize| n.min(most) as f64 / most as f64;
    let mut value = part(dangerous, MOST_DANGEROUS) * (1.0 - RELIED_ON * part(n_inbound, MOST_INBOUND));
    if found.iter().all(|it| it.kind == CapabilityKind::ReadsEnv) {
        value *= ENVIRONMENT_ALONE;
    }
    if found.iter().any(is_unresolvable) {
        value = (value * UNRESOLVABLE).min(1.0);
    }
    Score { value, dangerous }
}

/// A program that is computed, or code that was hidden until it is run.
pub(super) fn is_unresolvable(it: &Capability) -> bool {
    it.hidden || it.kind == CapabilityKind::ExecutesProcess && it.what == "?"
}

/// Of a package: files that are suspicious, and files that it has.
pub(super) fn verdict(n_suspicious: usize, n_files: usize) -> super::Verdict {
    match n_suspicious {
        0 => super::Verdict::Clean,
        2.. if n_suspicious * 10 >= n_files => super::Verdict::Suspicious,
        _ => super::Verdict::Review,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit_supply_chain::Verdict;

    fn of(kinds: &[(CapabilityKind, &str)]) -> Vec<Capability> {
        let one = |&(kind, what): &(CapabilityKind, &str)| Capability {
            kind,
            what: what.to_owned(),
            line: 1,
            hidden: false,
        };
        kinds.iter().map(one).collect()
    }

    #[track_caller]
    fn check(kinds: &[(CapabilityKind, &str)], n_inbound: usize, expected: f64) {
        let found = score(&of(kinds), n_inbound).value;
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn a7_a_score_follows_the_rule() {
        use CapabilityKind::{ConsumesEndpoint, ExecutesProcess, ReadsEnv};
        let (env, process, host) = ((ReadsEnv, "A"), (ExecutesProcess, "sh"), (ConsumesEndpoint, "evil.io"));
        check(&[], 0, 0.0);
        check(&[env, process], 0, 0.4);
        check(&[env; 9], 0, 0.2);
        check(&[env, process, host], 5, 0.6 * 0.65);
        check(&[env, process, host], 90, 0.6 * 0.3);
        check(&[(ExecutesProcess, "?")], 0, 0.3);
        check(&[(ExecutesProcess, "?"); 5], 0, 1.0);
    }

    #[test]
    fn a7_a_package_is_suspicious_with_two_files_and_a_tenth() {
        assert_eq!(verdict(0, 10), Verdict::Clean);
        assert_eq!(verdict(1, 1), Verdict::Review);
        assert_eq!(verdict(2, 20), Verdict::Suspicious);
        assert_eq!(verdict(2, 21), Verdict::Review);
    }
}
