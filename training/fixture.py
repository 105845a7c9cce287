"""Makes the fixture of the ranker's own test: a small model, rows, and what LightGBM itself says of them.

usage: fixture.py SYNTHETIC_DUMP OUT_DIR
"""
import argparse, os, sys
import numpy as np

import dump, model_file, train

folder, out = sys.argv[1:]
features, tasks = dump.read([folder], [])
args = argparse.Namespace(weight=[], rows=0, set=["num_leaves=12", "learning_rate=0.1"], threads=1)
booster = train.fit(args, tasks, features, list(range(len(features))), 12)
path = os.path.join(out, "ranker.txt")
model_file.export([(booster.model_to_string(), 1.0)], features, path)
draw = np.random.default_rng(11)
rows = [np.asarray(t.features)[0] for t in tasks[:24]]
rows += [np.zeros(len(features)), np.full(len(features), 1e30), np.full(len(features), -1e30)]
for feature, number, right in model_file.Model(path).trees[:6]:  # on a threshold and next to it
    for f, t in zip(feature[right > 0][:4], number[right > 0][:4]):
        near = np.float32(t)
        for value in (near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))):
            row = np.array(rows[int(draw.integers(24))])
            row[f] = value
            rows.append(row)
rows = np.array(rows, np.float32)
assert np.array_equal(model_file.Model(path).score(rows), booster.predict(rows))
with open(os.path.join(out, "ranker_rows.txt"), "w") as f:
    for row, said in zip(rows, booster.predict(rows)):
        f.write(" ".join(str(x) for x in row) + f" = {float(said)!r}\n")
