"""One file of training tasks from many: at most so many of each kind for each base, those of a base next to each other.

usage: mix_tasks.py OUT.jsonl BASES COMMIT ISSUE DOCS [USES] TASKS.jsonl...

BASES is how many bases of a repository to take, nearest to today first.
"""
import hashlib, itertools, json, sys

out, (bases, *most) = sys.argv[1], map(int, itertools.takewhile(str.isdigit, sys.argv[2:]))
files = sys.argv[3 + len(most):]
most = dict(itertools.zip_longest(("commit", "issue", "docs", "uses"), most, fillvalue=0))
tasks = [json.loads(line) for path in sorted(files) for line in open(path)]
order = {}
for task in tasks:
    known = order.setdefault(task["repo"], [])
    if task["base"] not in known:
        known.append(task["base"])
place = lambda t: (t["repo"], order[t["repo"]].index(t["base"]), t["kind"])
kept = []
for (_, base, kind), group in itertools.groupby(sorted(tasks, key=place), key=place):
    if base < bases:
        # By hash, not the first ones: these lie closest to the base in time.
        group = sorted(group, key=lambda t: hashlib.sha256(t["id"].encode()).hexdigest())
        kept += sorted(group[:most[kind]], key=lambda t: t["id"])
with open(out, "w") as f:
    f.writelines(json.dumps(t) + "\n" for t in kept)
print(out, len(kept), "tasks,", len({(t["repo"], t["base"]) for t in kept}), "bases",
      {k: sum(t["kind"] == k for t in kept) for k in most})
