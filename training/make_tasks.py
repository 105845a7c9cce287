"""Training tasks from public clones: commits, commits dressed as bug reports, sections of documentation, and what new code uses.

usage: make_tasks.py --bench BENCH --repos DIR --out DIR [--kinds commit,issue,docs,uses] [OWNER/NAME ...]

BENCH is the directory of the yardstick (its `symbols.py` says what a symbol is, its `corpus.json` which repositories
may never be trained on). DIR/OWNER+NAME/repo are git directories. The rules of what is a task and what is its truth are
those of the yardstick's `commit_tasks.py`; each repository gives two or three bases, and a commit is used for one base
only. Every choice is made by a hash of the commit's id, so the same clones give the same tasks.
"""
import argparse, hashlib, json, os, re, sys, time

from history import Repository
import docs_tasks, reports, uses_tasks

DISTANCES = (700, 2000, 4500)
MOST = {"commit": 90, "issue": 50, "docs": 22, "uses": 40}
NOISE = re.compile(r"(^|[/_.-])(tests?|spec|specs|testing|testdata|fixtures?|docs?|docs_src|examples?|vendor|third_party|"
                   r"node_modules|migrations|benches|benchmarks?|e2e|__tests__|locale|generated)([/_.-]|$)", re.I)
DULL = re.compile(r"^(chore|docs?|ci|tests?|release|bump|merge|revert|update|build|style|cleanup|typo|upgrade|deps?|dbg|version|remove stray|"
                  r"fix typo|minor|format|lint)\b|\btypos?\b|dependenc|translation|changelog|release notes|stray|rustfmt|clippy", re.I)
TRAILER = re.compile(r"(?im)^(signed-off-by|co-authored-by|reviewed-by|change-id|fixes|closes|refs?|see|cherry).*$")
NUMBERS = re.compile(r"\[?(?i:pr )?#\d+[^\]\s]*( backport)?\]?|\[[\d.x]+\]")
SOURCES = (".py", ".rs", ".go", ".java", ".ts", ".tsx", ".js", ".jsx", ".rb", ".cs")


def chance(*key):
    """A number in [0, 1) that depends on nothing but the key."""
    return int(hashlib.sha256("/".join(map(str, key)).encode()).hexdigest()[:12], 16) / 16**12


def cleaned(message):
    return re.sub(r"\n{3,}", "\n\n", TRAILER.sub("", message)).strip()[:1200]


def edited_sources(changes):
    """The source files that a commit changes, or nothing where the commit is not of the kind that makes a task."""
    sources = [(path, old) for status, path, old in changes
               if status == "M" and path.endswith(SOURCES) and not NOISE.search(path)]
    return sources if 1 <= len(sources) <= 4 else []


def edited_symbols(repository, base_tree, sources, patch):
    """[(file, dotted name, kind)] of the innermost symbols that the patch edits and that the base has as well."""
    truth = []
    for path, old in sources:
        at_base = {name for *_, name, _ in repository.spans(path, base_tree[path])} if path in base_tree else set()
        spans = repository.spans(path, old)
        for hunk in patch.get(path, ()):
            lines = range(hunk.old, hunk.old + hunk.n_old) if hunk.n_old else (hunk.old, hunk.old + 1)
            for line in lines:
                inside = [s for s in spans if s[0] <= line <= s[1]]
                if not inside:
                    continue
                s = min(inside, key=lambda s: s[1] - s[0])
                if not hunk.n_old and not (s[0] <= hunk.old and hunk.old + 1 <= s[1]):
                    continue
                if s[2] in at_base and not any((path, s[2]) == t[:2] for t in truth):
                    truth.append((path, s[2], s[3]))
    return truth


