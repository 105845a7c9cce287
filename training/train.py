"""Trains, judges and writes the learned ranker.

train.py train    --bench BENCH --tasks FILE... --model DIR --dumps DUMP...     cross-validation, final model, DIR/ranker.txt, DIR/CARD.md
train.py ablate   --bench BENCH --tasks FILE... --dumps DUMP...                 what each group of features is worth
train.py evaluate --bench BENCH --tasks FILE... --model FILE --dumps DUMP...    a table for each dump and repository

A DUMP is a folder written by `knowing-bench features`. Repositories are never on both sides of a split.
"""
import argparse, collections, hashlib, json, os, re, sys, time
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # do not spin where others want the cores
import lightgbm, numpy as np

import dump, metrics, model_file

PARAMETERS = {
    "objective": "lambdarank", "lambdarank_truncation_level": 15, "learning_rate": 0.05, "num_leaves": 31,
    "min_data_in_leaf": 60, "min_sum_hessian_in_leaf": 1e-3, "feature_fraction": 0.7, "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 5.0,
    "max_bin": 255, "use_missing": False, "deterministic": True, "force_row_wise": True, "seed": 7, "verbosity": -1,
}
GROUPS = {
    "words": r"^(whole|subject|body|names|prose|code)(_raw|_rank|_per_mass)?$",
    "fields": r"^(part|best)_",
    "history": r"history|^commits$|^age$",
    "coverage": r"covered|^n_matched$|_said|^name_parts$",
    "identifiers": r"identified|namesakes|_segments$|^file_named$|^identifiers$",
    "frames and messages": r"^frame|trace|^message|^raises$",
    "channels": r"^fused|^tiered$|^identifiers$|^path_context$|^in_",
    "company": r"^(file|owner|package)_(best|sum|members|rank)$|^rank_in_",
    "what it is": r"^is_|^depth$|^lines$|tokens$",
    "graph": r"^(callers|callees|members|tests|inbound|walk|hops|authority|hub|calls|called|member|contains|relative|near|neighbours)",
    "task": r"^task_|^documents$",
}
WEIGHTS = {"commit": 1.0, "issue": 1.0, "docs": 1.0, "uses": 0.5}
# What the score of the trees that learned from relatives counts.
SECOND_HALF = 0.5


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("mode", choices=["train", "ablate", "evaluate"])
    arguments.add_argument("--bench", required=True, help="directory of score.py and corpus.json")
    arguments.add_argument("--tasks", nargs="*", default=[], help="task files, for the truth where the dump has none")
    arguments.add_argument("--model", help="train: directory to write; evaluate: the file ranker.txt")
    arguments.add_argument("--folds", type=int, default=5)
    arguments.add_argument("--trees", type=int, default=250)
    arguments.add_argument("--rows", type=int, default=150, help="candidates of a task to train on at most, besides the hits (0: all)")
    arguments.add_argument("--order", help="a ranker.txt of these features: which candidates are at the top for --rows")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--weight", nargs="*", default=[], help="KIND=NUMBER")
    arguments.add_argument("--set", nargs="*", default=[], help="parameter=value of LightGBM")
    arguments.add_argument("--relatives", type=float, default=0.3, help="what a relative of a hit counts in the second half of the trees (0: no second half)")
    arguments.add_argument("--without", default="", help="regular expression: features to leave out (their order in the file stays)")
    arguments.add_argument("--group", nargs="*", default=[], help="ablate: NAME=REGEX, instead of the groups in this file")
    arguments.add_argument("--no-cv", action="store_true", help="train: only the final model")
    arguments.add_argument("--out", help="also write the report there")
    arguments.add_argument("--dumps", nargs="+", required=True)
    args = arguments.parse_args()
    sys.path.insert(0, args.bench)
    import score
    features, tasks = dump.read(args.dumps, args.tasks)
    print(f"{len(tasks)} tasks, {sum(t.n_rows for t in tasks)} candidates, {len(features)} features", flush=True)
    if args.mode == "evaluate":
        report = evaluate(args, score, features, tasks)
    else:
        refuse_evaluation_repositories(args.bench, tasks)
        if args.order:
            dump.order_by(model_file.Model(args.order), features, tasks)
        report = (train if args.mode == "train" else ablate)(args, score, features, tasks)
    print(report)
    if args.out:
        open(args.out, "w").write(report + "\n")


