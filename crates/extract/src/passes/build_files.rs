//! Build files that are code: what they depend on.

use super::{Found, Pass};

pub(super) fn find(_: &Pass<'_>, _: &mut Found) {}
