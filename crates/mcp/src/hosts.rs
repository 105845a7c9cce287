//! Whether a request was meant for this server: a page in a browser can be made to ask one that it may not see.
//!
//! A name that leads here by a trick shows in `Host`, a foreign page in `Origin`. Both are looked at before anything is read.

use std::net::SocketAddr;

use http::{HeaderMap, Uri, header};

use crate::http::Listen;

pub(crate) struct Hosts {
    names: Vec<String>,
    port: u16,
    /// Reached under names that it cannot know; the token shows that it is meant.
    is_reachable_by_others: bool,
}

impl Hosts {
    pub(crate) fn new(listen: &Listen, addresses: &[SocketAddr]) -> Hosts {
        let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        names.extend(listen.address.map(|it| it.to_string()));
        Hosts {
            names,
            port: addresses.first().map_or(listen.port, SocketAddr::port),
            is_reachable_by_others: listen.is_reachable_by_others(),
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Pages that this server may have given: it gives none, but a tool beside it may.
    pub(crate) fn origins(&self) -> Vec<String> {
        let origin = |name: &String| match name.contains(':') {
            true => format!("http://[{name}]:{}", self.port),
            false => format!("http://{name}:{}", self.port),
        };
        self.names.iter().map(origin).collect()
    }

    pub(crate) fn allow(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        self.is_host(uri, headers) && self.is_origin(headers)
    }

    fn is_host(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        if self.is_reachable_by_others {
            return true;
        }
        let mut given = headers.get_all(header::HOST).iter();
        let host = match (given.next(), given.next()) {
            (Some(host), None) => host.to_str().ok().and_then(|it| it.parse::<http::uri::Authority>().ok()),
            (None, _) => uri.authority().cloned(),
            _ => None,
        };
        let name = |it: &http::uri::Authority| it.host().trim_matches(['[', ']']).to_ascii_lowercase();
        host.is_some_and(|it| self.names.contains(&name(&it)))
    }

    fn is_origin(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(header::ORIGIN).iter();
        match (given.next(), given.next()) {
            // No browser.
            (None, _) => true,
            (Some(origin), None) => {
                origin.to_str().is_ok_and(|it| self.origins().iter().any(|own| own == it))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &str)], expect: bool) {
        let listen = Listen { address: None, port: 7411, token: None };
        let hosts = Hosts::new(&listen, &[]);
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        assert_eq!(hosts.allow(&Uri::from_static("/mcp"), &headers), expect, "{headers:?}");
    }

    #[test]
    fn only_what_was_meant_for_us_comes_in() {
        check(&[("host", "127.0.0.1:7411")], true);
        check(&[("host", "LOCALHOST")], true);
        check(&[("host", "[::1]:7411")], true);
        check(&[("host", "localhost:7411"), ("origin", "http://localhost:7411")], true);
        check(&[("host", "evil.example")], false);
        check(&[("host", "localhost.evil.example")], false);
        check(&[], false);
        for origin in ["http://evil.example", "null", "https://localhost:7411", "http://localhost:80", ""] {
            check(&[("host", "localhost:7411"), ("origin", origin)], false);
        }
    }
}