def refuse_evaluation_repositories(bench, tasks):
    kept = {r.lower() for r in json.load(open(os.path.join(bench, "corpus.json")))["training_excluded"]}
    kept |= {r.split("/")[1] for r in kept}
    bad = sorted({t.repo for t in tasks if t.repo.lower() in kept})
    if bad:
        raise SystemExit(f"kept for evaluation, never trained on: {', '.join(bad)}")


def parameters(args):
    out = dict(PARAMETERS, num_threads=args.threads)
    for item in args.set:
        key, value = item.split("=", 1)
        out[key] = json.loads(value) if re.fullmatch(r"-?[\d.e+-]+|true|false|\[.*\]", value) else value
    return out


class Sum:
    """Boosters whose scores are added up, each with a weight."""

    def __init__(self, boosters):
        self.boosters = boosters

    def predict(self, block, **span):
        return sum(weight * it.predict(block, **span) for it, weight in self.boosters)

    def feature_importance(self, kind):
        return sum(it.feature_importance(kind) for it, _ in self.boosters)


def fit(args, tasks, features, columns, trees):
    """Half of the trees learn which candidates are true, the others also which are close to one."""
    boosters = [(fit_half(args, tasks, features, columns, trees, False), 1.0)]
    if args.relatives:
        boosters.append((fit_half(args, tasks, features, columns, trees, True), SECOND_HALF))
    return Sum(boosters)


def fit_half(args, tasks, features, columns, trees, graded):
    weights = {**WEIGHTS, **{k: float(v) for k, v in (w.split("=") for w in args.weight)}}
    matrix, labels, picks, kept = dump.rows(tasks, columns, args.rows, graded)
    groups = [len(p) for p in picks]
    weight = np.repeat([weights.get(t.kind, 1.0) for t in kept], groups).astype(np.float32)
    data = lightgbm.Dataset(matrix, labels, group=groups, weight=weight, feature_name=[features[c] for c in columns],
                            params={k: v for k, v in parameters(args).items() if k in ("max_bin", "use_missing", "num_threads", "verbosity", "deterministic", "force_row_wise", "seed")},
                            free_raw_data=True)
    data.construct()
    del matrix
    gains = {"label_gain": [0, args.relatives, 1]} if graded else {}
    return lightgbm.train({**parameters(args), **gains}, data, trees)


def folds_of(tasks, n):
    """{repository: fold}, the folds about equally full; depends on names and counts only."""
    sizes = collections.Counter(t.repo for t in tasks)
    full, out = [0] * n, {}
    for repo in sorted(sizes, key=lambda r: (-sizes[r], hashlib.sha256(r.encode()).hexdigest())):
        out[repo] = min(range(n), key=lambda i: (full[i], i))
        full[out[repo]] += sizes[repo]
    return out


def columns_of(args, features):
    return [i for i, f in enumerate(features) if not (args.without and re.search(args.without, f))]


def cross_validated(args, score, features, tasks, columns, trees, at=(), only=None):
    """{trees: {task id: figures}} where every task was judged by a model that never saw its repository."""
    fold, out = folds_of(tasks, args.folds), collections.defaultdict(dict)
    for i in range(args.folds if only is None else only):
        began = time.time()
        booster = fit(args, [t for t in tasks if fold[t.repo] != i], features, columns, trees)
        held_out = [t for t in tasks if fold[t.repo] == i]
        for n, task, scores in predicted(args, booster, held_out, columns, sorted({*at, trees})):
            out[n][task.id] = metrics.judged(score, task, metrics.best_first(scores))
        print(f"fold {i + 1} of {args.folds}: {time.time() - began:.0f} s", flush=True)
    return out


