"""Reference values for the conversions between promises, with mpmath at 120 digits.

Run as `python promises.py` (needs mpmath); rewrites the tables beside it. A value that a float cannot hold
is given by its logarithm. `tests/conversion_references.rs` reads the tables.
"""

from pathlib import Path

from mpmath import atanh, erf, erfc, erfinv, exp, findroot, ln, log, log1p, mp, mpf, sqrt, tanh

mp.dps = 120
HERE = Path(__file__).parent
EPSILONS = ["1e-8", "1e-6", "1e-4", "0.01", "0.1", "0.5", "1", "2", "3", "5", "10", "30", "100", "1e3", "1e4"]
DELTAS = ["0.9", "0.5", "0.1", "1e-3", "1e-5", "1e-6", "1e-9", "1e-15", "1e-50", "1e-150", "1e-300"]
MUS = ["1e-9", "1e-6", "1e-4", "1e-3", "0.01", "0.1", "0.3", "0.5", "0.51", "1", "2", "3", "7", "15", "40", "150"]


def floats(texts):
    """The floats that these texts denote: a test starts from them, not from the decimals."""
    return [mpf(float(text)) for text in texts]


def Phi_upper(x):
    return erfc(x / sqrt(mpf(2))) / 2


def gaussian_delta(mu, epsilon):
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return Phi_upper(a) - exp(epsilon) * Phi_upper(b)


def root(f, low, high):
    """The root of an increasing f between low and high, by bisection on the logarithm, then secants."""
    low, high = mpf(low), mpf(high)
    for _ in range(60):
        middle = sqrt(low * high)
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return findroot(f, (low, high), solver="anderson", tol=mpf(10) ** -60, verify=False)


def zcdp_ln_delta(rho, epsilon):
    slope = lambda t: (1 + 2 * t) * rho - epsilon - log1p(1 / t)
    low, high = mpf(10) ** -400, mpf(10) ** 40
    for _ in range(200):
        middle = sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    # at a minimum, half the digits of t give all of those of h
    t = low
    return t * ((1 + t) * rho - epsilon - log1p(1 / t)) - log1p(t)


def write(name, header, rows):
    lines = [header] + [",".join(mp.nstr(value, 25) for value in row) for row in rows]
    (HERE / name).write_text("\n".join(lines) + "\n")
    print(name, len(rows))


def bounded(f):
    """A logarithm that saturates, so that a root search may look anywhere."""

    def g(x):
        value = f(x)
        return ln(value) if value > 0 else mpf(-(10**12))

    return g


write(
    "gaussian_ln_delta.csv",
    "mu,epsilon,ln_delta",
    [
        (mu, epsilon, ln(gaussian_delta(mu, epsilon)))
        for mu in floats(MUS)
        for epsilon in floats(EPSILONS)
        # beyond, ln δ has more digits before the point than a float
        if epsilon / mu < 10**8
    ],
)

mp.dps = 60
rows = []
for epsilon in floats(EPSILONS):
    for delta in floats(DELTAS):
        # μ lies between ε/(2·√(2·ln(1/δ)) + 40) and 40 + 2·√(2ε)
        high = 40 + 3 * sqrt(epsilon)
        low = min(epsilon, delta) / 1000
        mp.dps = 60 + int(-log(delta, 10)) if delta > 1e-20 else 60
        f = bounded(lambda mu: gaussian_delta(mu, epsilon))
        mu = root(lambda mu: f(mu) - ln(delta), max(low, epsilon / 10**4), high)
        assert abs(f(mu) - ln(delta)) < mpf(10) ** -25, (epsilon, delta)
        rows.append((epsilon, delta, mu))
write("mu_for.csv", "epsilon,delta,mu", rows)

mp.dps = 60
rows = []
for mu in floats(["1e-4", "0.01", "0.1", "0.5", "1", "2", "5", "20", "100"]):
    for delta in floats(DELTAS):
        if gaussian_delta(mu, mpf(0)) < delta * mpf("1.0001"):
            continue  # ε = 0
        f = bounded(lambda epsilon: gaussian_delta(mu, epsilon))
        high = mu * mu / 2 + mu * sqrt(2 * ln(1 / delta)) + mu
        epsilon = root(lambda epsilon: ln(delta) - f(epsilon), mpf(10) ** -10, high)
        assert abs(f(epsilon) - ln(delta)) < mpf(10) ** -25, (mu, delta)
        rows.append((mu, delta, epsilon))
write("epsilon_of_gaussian.csv", "mu,delta,epsilon", rows)

mp.dps = 60
rows = []
for epsilon in floats(EPSILONS):
    if epsilon < 20:
        mu = 2 * sqrt(mpf(2)) * erfinv(tanh(epsilon / 2))
    else:
        target = -epsilon - ln(1 + exp(-epsilon))
        start = sqrt(2 * epsilon)
        mu = 2 * findroot(lambda x: ln(Phi_upper(x)) - target, start)
    rows.append((epsilon, mu, epsilon * tanh(epsilon / 2)))
write("of_pure.csv", "epsilon,mu,rho", rows)

rows = [
    (mu, ln(Phi_upper(-mu / 2)) - ln(Phi_upper(mu / 2)) if mu > mpf("0.01") else 2 * atanh(erf(mu / sqrt(mpf(8)))))
    for mu in floats(MUS)
]
write("pure_for_gaussian.csv", "mu,epsilon", rows)

RHOS = ["1e-15", "1e-10", "1e-6", "1e-3", "0.01", "0.1", "0.5", "1", "3", "10", "100"]
mp.dps = 60
write(
    "zcdp_ln_delta.csv",
    "rho,epsilon,ln_delta",
    [
        (rho, epsilon, zcdp_ln_delta(rho, epsilon))
        for rho in floats(RHOS)
        for epsilon in floats(EPSILONS)
        # beyond, δ is 1 to more digits than a float has, or ln δ too large
        if epsilon > rho / 30 and epsilon**2 / rho < 10**12
    ],
)

rows = []
for epsilon in floats(EPSILONS):
    for delta in floats(DELTAS):
        rho = root(lambda rho: zcdp_ln_delta(rho, epsilon) - ln(delta), epsilon**2 / 10**5, 100 + 2 * epsilon)
        assert abs(zcdp_ln_delta(rho, epsilon) - ln(delta)) < mpf(10) ** -25, (epsilon, delta)
        rows.append((epsilon, delta, rho))
write("rho_for.csv", "epsilon,delta,rho", rows)
