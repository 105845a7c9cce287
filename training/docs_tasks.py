"""Tasks from documentation: a section's words are the task, the public symbols that it speaks of are the truth."""
import os, re

DOCUMENT = re.compile(r"(^|/)(docs?|documentation|book|guide|website)/|(^|/)readme[^/]*$", re.I)
STALE = re.compile(r"change|news|history|release|whatsnew|upgrad|migrat|contribut|license|translat|locale|copyright|roadmap|/i18n/|"
                   r"/(?!en)[a-z]{2}(-[A-Z]{2})?/", re.I)
HEADING = re.compile(r"^[=~\-^*\"'#+.`:]{3,}\s*$")
REFERENCE = re.compile(r":(?:py:)?(?:class|func|meth|exc|attr|obj):`([^`]+)`|``([^`\n]+)``|\[?`([^`\n]+)`\]?|"
                       r"^\.\. auto(?:class|function|method|exception):: (\S+)", re.M)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::)[A-Za-z_][A-Za-z0-9_]*)*")
SHAPES = ("{heading}\n\n{text}", "How does {project} do this: {heading}. {text}", "{text}", "{heading}: {text}",
          "How does {project} handle {small}?", "Explain {small} in {project}. {text}", "Where is {small} implemented? {text}")


def sections(path, text):
    """(heading, whole text of the section) in order."""
    lines = text.replace("\r", "").split("\n")
    marks, fenced = [], False
    for i, line in enumerate(lines):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if path.endswith(".md"):
            m = re.match(r"#{1,4}\s+(.+?)\s*#*$", line)
            if m and not fenced:
                marks.append((i, i + 1, m[1]))
        elif i and HEADING.match(line) and lines[i - 1].strip() and len(line.rstrip()) >= len(lines[i - 1].strip()) - 2 \
                and not HEADING.match(lines[i - 1]) and not lines[i - 1].startswith((" ", "..")):
            marks.append((i - 1, i + 1, lines[i - 1].strip()))
    for (_, start, heading), following in zip(marks, marks[1:] + [(len(lines), 0, "")]):
        yield heading, "\n".join(lines[start:following[0]])


def first_paragraph(text):
    text = re.sub(r"(?ms)^\s*```.*?^\s*```\s*$", "", text)
    good = []
    for paragraph in re.split(r"\n\s*\n", text):
        stripped = paragraph.strip()
        if not stripped or paragraph.startswith(("    ", "\t", "   ")) or stripped.startswith(("..", "|", "<", "!", ">>>", ":", "[!", "{")):
            continue
        good.append(re.sub(r"\s+", " ", stripped))
        if len(" ".join(good)) > 160:
            break
    return " ".join(good)[:700]


def references(text):
    """(name, how sure) of what the section refers to: quoted names, and in its code what looks like an identifier."""
    out = {}
    for m in REFERENCE.finditer(text):
        quoted = next(g for g in m.groups() if g)
        quoted = re.sub(r"^[~!]|<.*|\(.*", "", quoted.strip()).strip()
        if re.fullmatch(WORD, quoted):
            out.setdefault(re.split(r"\.|::", quoted)[-1], quoted)
    code = "\n".join(re.findall(r"(?ms)^\s*```.*?^\s*```", text)) + "\n".join(l for l in text.split("\n") if l.startswith(("    ", "   >>>")))
    for word in WORD.findall(code):
        for part in re.split(r"\.|::", word):
            if re.search(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]|[a-z]_[a-z]", part) or re.match(r"[A-Z][a-z]{3,}", part):
                out.setdefault(part, word)
    return out


def words(identifier):
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier.rsplit(".", 1)[-1].rsplit("::", 1)[-1])
    return " ".join(p.lower() for p in parts)


def plain(text, how):
    """Without markup; identifiers kept, split into words, or left out."""
    def identifier(m):
        quoted = next(g for g in m.groups() if g)
        quoted = re.sub(r"^[~!]|<.*", "", quoted.strip()).strip()
        return {"keep": quoted.rsplit(".", 1)[-1] if m[0].startswith(":") else quoted, "split": words(quoted), "drop": ""}[how]
    text = re.sub(r":(?!(?:py:)?(?:class|func|meth|exc|attr|obj):)[\w:]+:`~?([^`<]*)(<[^`]*>)?`", r"\1", text)
    text = REFERENCE.sub(identifier, text)
    if how != "keep":
        text = re.sub(r"\b\w+_\w+\b|\b[A-Z]?[a-z]+[A-Z]\w*\b", lambda m: words(m[0]) if how == "split" else "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|`([^`<]*)<[^>]*>`_+", lambda m: m[1] or m[2] or "", text)
    return re.sub(r"\s+", " ", re.sub(r"::|[*`]+|\{#[^}]*\}|<[^>]+>|\|", "", text)).strip()


def small(heading):
    """As it stands inside a sentence; names in capitals stay."""
    return heading[:1].lower() + heading[1:] if heading[1:2].islower() else heading


def public_symbols(repository, tree, noise, sources):
    """{terminal name: (file, dotted name)} of the public symbols whose name stands once in the source."""
    found = {}
    for path, oid in sorted(tree.items()):
        if path.endswith(sources) and not noise.search(path):
            for _, _, name, _ in repository.spans(path, oid):
                found.setdefault(name.rsplit(".", 1)[-1], set()).add((path, name))
    return {last: next(iter(places)) for last, places in found.items()
            if len(places) == 1 and len(last) >= 4 and not last.startswith("_")}


def tasks(repository, name, base, noise, chance, most, seen, sources):
    tree = repository.tree(base)
    documents = [p for p in sorted(tree) if DOCUMENT.search(p) and p.endswith((".md", ".rst")) and not STALE.search(p)]
    public = public_symbols(repository, tree, noise, sources) if documents else {}
    found = []
    for path in documents:
        text = repository.blob(tree[path]).decode("utf8", "replace")
        for heading, body in sections(path, text):
            named = references(heading + "\n" + body)
            truth = sorted({public[last] for last in named if last in public})
            paragraph = first_paragraph(body)
            key = f"{path}#{heading}"
            if not 2 <= len(truth) <= 8 or len(paragraph) < 60 or key in seen or re.search(r"contents|](\(#|: )|^- ", heading + paragraph, re.I):
                continue
            pick = chance(name, key)
            how = "keep" if pick < 0.5 else "split" if pick < 0.8 else "drop"
            heading_text, paragraph = plain(heading, how), plain(paragraph, how)
            shape = SHAPES[int(chance(name, key, "shape") * len(SHAPES))]
            if "{text}" not in shape and len(heading_text.split()) < 3:
                shape = SHAPES[0]
            if chance(name, key, "short") < 0.4:
                paragraph = re.split(r"(?<=[.!?]) ", paragraph)[0]
            description = shape.format(heading=heading_text, small=small(heading_text), text=paragraph,
                                       project=name.split("/")[1]).strip()
            if len(description) < 40:
                continue
            found.append({"id": f"{name}-{base[:10]}-docs-{int(pick * 16**8):08x}", "kind": "docs", "repo": name, "base": base, "section": key,
                          "description": description, "truth": [{"file": p, "name": n} for p, n in truth]})
    found.sort(key=lambda t: chance(t["id"]))
    return found[:most]
