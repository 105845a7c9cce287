"""A commit dressed as the bug report that might have led to it: title, story, changelog lines, and what its tests do."""
import os, re, textwrap

CLOSING = re.compile(r"^\s*\(?(?:(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|bug|issue|pr|gh|ticket)\b[\s:,-]*)?(?:(?:issue|pr|gh|bug)?[\s-]*#\d+[\s,:;.)-]*)+", re.I)
CONVENTIONAL = re.compile(r"^(fix|feat|feature|perf|refactor|bugfix|enh|bug)(\([^)]*\))?!?:\s*", re.I)
NUMBER = re.compile(r"\s*\(?(?:closes?|fix(?:es|ed)?|resolves?|refs?|see)?[\s:]*\(?#\d{2,}\)?\)?", re.I)
TEST_FILE = re.compile(r"(^|[/_.-])(tests?|testing|spec|specs|e2e)([/_.-]|$)", re.I)
TEST_CODE = (".py", ".rs", ".test", ".typ", ".nu", ".pyi", ".go", ".java", ".ts", ".tsx", ".js", ".jsx", ".rb", ".cs", ".kt")
CHANGELOG = re.compile(r"(^|/)(changes?|changelog|news|newsfragments?|history|whatsnew|release[-_ ]?notes?|releases?|unreleased[^/]*)(/|\.|$)", re.I)
FENCES = {".py": "python", ".rs": "rust", ".go": "go", ".java": "java", ".ts": "typescript", ".tsx": "tsx", ".js": "js", ".jsx": "jsx",
          ".rb": "ruby", ".cs": "csharp"}


