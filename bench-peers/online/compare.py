"""The simulation of online learning beside the same loop in numpy, vectorised over 64 replications, one thread each.

Both run the linear design with d = 5 under 1-GDP: record, weighted Huber gradient, Gaussian noise, step, projection of the
scale, average, and the recursion of random scaling. The rates are the best of several rounds, in which the two take turns.
"""

import subprocess
import sys
import time

import numpy as np

ROUNDS = 5
REPLICATIONS, D = 64, 5
OURS, THEIRS = 200_000, 20_000  # people: numpy gets fewer, so that a round of each takes about as long
C, KAPPA, SQUARE, ETA, ALPHA, MU = 1.345, 0.7101645482690, 2.0, 0.2, 0.5, 1.0


def ours(program, people):
    words = [program, str(people), str(REPLICATIONS), str(D)]
    return tuple(map(float, subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()))


def numpy_loop(people):
    rng, q = np.random.default_rng(1), D + 1
    truth = np.ones(q + 1)
    truth[q] = 2.0
    theta = np.zeros((REPLICATIONS, q + 1))
    theta[:, q] = 1.0
    average, spread, cross, squares = np.zeros_like(theta), np.zeros_like(theta), np.zeros_like(theta), 0.0
    scale = 2 * C * np.sqrt(SQUARE) / MU
    x, gradient = np.ones((REPLICATIONS, q)), np.empty_like(theta)
    start = time.perf_counter()
    for i in range(1, people + 1):
        rng.standard_normal(out=(z := np.empty((REPLICATIONS, D))))
        x[:, 1:] = z
        y = x.sum(axis=1) + 2.0 * rng.standard_normal(REPLICATIONS)
        w = SQUARE / np.maximum(np.einsum("ij,ij->i", x, x), SQUARE)
        u = np.clip((y - np.einsum("ij,ij->i", x, theta[:, :q])) / theta[:, q], -C, C)
        np.multiply(x, (-w * u)[:, None], out=gradient[:, :q])
        gradient[:, q] = w * (KAPPA - u * u) * 0.5
        gradient += scale * rng.standard_normal(gradient.shape)
        theta -= (ETA * i**-ALPHA) * gradient
        np.clip(theta[:, q], 0.1, 20.0, out=theta[:, q])
        e = (theta - average) / i
        if i > 1:
            spread += e * (squares * e - 2.0 * cross)
            cross -= squares * e
        average += e
        squares += i * i
    seconds = time.perf_counter() - start
    distance = lambda point: float(((point - truth) ** 2).sum(axis=1).mean())
    return people * REPLICATIONS / seconds, distance(theta), distance(average)


def main():
    program = sys.argv[1]
    best = {"ours": 0.0, "numpy": 0.0}
    for _ in range(ROUNDS):
        best["ours"] = max(best["ours"], ours(program, OURS)[0])
        rate, *theirs = numpy_loop(THEIRS)
        best["numpy"] = max(best["numpy"], rate)
    mine = ours(program, THEIRS)[1:]
    print(f"Linear design, d = {D}, mu = {MU:g}, {REPLICATIONS} replications, one thread, the best of {ROUNDS} rounds.\n")
    print(f"{'':<12}{'updates/s':>14}{'last':>10}{'average':>10}   squared distances after {THEIRS} people")
    for name, found in [("ours", mine), ("numpy", theirs)]:
        print(f"{name:<12}{best[name]:>14,.0f}{found[0]:>10.4f}{found[1]:>10.4f}")
    print(f"\n{'ours, × numpy':<28}{best['ours'] / best['numpy']:>12.1f}   at least 20")
    # Figure 5: four decays and five budgets, 200 replications of 300,000 people, three dimensions
    minutes = [4 * 5 * 200 * 300_000 / (ours_at(program, d) * 60) for d in (5, 10, 20)]
    print(f"Figure 5 on one thread, about {sum(minutes):.1f} minutes: " + ", ".join(f"{m:.1f}" for m in minutes) + " for d = 5, 10, 20")


def ours_at(program, dimension):
    words = [program, str(OURS // 4), str(REPLICATIONS), str(dimension)]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[0])


main()
