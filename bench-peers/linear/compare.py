"""Linear models of undertone, scikit-learn and Vowpal Wabbit on mnist: one pass each, from memory, without privacy.

Every tool has its data ready in the form it likes best: ours and scikit-learn an array (64-bit for scikit-learn, which
is faster with it than with 32), Vowpal Wabbit examples that it has parsed, and its own cache. The seconds are those of
the least of several rounds, in which the tools take turns. Vowpal Wabbit's is the better of its two ways.
"""

import gzip
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier
from vowpalwabbit import Workspace

ROUNDS = 8
VW = "--oaa 10 --loss_function logistic --quiet"


def idx(path):
    data = gzip.open(path).read()
    sizes = struct.unpack(f">{data[3]}I", data[4 : 4 + 4 * data[3]])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(sizes)


def mnist(folder):
    read = lambda part: (
        idx(folder / f"{part}-images-idx3-ubyte.gz").reshape(-1, 784).astype(np.float32) / 255,
        idx(folder / f"{part}-labels-idx1-ubyte.gz"),
    )
    return *read("train"), *read("t10k")


def write(path, x, y, x_test, y_test):
    with open(path, "wb") as file:
        file.write(struct.pack("<4I", len(y), len(y_test), x.shape[1], 10))
        for values, labels in ((x, y), (x_test, y_test)):
            file.write(values.astype("<f4").tobytes())
            file.write(labels.astype("<u4").tobytes())


def ours(program, path):
    lines = subprocess.run([program, path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: (float(seconds), float(accuracy)) for name, seconds, accuracy in map(str.split, lines)}


def scikit_learn(x, y, x_test, y_test):
    model = SGDClassifier(loss="log_loss", max_iter=1, tol=None, random_state=0)
    start = time.perf_counter()
    model.fit(x, y)
    return time.perf_counter() - start, model.score(x_test, y_test)


def as_text(row, label=""):
    return f"{label} | " + " ".join(f"{j}:{row[j]:.6g}" for j in np.nonzero(row)[0])


def vowpal_accuracy(model, x_test, y_test):
    return float(np.mean([model.predict(as_text(row)) - 1 == label for row, label in zip(x_test, y_test)]))


def vowpal_parsed(x, y, x_test, y_test, accuracy):
    model = Workspace(VW)
    examples = [model.parse(as_text(row, label + 1)) for row, label in zip(x, y)]
    start = time.perf_counter()
    for example in examples:
        model.learn(example)
    seconds = time.perf_counter() - start
    found = vowpal_accuracy(model, x_test, y_test) if accuracy is None else accuracy
    for example in examples:
        model.finish_example(example)
    model.finish()
    return seconds, found


def vowpal_cached(text, cache):
    start = time.perf_counter()
    Workspace(f"{VW} -d {text} --cache_file {cache}").finish()
    return time.perf_counter() - start


def main():
    folder, program = Path(sys.argv[1]) / "mnist", sys.argv[2]
    if not folder.is_dir():
        sys.exit(f"There is no mnist in {folder.parent}: set UNDERTONE_DATA to the folder of the data sets.")
    x, y, x_test, y_test = mnist(folder)
    wide = x.astype(np.float64)
    best, accuracy = {}, {}

    def note(name, seconds, found):
        best[name] = min(seconds, best.get(name, seconds))
        accuracy[name] = found

    with tempfile.TemporaryDirectory() as scratch:
        arrays, text, cache = (Path(scratch) / name for name in ("arrays", "text", "cache"))
        write(arrays, x, y, x_test, y_test)
        text.write_text("".join(as_text(row, label + 1) + "\n" for row, label in zip(x, y)))
        Workspace(f"{VW} -d {text} --cache_file {cache} -k").finish()
        for _ in range(ROUNDS):
            for name, (seconds, found) in ours(program, arrays).items():
                note(name, seconds, found)
            note("scikit-learn", *scikit_learn(wide, y, x_test, y_test))
            note("vowpal-wabbit", *vowpal_parsed(x, y, x_test, y_test, accuracy.get("vowpal-wabbit")))
            note("vowpal-wabbit", vowpal_cached(text, cache), accuracy["vowpal-wabbit"])

    print(f"mnist, {len(y)} × 784, K = 10, one pass from memory, the least of {ROUNDS} rounds.\n")
    print(f"{'':<28}{'rows/s':>12}{'accuracy':>12}")
    names = {
        "online": "ours, one pass",
        "erm": "ours, an epoch of ten",
        "erm-2": "the same, two threads",
        "scikit-learn": "scikit-learn SGDClassifier",
        "vowpal-wabbit": "Vowpal Wabbit --oaa",
    }
    for name, title in names.items():
        print(f"{title:<28}{len(y) / best[name]:>12,.0f}{accuracy[name]:>12.4f}")
    print()
    for title, slow, fast, bar in [
        ("one pass, × scikit-learn", "scikit-learn", "online", 5),
        ("one pass, × Vowpal Wabbit", "vowpal-wabbit", "online", 3),
        ("an epoch, × scikit-learn", "scikit-learn", "erm", 15),
        ("two threads, × one", "erm", "erm-2", 1.7),
    ]:
        print(f"{title:<28}{best[slow] / best[fast]:>12.1f}   at least {bar}")


main()