def first_test_line(data):
    """The line where a Rust file's own tests begin, or a line beyond the end."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if re.match(rb"\s*(pub(\(crate\))?\s+)?mod (tests?|unittests?)\b", line):
            return number
    return 1 << 40


def fixed_symbols(repository, sources, truth, inline):
    """Without the tests that live inside a source file; only functions where the fix touches any."""
    where = {}
    for path, old in sources:
        for first, _, name, _ in repository.spans(path, old):
            where.setdefault((path, name), first)
    kept = [t for t in truth if where.get(t[:2], 0) < inline.get(t[0], 1 << 40)]
    functions = [t for t in kept if t[2] == "callable"]
    return functions or kept


def title(message):
    subject = re.sub(r"^\s*\[[^\]]*\]\s*", "", message.split("\n", 1)[0])
    for _ in range(2):
        subject = CONVENTIONAL.sub("", CLOSING.sub("", subject))
    subject = NUMBER.sub("", subject).strip(" .-:[]")
    return subject[:1].upper() + subject[1:]


def story(message):
    body = message.split("\n", 1)[1] if "\n" in message else ""
    lines = [NUMBER.sub("", line) for line in body.split("\n") if not re.fullmatch(r"[-=]{3,}", line.strip())]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def news(patch):
    lines = []
    for path, hunks in patch.items():
        if CHANGELOG.search(path) and path.endswith((".rst", ".md", ".txt", ".bugfix", ".feature", ".misc")) or re.search(r"/news/|newsfragments/|/CHANGES/", "/" + path):
            lines += [line for h in hunks for line in h.added]
    out = []
    for line in lines[:30]:
        line = re.sub(r":\w+:`~?([^`<]*)(?:<[^`]*>)?`", lambda m: "" if m[1].isdigit() else f"`{m[1].strip()}`", line)
        line = re.sub(r"\[#?\d+\]\([^)]*\)|\(https?:[^)]*\)|https?://\S+|`[^`]*<[^>]*>`_+", "", line)
        if re.match(r"\s*(\.\. |:tags:|:tickets:|:versions:|[=~\-^*]{3,}|#)", line):
            continue
        line = re.sub(r"^\s*[-*+]\s+", "", NUMBER.sub("", line)).strip()
        line = re.sub(r"\bby @?[\w-]+\b.*$|\[[\w-]+\]\s*$", "", line).strip(" ,;")
        if len(line) > 12:
            out.append(line)
    return "\n".join(out)[:700]


def test_lines(patch, inline):
    """(lines, extension) of the longest run of added test code."""
    best, ext = [], ""
    for path, hunks in sorted(patch.items()):
        is_test = TEST_FILE.search(path) and path.endswith(TEST_CODE) or path in inline
        for hunk in hunks if is_test else ():
            if path in inline and hunk.old < inline[path]:
                continue
            lines = [line for line in hunk.added if "Copyright" not in line]
            if len(lines) > len(best):
                best, ext = lines, os.path.splitext(path)[1]
    return best, ext


def snippet(lines, ext, style, most, bare):
    if bare:
        lines = [l for l in lines if not re.match(r"\s*((async )?def test|@pytest|@mock|#\[(tokio::)?test|fn test|(pub )?(async )?fn \w*test|\"\"\"|class Test|func Test|@Test|\[(Fact|Test|TestMethod|Theory)|(public )?(async )?void test\w*|describe\(|(it|test)[ (][\"'])", l)]
    text = textwrap.dedent("\n".join(l.replace("\t", "    ") for l in lines[:most])).strip("\n")
    if not text.strip():
        return ""
    if style == "fence":
        return f"```{FENCES.get(ext, '')}\n{text}\n```"
    if style == "plain fence":
        return f"```\n{text}\n```"
    if style == "indent":
        return textwrap.indent(text, "    ")
    return text


def go_trace(frames):
    out = ["panic: runtime error: invalid memory address or nil pointer dereference", "", "goroutine 1 [running]:"]
    for path, line, name in frames:
        owner, _, function = name.rpartition(".")
        receiver = f"(*{owner})." if owner else ""
        out += [f"main/{os.path.dirname(path)}.{receiver}{function}(0xc000010000)", f"\t/go/src/{path}:{line} +0x1d"]
    return out


def java_trace(frames):
    package = lambda path: ".".join(re.sub(r"^.*?(src/main/java/|src/|java/)", "", os.path.dirname(path) + "/").strip("/").split("/"))
    return ["Exception in thread \"main\" java.lang.IllegalStateException"] + \
        [f"\tat {package(path)}.{name}({os.path.basename(path)}:{line})" for path, line, name in frames]


def script_trace(frames):
    return ["TypeError: Cannot read properties of undefined"] + \
        [f"    at {name} (/app/{path}:{line}:15)" for path, line, name in frames]


def ruby_trace(frames):
    shown = [f"{path}:{line}:in `{name.rsplit('.', 1)[-1]}'" for path, line, name in frames]
    return [f"{shown[0]}: undefined method for nil (NoMethodError)"] + [f"\tfrom {line}" for line in shown[1:]]


def sharp_trace(frames):
    return ["Unhandled exception. System.NullReferenceException: Object reference not set to an instance of an object."] + \
        [f"   at {name}() in /src/{path}:line {line}" for path, line, name in frames]


TRACES = {".go": go_trace, ".java": java_trace, ".rb": ruby_trace, ".cs": sharp_trace,
          ".ts": script_trace, ".tsx": script_trace, ".js": script_trace, ".jsx": script_trace}


def stack(repository, commit, truth, base_tree, chance):
    """A stack trace that passes through what is to be fixed, more often than not. Invented: a third of real reports
    have one, and a ranker that never sees any cannot learn what frames are worth."""
    path, name, _ = truth[int(chance(commit, "which") * len(truth))]
    folder = os.path.dirname(path)
    near = sorted(p for p in base_tree if p.endswith(os.path.splitext(path)[1]) and os.path.dirname(p).startswith(folder.split("/")[0])
                  and not TEST_FILE.search(p))
    near = sorted(near, key=lambda p: (os.path.dirname(p) != folder, chance(commit, p)))[:6]
    frames = []
    for i, p in enumerate(near):
        functions = [s for s in repository.spans(p, base_tree[p]) if s[3] == "callable"]
        if functions:
            s = functions[int(chance(commit, p, i) * len(functions))]
            frames.append((p, s[0] + int(chance(commit, i) * (s[1] - s[0])), s[2]))
    frames = sorted(frames, key=lambda f: chance(commit, f[2]))[:2 + int(chance(commit, "depth") * 4)]
    if path in base_tree and chance(commit, "through") < 0.7:
        here = [s for s in repository.spans(path, base_tree[path]) if s[2] == name]
        if here:
            s = here[0]
            at = len(frames) if chance(commit, "end") < 0.45 else int(chance(commit, "at") * (len(frames) + 1))
            frames.insert(at, (path, s[0] + int(chance(commit, "line") * (s[1] - s[0])), name))
    if len(frames) < 2:
        return ""
    if path.endswith(".rs"):
        crate = lambda p: re.sub(r"^(crates/|src/)|/src|\.rs$|/(mod|lib|main)$", "", p).replace("/", "::").replace("-", "_")
        out = [f"thread 'main' panicked at {frames[-1][0]}:{frames[-1][1]}:9:", "stack backtrace:"]
        for i, (p, line, n) in enumerate(reversed(frames)):
            out += [f"   {i}: {crate(p)}::{n.replace('.', '::')}", f"             at ./{p}:{line}"]
        return "\n".join(out)
    if not path.endswith(".py"):
        return "\n".join(TRACES[os.path.splitext(path)[1]](list(reversed(frames))))
    prefix = ("", "/usr/lib/python3/site-packages/", "/home/user/venv/lib/python3.9/site-packages/")[int(chance(commit, "prefix") * 3)]
    out = ["Traceback (most recent call last):", '  File "example.py", line 12, in <module>', "    main()"]
    for p, line, n in frames:
        text = repository.blob(base_tree[p]).split(b"\n")
        source = text[line - 1].decode("utf8", "replace").strip() if line <= len(text) else ""
        shown = re.sub(r"^(src|lib)/", "", p) if prefix else p
        out.append(f'  File "{prefix}{shown}", line {line}, in {n.rsplit(".", 1)[-1]}')
        if source:
            out.append("    " + source)
    return "\n".join(out)


def report(repository, commit, message, patch, inline, truth, base_tree, chance):
    """The text of the report, or None where the commit has neither tests nor news."""
    lines, ext = test_lines(patch, inline)
    told = news(patch)
    if len(lines) < 3 and len(told) < 40:
        return None
    pick = chance(commit, "shape")
    style = ("fence", "plain fence", "indent", "bare")[int(chance(commit, "style") * 4)]
    most = (12, 25, 40)[int(chance(commit, "length") * 3)]
    code = snippet(lines, ext, style, most, chance(commit, "bare") < 0.6) if len(lines) >= 3 else ""
    body = story(message)
    if code and pick < 0.2:
        parts = [title(message), code]
    elif pick < 0.35 and told:
        parts = [told.split("\n")[0], code, body]
    elif pick < 0.7:
        parts = [title(message), body, told, code]
    else:
        parts = [title(message), told or body, code]
    if chance(commit, "stack") < 0.18:
        trace = stack(repository, commit, truth, base_tree, chance)
        if trace:
            if chance(commit, "fence") < 0.5:
                trace = f"```\n{trace}\n```"
            parts.insert(1 + int(chance(commit, "place") * (len(parts) - 1)), trace)
    text = "\n\n".join(p for p in parts if p).strip()[:5000]
    return text if len(text) >= 40 else None
