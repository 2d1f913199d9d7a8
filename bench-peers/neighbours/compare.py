"""The mean label of the k nearest of a million people: undertone's neighbours beside scikit-learn's KDTree, one thread.

Points are uniform. Ours are scaled by ranks as a model does, scikit-learn's are taken as they are; the means therefore
agree up to the ranks. The seconds are those of the least of several rounds, in which the tools take turns; ours include
scaling the queries, scikit-learn's the mean over the labels that its indices name.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.neighbors import KDTree

PEOPLE = 1_000_000
ROUNDS = 3


def main(ours):
    rng = np.random.default_rng(1)
    for d, queries in [(2, 2000), (5, 500), (10, 40)]:
        points = rng.random((PEOPLE, d), dtype=np.float32)
        labels = (points[:, 0] > 0.5).astype(np.float32)
        asked = rng.random((queries, d), dtype=np.float32)
        start = time.perf_counter()
        tree = KDTree(points.astype(np.float64))
        built = time.perf_counter() - start
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "points"
            with open(file, "wb") as out:
                out.write(np.array([PEOPLE, queries, d], np.uint32).tobytes())
                for part in (points, labels, asked):
                    out.write(part.tobytes())
            for k in (64, 4096):
                theirs = np.inf
                mine = None
                for _ in range(ROUNDS):
                    words = subprocess.run([ours, str(file), str(k), "1"], capture_output=True, text=True, check=True)
                    found = [float(word) for word in words.stdout.split()]
                    mine = found if mine is None or found[1] < mine[1] else mine
                    start = time.perf_counter()
                    nearest = tree.query(asked.astype(np.float64), k, return_distance=False, sort_results=False)
                    mean = labels[nearest].mean()
                    theirs = min(theirs, time.perf_counter() - start)
                print(
                    f"d = {d}, k = {k}: ours {queries / mine[1]:.0f} queries/s, scikit-learn {queries / theirs:.0f}, "
                    f"ratio {theirs / mine[1]:.2f}; built in {mine[0]:.2f} s and {built:.2f} s; "
                    f"means {mine[2]:.4f} and {mean:.4f}",
                    flush=True,
                )


main(sys.argv[1])
