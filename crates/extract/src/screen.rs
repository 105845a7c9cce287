//! Which files are read at all, by path and bytes, and the marks that hold for a whole file.

use knowing_model::NodeFlags;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Screen {
    Skip(SkipReason),
    Accept { flags: NodeFlags },
}

/// Why a file gives no facts. The last five are found by who lists the files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SkipReason {
    Binary,
    TooLarge,
    LongLine,
    LfsPointer,
    Vendored,
    Submodule,
    Symlink,
    MissingObject,
    PathEncoding,
    ParseLimit,
}

impl SkipReason {
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::Binary => "binary",
            SkipReason::TooLarge => "too_large",
            SkipReason::LongLine => "long_line",
            SkipReason::LfsPointer => "lfs_pointer",
            SkipReason::Vendored => "vendored",
            SkipReason::Submodule => "submodule",
            SkipReason::Symlink => "symlink",
            SkipReason::MissingObject => "missing_object",
            SkipReason::PathEncoding => "path_encoding",
            SkipReason::ParseLimit => "parse_limit",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    pub max_file_bytes: usize,
    /// Read vendored files too, and mark them.
    pub vendored: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { max_file_bytes: 2 << 20, vendored: false }
    }
}

pub fn screen(path: &str, bytes: &[u8]) -> Screen {
    screen_with(path, bytes, &Rules::default())
}

pub fn screen_with(path: &str, bytes: &[u8], rules: &Rules) -> Screen {
    let flags = flags_of(path, bytes);
    let reason = if flags.contains(NodeFlags::VENDORED) && !rules.vendored {
        SkipReason::Vendored
    } else if bytes.len() as u64 > max_bytes(path, rules) {
        SkipReason::TooLarge
    } else if memchr::memchr(0, head(bytes, 8 << 10)).is_some() {
        SkipReason::Binary
    } else if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        SkipReason::LfsPointer
    } else if has_long_line(bytes) && !path.ends_with(".sql") {
        // Dumps insert a thousand rows in a line, and are not minified.
        SkipReason::LongLine
    } else {
        return Screen::Accept { flags };
    };
    Screen::Skip(reason)
}

/// How large a file may be to be read. Of what is no code the begin is read, if the whole is not out of all proportion.
pub fn max_bytes(path: &str, rules: &Rules) -> u64 {
    const MAX_CUT: usize = 64 << 20;
    let is_format = matches!(crate::registry::reader_of(path), Some(crate::registry::Reader::Format(_)));
    // Who asks for a small limit is not given a large one.
    match is_format && rules.max_file_bytes >= Rules::default().max_file_bytes {
        true => rules.max_file_bytes.max(MAX_CUT) as u64,
        false => rules.max_file_bytes as u64,
    }
}

/// Generated and vendored, from path and first bytes alone.
pub(crate) fn flags_of(path: &str, bytes: &[u8]) -> NodeFlags {
    let mut flags = NodeFlags::default();
    if is_vendored(path) {
        flags.insert(NodeFlags::VENDORED);
    }
    if is_generated_name(path) || has_generator_marker(bytes) {
        flags.insert(NodeFlags::GENERATED);
    }
    flags
}

fn head(bytes: &[u8], length: usize) -> &[u8] {
    &bytes[..bytes.len().min(length)]
}

fn has_long_line(bytes: &[u8]) -> bool {
    const MAX_LINE: usize = 64 << 10;
    bytes.len() > MAX_LINE && bytes.split(|&it| it == b'\n').any(|line| line.len() > MAX_LINE)
}

/// By directories, whose names can mean other things too: `src/dist/manifest.rs` is about distributions, and
/// `src/main/java/shop/vendor/Vendor.java` about those who sell.
fn is_vendored(path: &str) -> bool {
    const WEB: [&str; 11] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "css", "json"];
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ending = name.rsplit('.').next().unwrap_or(name);
    let mut is_source = false;
    for (at, directory) in directories.split('/').enumerate() {
        let is_vendored = match directory {
            "node_modules" | "third_party" | "bower_components" | ".venv" | "site-packages" => true,
            "vendor" => !(is_source && matches!(ending, "java" | "kt")),
            // What is built lies at the top or is for browsers, and never among what it is built of.
            "dist" => at == 0 || !is_source && WEB.contains(&ending),
            _ => false,
        };
        if is_vendored {
            return true;
        }
        is_source |= directory == "src";
    }
    name.contains(".min.")
}

fn is_generated_name(path: &str) -> bool {
    const ENDINGS: [&str; 6] = [".pb.go", "_pb2.py", "_pb2.pyi", "_pb2_grpc.py", ".g.cs", ".pb.rs"];
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("zz_generated") || ENDINGS.iter().any(|it| name.ends_with(it))
}

/// A marker counts in a comment only: code that writes markers is not generated itself.
fn has_generator_marker(bytes: &[u8]) -> bool {
    const MARKERS: [&str; 8] = [
        "@generated",
        "code generated by",
        "generated by the protocol buffer compiler",
        "automatically generated",
        "auto-generated",
        "autogenerated",
        "this file is generated",
        "this file was generated",
    ];
    const COMMENTS: [&str; 8] = ["#", "//", "/*", "*", "--", "<!--", ";", "\"\"\""];
    let head = head(bytes, 2 << 10);
    if !contains_ignoring_case(head, b"generated") {
        return false;
    }
    String::from_utf8_lossy(head).lines().any(|line| {
        let line = line.trim_start().to_ascii_lowercase();
        COMMENTS.iter().any(|it| line.starts_with(it)) && MARKERS.iter().any(|it| line.contains(it))
    })
}

fn contains_ignoring_case(bytes: &[u8], wanted: &[u8]) -> bool {
    let Some(first) = wanted.first() else { return true };
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), bytes)
        .any(|at| bytes.get(at..at + wanted.len()).is_some_and(|it| it.eq_ignore_ascii_case(wanted)))
}