def history_tasks(repository, name, base, span, kinds):
    base_tree = repository.tree(base)
    tasks = {"commit": [], "issue": []}
    wanted = [k for k in tasks if k in kinds]
    candidates = [(commit, message, changes, edited_sources(changes)) for commit, message, changes in repository.commits(span)
                  if len(message.split("\n", 1)[0]) >= 25 and not DULL.search(message.split("\n", 1)[0])]
    candidates = [c for c in candidates if c[3]]
    # Spread over the whole span rather than crowded at the base, as far as there is more than enough.
    step = max(1, len(candidates) // (MOST["commit"] * 4))
    candidates = candidates[::step]
    for start in range(0, len(candidates), 50):
        if all(len(tasks[k]) >= MOST[k] for k in wanted):
            break
        chunk = candidates[start:start + 50]
        patches = repository.patches([c[0] for c in chunk])
        for commit, message, changes, sources in chunk:
            patch = patches.get(commit, {})
            if sum(h.n_old + h.n_new for path, _ in sources for h in patch.get(path, ())) > 250:
                continue
            truth = edited_symbols(repository, base_tree, sources, patch)
            task = {"repo": name, "base": base, "commit": commit}
            if "commit" in kinds and len(tasks["commit"]) < MOST["commit"] and 1 <= len(truth) <= 6:
                tasks["commit"].append({"id": f"{name}-{commit[:10]}", "kind": "commit", **task, "description": cleaned(message),
                                        "truth": [{"file": p, "name": n} for p, n, _ in truth]})
            if "issue" in kinds and len(tasks["issue"]) < MOST["issue"]:
                inline = {path: reports.first_test_line(repository.blob(old)) for path, old in sources if path.endswith(".rs")}
                truth = reports.fixed_symbols(repository, sources, truth, inline)
                report = reports.report(repository, commit, cleaned(message), patch, inline, truth, base_tree, chance) \
                    if 1 <= len(truth) <= 6 else None
                if report:
                    tasks["issue"].append({"id": f"{name}-{commit[:10]}-issue", "kind": "issue", **task, "description": report,
                                           "truth": [{"file": p, "name": n} for p, n, _ in truth]})
    return tasks


def distinct(tasks):
    """Without backports and repeated sections: one task for one text."""
    seen, out = set(), []
    for task in tasks:
        keys = {task["id"], re.sub(r"\W+", " ", NUMBERS.sub("", task["description"])).lower().strip()}
        if not keys & seen:
            out.append(task)
        seen |= keys
    return out


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--bench", required=True)
    arguments.add_argument("--repos", required=True)
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--kinds", default="commit,issue,docs,uses")
    arguments.add_argument("names", nargs="*")
    args = arguments.parse_args()
    sys.path.insert(0, args.bench)
    from symbols import PARSERS, spans
    excluded = {r.lower() for r in json.load(open(os.path.join(args.bench, "corpus.json")))["training_excluded"]}
    kinds = args.kinds.split(",")
    names = args.names or sorted(d.replace("+", "/", 1) for d in os.listdir(args.repos) if "+" in d)
    os.makedirs(args.out, exist_ok=True)
    for name in names:
        if name.lower() in excluded:
            print(name, "is kept for evaluation: left out")
            continue
        began = time.time()
        stem = name.replace("/", "+", 1)
        repository = Repository(os.path.join(args.repos, stem, "repo"), spans)
        found = {k: [] for k in kinds}
        bases, counted = repository.bases(DISTANCES), {}
        for base, end in zip(bases, ["HEAD"] + bases):
            if "commit" in kinds or "issue" in kinds:
                for kind, tasks in history_tasks(repository, name, base, f"{base}..{end}", kinds).items():
                    if kind in kinds:
                        found[kind] += tasks
            if "docs" in kinds:
                seen = {t["description"] for t in found["docs"]} | {t["section"] for t in found["docs"]}
                found["docs"] += docs_tasks.tasks(repository, name, base, NOISE, chance, MOST["docs"], seen, SOURCES)
            if "uses" in kinds:
                rules = uses_tasks.Rules(NOISE, DULL, cleaned, edited_symbols, chance, PARSERS)
                found["uses"] += uses_tasks.tasks(repository, name, base, f"{base}..{end}", MOST["uses"], counted, rules)
        for kind, tasks in found.items():
            tasks = distinct(tasks)
            path = os.path.join(args.out, f"{stem}.{kind}.jsonl")
            with open(path, "w") as f:
                f.writelines(json.dumps(t) + "\n" for t in tasks)
        repository.close()
        print(name, "bases", len(bases), {k: len(distinct(t)) for k, t in found.items()}, f"{time.time() - began:.1f} s", flush=True)
    summarise(args.out)


def summarise(out):
    counts, total = {}, {}
    for file in sorted(os.listdir(out)):
        if file.endswith(".jsonl"):
            stem, kind = file[:-6].rsplit(".", 1)
            tasks = [json.loads(line) for line in open(os.path.join(out, file))]
            counts.setdefault(stem.replace("+", "/", 1), {})[kind] = len(tasks)
            total[kind] = total.get(kind, 0) + len(tasks)
    json.dump({"total": total, "repositories": counts}, open(os.path.join(out, "..", "summary.json"), "w"), indent=1)
    print("total", total)


if __name__ == "__main__":
    main()