def predicted(args, booster, tasks, columns, steps):
    """(number of trees, task, scores of its candidates), some hundred tasks in one call."""
    for start in range(0, len(tasks), 200):
        some = tasks[start:start + 200]
        block = np.concatenate([np.asarray(t.features)[:, columns] for t in some])
        ends = np.cumsum([t.n_rows for t in some])
        scores, done = np.zeros(len(block)), 0
        for n in steps:
            if len(block):
                scores = scores + booster.predict(block, start_iteration=done, num_iteration=n - done, num_threads=args.threads)
            done = n
            for task, own in zip(some, np.split(scores, ends[:-1])):
                yield n, task, own


def by_kind(tasks, figures):
    kinds = sorted({t.kind for t in tasks})
    return [("all", [figures[t.id] for t in tasks if t.id in figures])] + \
        [(k, [figures[t.id] for t in tasks if t.kind == k and t.id in figures]) for k in kinds]


def by_repository(tasks, figures):
    return [(r, [figures[t.id] for t in tasks if t.repo == r and t.id in figures]) for r in sorted({t.repo for t in tasks})]


def formula(score, tasks):
    return {t.id: metrics.judged(score, t, range(t.n_rows)) for t in tasks}


def importance(booster, features, columns):
    gain = booster.feature_importance("gain")
    total = max(gain.sum(), 1e-9)
    ranked = sorted(zip(gain / total, booster.feature_importance("split"), (features[c] for c in columns)), reverse=True)
    return "\n".join(["| feature | gain | splits |", "|---|---|---|"] + [f"| {f} | {100 * g:.1f} % | {s} |" for g, s, f in ranked])


