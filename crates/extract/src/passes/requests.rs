//! Requests to HTTP endpoints by literal urls.

use super::{Found, Pass};

pub(super) fn find(_: &Pass<'_>, _: &mut Found) {}
