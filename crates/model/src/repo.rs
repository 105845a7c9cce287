//! Repository urls in their one normal form: `host/path`, whatever the remote looked like.

/// The normal form of a remote url, or none when it names a place on this machine (`/x`, `../x`, `C:\x`, `file:`).
///
/// Scheme, user, password, default port, query, trailing `/` and `.git` are dropped; the host is lower-cased and the
/// case of the path is kept.
pub fn normalise_url(remote: &str) -> Option<String> {
    let remote = remote.trim();
    let (host, path) = match remote.split_once("://") {
        Some((scheme, rest)) => {
            if scheme.eq_ignore_ascii_case("file") {
                return None;
            }
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = without_user(authority);
            (without_default_port(host, scheme), path)
        }
        None => scp_like(remote)?,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    if host.is_empty() {
        return None;
    }
    let host = host.to_lowercase();
    Some(if path.is_empty() { host } else { format!("{host}/{path}") })
}

/// `user@host:path`, or an already normal `host/path`.
fn scp_like(remote: &str) -> Option<(&str, &str)> {
    if remote.starts_with(['/', '.', '~', '\\']) || remote.contains('\\') {
        return None;
    }
    if let Some((authority, path)) = remote.split_once(':') {
        // A single letter before the colon is a drive, `a/b:c` is a path.
        if authority.len() < 2 || authority.contains('/') {
            return None;
        }
        return Some((without_user(authority), path));
    }
    let (host, path) = remote.split_once('/')?;
    host.contains('.').then_some((host, path))
}

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn without_default_port<'a>(host: &'a str, scheme: &str) -> &'a str {
    let default = match scheme.to_ascii_lowercase().as_str() {
        "https" => ":443",
        "http" => ":80",
        "ssh" | "git+ssh" => ":22",
        "git" => ":9418",
        _ => return host,
    };
    host.strip_suffix(default).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(remote: &str, expect: Option<&str>) {
        assert_eq!(normalise_url(remote).as_deref(), expect, "{remote}");
    }

    #[test]
    fn remotes_of_one_repository_have_one_form() {
        for remote in [
            "https://github.com/acme/App.git",
            "https://user:secret@GitHub.com:443/acme/App/",
            "git@github.com:acme/App.git",
            "ssh://git@github.com:22/acme/App.git",
            "git://github.com/acme/App?x=1",
            "github.com/acme/App",
        ] {
            check(remote, Some("github.com/acme/App"));
        }
        check("ssh://git@host:2222/a/b.git", Some("host:2222/a/b"));
    }

    #[test]
    fn places_on_this_machine_are_no_remote() {
        for remote in ["/srv/x.git", "../x", "C:\\x", "C:/x", "file:///srv/x", "~/x", "relative/path"] {
            check(remote, None);
        }
    }
}