def train(args, score, features, tasks):
    columns, report = columns_of(args, features), []
    report.append(metrics.table("order of the dump (by the ranker it was made with)", by_kind(tasks, formula(score, tasks))))
    if not args.no_cv:
        steps = sorted({max(1, args.trees * i // 6) for i in range(1, 7)})
        results = cross_validated(args, score, features, tasks, columns, args.trees, steps)
        figures = results[args.trees]
        report.append(metrics.table("learned, repositories held out", by_kind(tasks, figures)))
        report.append(metrics.table("learned, repositories held out", by_repository(tasks, figures)))
        report.append("\n".join(["| trees | R@10 | MRR | NDCG@10 |", "|---|---|---|---|"] + [
            f"| {n} | " + " | ".join(f"{metrics.mean(list(results[n].values()), k):.4f}" for k in ("r10", "mrr", "ndcg10")) + " |"
            for n in steps]))
    booster = fit(args, tasks, features, columns, args.trees)
    report.append(importance(booster, features, columns))
    if args.model:
        os.makedirs(args.model, exist_ok=True)
        path = os.path.join(args.model, "ranker.txt")
        model_file.export([(renumbered(it, columns), weight) for it, weight in booster.boosters], features, path)
        check(path, booster, tasks, columns)
        open(os.path.join(args.model, "CARD.md"), "w").write(card(args, features, tasks, columns, report))
    return "\n\n".join(report)


def renumbered(booster, columns):
    """The text of a booster trained on some of the columns, its splits naming the columns of the whole row."""
    return re.sub(r"(?m)^split_feature=(.*)$", lambda m: "split_feature=" + " ".join(str(columns[int(i)]) for i in m[1].split()),
                  booster.model_to_string())


def check(path, booster, tasks, columns):
    """The written file must say exactly what LightGBM says."""
    sample = np.concatenate([np.asarray(t.features) for t in tasks[::max(1, len(tasks) // 40)] if t.n_rows])
    model, done = model_file.Model(path), 0
    for half, weight in booster.boosters:
        ours, theirs = model.score(sample, done, done + half.num_trees()), weight * half.predict(sample[:, columns])
        done += half.num_trees()
        if not np.array_equal(ours, theirs):
            raise SystemExit(f"{path}: differs from LightGBM by {np.abs(ours - theirs).max()}")


def held_out(args):
    return "no cross-validation was run for this model" if args.no_cv else f"{args.folds}-fold by repository"


def card(args, features, tasks, columns, report):
    kinds = sorted({t.kind for t in tasks})
    counts = collections.Counter((t.repo, t.kind) for t in tasks)
    learned = sum(bool(t.labels.any()) for t in tasks)
    out = ["# The ranker in `ranker.txt`", "",
           "Gradient-boosted trees (LightGBM, lambdarank), made by `training/train.py`; `training/README.md` says how. No repository of an",
           "evaluation set was trained on. Which kinds of task are mixed, and how they are weighed, was chosen by cross-validation on the",
           "repositories below and by a look at the development sets.", "",
           *(["Half of the trees learned which candidates are true; the other half also learned from their relatives (members of a true type,",
              f"the type of a true member), which counted {args.relatives} of a hit there. The score is the sum, the second half counting {SECOND_HALF}.", ""] if args.relatives else []),
           "## Data", "",
           f"{len(tasks)} tasks of {len({t.repo for t in tasks})} public repositories; {learned} of them have a true symbol among their candidates and were learned",
           f"from, the others count as misses below. {sum(t.n_rows for t in tasks)} candidates. Kinds: `commit` (message of a commit -> symbols it edited),",
           "`issue` (a commit with tests or news dressed as a bug report -> functions it fixed; stack traces in them are invented),",
           "`docs` (section of documentation -> public symbols it names), `uses` (message of a commit that adds code -> what that code refers",
           "to).", "",
           "| repository | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
    out += [f"| {r} | " + " | ".join(str(counts[r, k]) for k in kinds) + " |" for r in sorted({t.repo for t in tasks})]
    shown = {**parameters(args), "trees": args.trees, "rows of a task": args.rows or "all", "relatives": args.relatives}
    shown.pop("num_threads")
    out += ["", "## Parameters", "", ", ".join(f"{k} {v}" for k, v in shown.items()) + "; weights " +
            ", ".join(f"{k} {v}" for k, v in {**WEIGHTS, **dict(w.split("=") for w in args.weight)}.items()) + ".",
            "", f"## Features ({len(columns)} used)", "", " ".join(f"`{features[c]}`" for c in columns) + ".",
            "", f"## Figures ({held_out(args)}; strict rule unless said otherwise)", "", "\n\n".join(report), ""]
    return "\n".join(out)


def ablate(args, score, features, tasks):
    columns = columns_of(args, features)
    groups = dict(g.split("=", 1) for g in args.group) or GROUPS
    run = lambda cols: list(cross_validated(args, score, features, tasks, cols, args.trees, only=min(2, args.folds))[args.trees].values())
    whole = run(columns)
    keys = ("r10", "mrr", "ndcg10", "acc10")
    line = lambda label, n, rows: f"| {label} | {n} | " + " | ".join(
        f"{metrics.mean(rows, k):.4f} ({metrics.mean(rows, k) - metrics.mean(whole, k):+.4f})" for k in keys) + " |"
    out = ["| without | features | R@10 | MRR | NDCG@10 | Acc@10 |", "|---|---|---|---|---|---|", line("(nothing)", len(columns), whole)]
    for label, pattern in groups.items():
        rest = [c for c in columns if not re.search(pattern, features[c])]
        if rest and len(rest) < len(columns):
            out.append(line(label, len(columns) - len(rest), run(rest)))
            print(out[-1], flush=True)
    return "\n".join(out)


def evaluate(args, score, features, tasks):
    model = model_file.Model(args.model)
    if model.features != features:
        raise SystemExit("the dump has other features than the model: " + " ".join(sorted(set(features) ^ set(model.features))))
    report = []
    learned = {}
    for task in tasks:
        learned[id(task)] = metrics.judged(score, task, metrics.best_first(model.score(np.asarray(task.features))))
    for kind in dict.fromkeys(t.kind for t in tasks):
        some = [t for t in tasks if t.kind == kind]
        rows = [("formula", [metrics.judged(score, t, range(t.n_rows)) for t in some]), ("learned", [learned[id(t)] for t in some])]
        rows += [(r, [learned[id(t)] for t in some if t.repo == r]) for r in sorted({t.repo for t in some})]
        report.append(metrics.table(kind, rows))
    return "\n\n".join(report)


if __name__ == "__main__":
    main()
