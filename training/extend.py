"""Puts more trees on top of a ranker, learned from repositories that it has never seen, over a few features.

extend.py --bench BENCH --tasks FILE... --model DIR --dumps DUMP...     cross-validation, then DIR/ranker.txt and DIR/CARD.md, both longer

The ranker is surer on what it has learned from than anywhere else: what it gets wrong can be learned only where it has not been.
Few features, so that what words say stays as it is: here what the task is like and what tests make of a candidate.
"""
import argparse, os, re, sys
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # do not spin where others want the cores
import lightgbm, numpy as np

import dump, metrics, model_file, train

PARAMETERS = {**train.PARAMETERS, "learning_rate": 0.1, "num_leaves": 12, "min_data_in_leaf": 200, "feature_fraction": 0.5, "lambda_l2": 20.0}
WEIGHTS = {"commit": 1.0, "issue": 1.0, "docs": 4.0, "uses": 0.5}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bench", required=True, help="directory of score.py and corpus.json")
    arguments.add_argument("--tasks", nargs="*", default=[], help="task files, for the truth where the dump has none")
    arguments.add_argument("--model", required=True, help="directory of ranker.txt and CARD.md")
    arguments.add_argument("--only", default=r"^task_|^tests$|^test_callers$", help="regular expression: features to learn from")
    arguments.add_argument("--trees", type=int, default=60)
    arguments.add_argument("--rows", type=int, default=150, help="candidates of a task to train on at most, besides the hits (0: all)")
    arguments.add_argument("--folds", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--dumps", nargs="+", required=True)
    args = arguments.parse_args()
    sys.path.insert(0, args.bench)
    import score
    features, tasks = dump.read(args.dumps, args.tasks)
    train.refuse_evaluation_repositories(args.bench, tasks)
    path = os.path.join(args.model, "ranker.txt")
    model, card = model_file.Model(path), open(os.path.join(args.model, "CARD.md")).read()
    known = sorted({t.repo for t in tasks if f"| {t.repo} |" in card})
    if known:
        raise SystemExit(f"the ranker has learned from these: {', '.join(known)}")
    columns = [i for i, f in enumerate(features) if re.search(args.only, f)]
    dump.order_by(model, features, tasks)
    tasks = [t for t in tasks if t.n_rows]
    report = judged(args, score, tasks, columns)
    booster = fit(args, tasks, columns)
    write(path, model_file.trees_of(train.renumbered(booster, columns)))
    open(os.path.join(args.model, "CARD.md"), "w").write(card.rstrip("\n") + "\n\n" + section(args, tasks, [features[c] for c in columns], report) + "\n")
    print(report)


def fit(args, tasks, columns):
    matrix, labels, picks, kept = dump.rows(tasks, columns, args.rows, False)
    groups = [len(p) for p in picks]
    weight = np.repeat([WEIGHTS[t.kind] for t in kept], groups).astype(np.float32)
    before = np.concatenate([t.scores[p] for t, p in zip(kept, picks)])
    data = lightgbm.Dataset(matrix, labels, group=groups, weight=weight, init_score=before)
    return lightgbm.train({**PARAMETERS, "num_threads": args.threads}, data, args.trees)


def judged(args, score, tasks, columns):
    """Before and after, each task by trees that never saw its repository."""
    fold, before, after = train.folds_of(tasks, args.folds), {}, {}
    for i in range(args.folds):
        booster = fit(args, [t for t in tasks if fold[t.repo] != i], columns)
        for task in (t for t in tasks if fold[t.repo] == i):
            more = booster.predict(np.asarray(task.features)[:, columns])
            before[task.id] = metrics.judged(score, task, metrics.best_first(task.scores))
            after[task.id] = metrics.judged(score, task, metrics.best_first(task.scores + more))
    return "\n\n".join([metrics.table("without them", train.by_kind(tasks, before)),
                        metrics.table("with them, repositories held out", train.by_kind(tasks, after))])


def write(path, trees):
    lines = open(path).read().rstrip("\n").split("\n")
    lines[2] = f"trees {int(lines[2].split()[1]) + len(trees)}"
    with open(path, "w") as f:
        f.write("\n".join(lines + [line for tree in trees for line in tree]) + "\n")


def section(args, tasks, features, report):
    shown = {**PARAMETERS, "trees": args.trees, "rows of a task": args.rows or "all"}
    return "\n".join([
        "## Trees on top", "",
        f"{args.trees} more trees, made by `training/extend.py` on top of the above from {len(tasks)} tasks of {len({t.repo for t in tasks})} repositories that the ranker had",
        "never seen: " + ", ".join(sorted({t.repo for t in tasks})) + ".", "",
        f"Features: {' '.join(f'`{f}`' for f in features)}. Parameters: " + ", ".join(f"{k} {v}" for k, v in shown.items()) + "; weights "
        + ", ".join(f"{k} {v}" for k, v in WEIGHTS.items()) + ".", "", report])


if __name__ == "__main__":
    main()
