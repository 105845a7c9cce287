//! Paths of a repository, as files write them.

/// A path that is written in a directory, from the top; none when it leads out of the repository.
pub(crate) fn join(directory: &str, written: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
