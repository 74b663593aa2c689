"""Draws the figures of docs/mathematics.md from its formulas.

Needs Python 3.9 or later with numpy and matplotlib, about 1 GB of memory and a few minutes:

    python3 docs/figures/make.py                 # all of them, as SVG beside this file
    python3 docs/figures/make.py bound move      # some of them
    python3 docs/figures/make.py --png DIR       # as PNG in DIR, to look at
"""
import argparse
import math
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

# Colours that differ in grey, too.
BLACK, BLUE, ORANGE, GREY = "#111111", "#1f4e9c", "#e08214", "#8c8c8c"

plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
                     "svg.hashsalt": "flymc", "font.family": "DejaVu Sans"})


# --- One row of a logistic regression, as in include/flymc/model/logistic.hpp -------------------------------------

def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def weight(eta):
    """w = -l''."""
    return sigmoid(eta) * sigmoid(-eta)


def remainder(m, d):
    """l(m + d) - l(m) - l'(m) d for l = log sigmoid."""
    q, p = sigmoid(m), sigmoid(-m)
    f = lambda x: np.expm1(x) - x
    return -np.log1p(q * f(p * d) + p * f(-q * d))


def remainder_slope(m, d):
    return sigmoid(-m - d) - sigmoid(-m)


def jaakkola_jordan(a):
    a = np.maximum(np.abs(a), 1e-6)
    return np.tanh(a / 2) / (2 * a)


def needed_curvature(a, r):
    """c*(r): at the change min(r, 2 a) of the linear predictor towards 0."""
    a, r = np.broadcast_arrays(np.abs(a).astype(float), np.asarray(r, float))
    d = np.minimum(np.maximum(r, 1e-4), np.maximum(2 * a, 1e-4))
    return np.where(r < 1e-4, weight(a), np.where(r < 2 * a, -2 * remainder(a, -d) / d**2, jaakkola_jordan(a)))


def sharp(a, alpha, zone):
    """c and k of the sharp bound; the slope is the largest of (c*(alpha rho) - w) / rho over a fine grid of rho."""
    typical, radius = zone
    a = np.abs(a)
    w = weight(a)
    k = np.zeros_like(w)
    for rho in np.linspace(0.02, 1.0, 50) * radius:
        k = np.maximum(k, (needed_curvature(a, alpha * rho) - w) / rho)
    constant = needed_curvature(a, alpha * radius)
    line = w + k * typical < constant
    return np.where(line, w, constant), np.where(line, k, 0.0)


def zone_of(dimension):
    return math.sqrt(dimension), math.sqrt(dimension) + 3.0


# --- Tables and their modes ------------------------------------------------------------------------------------------

def table(rows, columns, seed=1):
    """A bias and AR(1) features with correlation 0.5, coefficients N(0, 0.3^2): bench/fit's table in kind."""
    rng = np.random.default_rng(seed)
    x = np.ones((rows, columns), np.float32)
    x[:, 1] = rng.standard_normal(rows)
    for j in range(2, columns):
        x[:, j] = 0.5 * x[:, j - 1] + math.sqrt(0.75) * rng.standard_normal(rows)
    theta = 0.3 * rng.standard_normal(columns)
    return x, (rng.random(rows) < sigmoid(x @ theta)).astype(float)


PRIOR_PRECISION = 1.0 / 4.0


def expand(x, y, theta, share=1.0, with_hessian=True):
    """Returns gradient and precision of the log posterior; each row counts 1 / share times."""
    gradient, hessian = -PRIOR_PRECISION * theta, PRIOR_PRECISION * np.eye(theta.size)
    for part in range(0, len(y), 100000):
        xs = x[part:part + 100000].astype(float)
        eta = xs @ theta
        gradient = gradient + xs.T @ (y[part:part + 100000] - sigmoid(eta)) / share
        if with_hessian:
            hessian += (xs * weight(eta)[:, None]).T @ xs / share
    return gradient, hessian


def mode(x, y, share=1.0, steps=8):
    theta = np.zeros(x.shape[1])
    for _ in range(steps):
        gradient, hessian = expand(x, y, theta, share)
        theta = theta + np.linalg.solve(hessian, gradient)
    return theta, expand(x, y, theta, share)[1]


# --- The figures --------------------------------------------------------------------------------------------------------

def bound():
    eta, alpha, dimension = 2.5, 0.2, 51
    zone = typical, radius = zone_of(dimension)
    c, k = (float(v[0]) for v in sharp(np.array([eta]), alpha, zone))
    w, jj = float(weight(eta)), float(jaakkola_jordan(eta))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9))

    # One row's log-likelihood at the typical rho: |delta| <= alpha rho.
    reach = alpha * typical
    d = np.linspace(-reach, reach, 400)
    wide = np.linspace(-2.6, 2.6, 400)
    tangent = lambda x: np.log(sigmoid(eta)) + sigmoid(-eta) * x
    l = lambda x: np.log(sigmoid(eta + x))
    low = tangent(d) - 0.5 * (c + k * typical) * d**2
    paper = lambda x: tangent(x) - 0.5 * jj * x**2
    left.fill_between(d, paper(d), low, color=ORANGE, alpha=0.30, lw=0)
    left.fill_between(d, low, l(d), color=BLUE, alpha=0.55, lw=0)
    left.plot(wide, l(wide), color=BLACK, lw=1.8, label="log-likelihood")
    left.plot(d, low, color=BLUE, lw=1.8, ls="--", label="sharp bound")
    left.plot(wide, paper(wide), color=ORANGE, lw=1.8, ls="-.", label="the paper's tangent bound")
    for side in (-reach, reach):
        left.plot([side, side], [float(paper(side)) - 0.06, float(l(side)) + 0.06], color=GREY, lw=1.0, ls=":")
    left.plot([0], [tangent(0)], "o", color=BLACK, ms=5)
    left.annotate("anchor", (0, float(tangent(0))), xytext=(0, 0.085), ha="center",
                  arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.8})
    left.text(-reach, float(l(-reach)) + 0.07, r"$-\alpha\rho$", color="#555555", ha="center", va="bottom")
    left.text(reach, float(l(reach)) + 0.07, r"$+\alpha\rho$", color="#555555", ha="center", va="bottom")
    left.set(xlabel=r"change $\delta$ of the linear predictor", ylabel="log-likelihood and its bounds", ylim=(-0.83, 0.15), xlim=(-2.6, 2.6),
             title=r"one row at a typical distance $\rho$")
    left.legend(loc="lower center", bbox_to_anchor=(0.55, 0.0), fontsize=9)

    # The curvature that the row needs, and the curvature of each bound.
    rho = np.linspace(0, radius, 300)
    right.plot(rho, needed_curvature(eta, alpha * rho), color=BLACK, lw=1.8)
    right.plot(rho, c + k * rho, color=BLUE, lw=1.8, ls="--")
    right.plot([0, 14], [jj, jj], color=ORANGE, lw=1.8, ls="-.")
    right.axvline(radius, color=GREY, lw=0.8, ls=":")
    right.plot([typical], [c + k * typical], "o", color=BLUE, ms=5)
    right.text(0.2, jj + 0.004, "the paper's: one constant", color="#a85c00")
    right.text(3.6, 0.113, r"sharp: $c + k\rho$", color=BLUE, rotation=0, ha="center")
    right.text(5.3, 0.081, r"needed: $c^*(\alpha\rho)$", color=BLACK)
    right.text(radius + 0.15, 0.056, "beyond\nthe radius", color="#555555")
    right.set(xlabel=r"distance $\rho$ of theta from the anchor", ylabel="curvature", xlim=(0, 14), ylim=(0.05, 0.19),
              title="the curvature that the row needs")
    right.set_xticks([0, typical, radius])
    right.set_xticklabels(["0", r"$\sqrt{D}$", r"$R$"])
    right.set_yticks([w, jj])
    right.set_yticklabels([r"$w$", r"$c^*(\infty)$"])
    figure.tight_layout(w_pad=2.5)
    return figure


def sweep():
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9), gridspec_kw={"width_ratios": [1, 1.15]})

    # Thinning: rows side by side, each with its lambda as length, and the arrivals of a Poisson process of rate 1.
    rng = np.random.default_rng(50)
    q = np.array([0.05, 0.30, 0.02, 0.10, 0.60, 0.04, 0.15, 0.03, 0.08, 0.40])
    ends = np.cumsum(-np.log1p(-q))
    starts = ends + np.log1p(-q)
    arrivals = np.sort(rng.uniform(0, ends[-1], rng.poisson(ends[-1])))
    hit = [bool(((arrivals >= a) & (arrivals < b)).any()) for a, b in zip(starts, ends)]
    for n, (a, b) in enumerate(zip(starts, ends)):
        left.add_patch(plt.Rectangle((a, 0.40), b - a, 0.14, facecolor=BLUE if hit[n] else "#e4e4e4",
                                     edgecolor="white", lw=1.5))
        if b - a > 0.09:
            left.text((a + b) / 2, 0.33, f"{q[n]:.2f}", ha="center", va="center", fontsize=9)
    for at in arrivals:
        left.annotate("", (at, 0.55), xytext=(at, 0.72), arrowprops={"arrowstyle": "-|>", "color": BLACK, "lw": 1.2})
    left.text(ends[-1] / 2, 0.80, f"{len(arrivals)} arrivals of a Poisson process of rate 1", ha="center")
    left.text(ends[-1] / 2, 0.23, r"rows as long as $\lambda_n = -\log(1 - q_n)$; below, the wider ones' $q_n$",
              ha="center", fontsize=9)
    left.text(ends[-1] / 2, 0.08, f"hit at least once: proposed ({sum(hit)} of {len(q)} rows)", color=BLUE, ha="center")
    left.set(xlim=(-0.02, ends[-1] + 0.02), ylim=(0, 0.95), title="rows proposed without a loop over rows")
    left.axis("off")

    # A table: the mean gap of a row against its probability of being bright.
    s, draws, columns = 3.0, 400, 21
    x, y = table(20000, columns)
    theta, precision = mode(x, y)
    x = x.astype(float)
    factor = np.linalg.cholesky(precision)
    alpha = np.linalg.norm(np.linalg.solve(factor, x.T), axis=0)
    zone = typical, _ = zone_of(columns)
    eta = x @ theta
    c, k = sharp(eta, alpha, zone)
    mean_gap = 0.5 * ((c + k * typical - weight(eta)) * alpha**2 + (c * alpha**2) ** 2)
    white = np.random.default_rng(2).standard_normal((draws, columns))
    side = np.where(y > 0.5, 1.0, -1.0)
    bright = np.zeros((draws, len(y)), np.float32)
    for i, z in enumerate(white):
        d = x @ np.linalg.solve(factor.T, z)
        gap = remainder(side * eta, side * d) + 0.5 * (c + k * np.linalg.norm(z)) * d**2
        bright[i] = -np.expm1(-np.maximum(gap, 0.0))
    some = np.random.default_rng(3).choice(len(y), 400, replace=False)
    some = some[mean_gap[some] > 1e-8]
    right.loglog(mean_gap[some], np.quantile(bright[:, some], 0.92, axis=0), "^", color=ORANGE, ms=3.5, mew=0, alpha=0.8,
                 label="P(bright): 92 % of draws are below")
    right.loglog(mean_gap[some], bright[:, some].mean(axis=0), "o", color=BLACK, ms=2.5, mew=0, alpha=0.8,
                 label="P(bright): mean")
    grid = np.geomspace(1e-7, mean_gap.max() * 3, 200)
    right.loglog(grid, np.minimum(0.9, s * grid), color=BLUE, lw=1.8, label=r"$q_n = 3\,E\,g_n$")
    q = np.minimum(0.9, s * mean_gap)
    total = float(bright.sum(axis=1).mean())
    right.axhline(columns / len(y), color=GREY, lw=1.4, ls="--", label="one q for all rows, D / N")
    right.set(xlabel=r"expected gap $E\,g_n$ of the row", ylabel="probability", xlim=(grid[0], grid[-1]), ylim=(1e-9, 5e-3),
              title=f"{len(y):,} rows, {total:.2f} of them bright")
    right.legend(loc="lower right", fontsize=9, handlelength=1.6)
    figure.tight_layout(w_pad=2.0)
    print(f"sweep: bright {total:.3f}, sum of q {q.sum():.2f}, "
          f"share of P(bright) in rows and draws with P > q: {bright[bright > q].sum() / bright.sum():.3f}, "
          f"share of (row, draw) with P > q: {np.mean(bright > q):.4f}, "
          f"chi-square tail beyond 6: {math.erfc(math.sqrt(3)):.4f}, beyond 3: {math.erfc(math.sqrt(1.5)):.4f}")
    return figure


def move():
    # Two coordinates b in which the collapsed Gaussian is standard normal, and one bright row with delta = x'b.
    eta, x = 2.0, np.array([0.45, 1.0]) * 0.8
    excess = float(jaakkola_jordan(eta))
    gap = lambda d: np.maximum(remainder(eta, d) + 0.5 * excess * d**2, 1e-300)
    log_bright = lambda d: gap(d) + np.log(-np.expm1(-gap(d)))
    slope = lambda d: (remainder_slope(eta, d) + excess * d) / -np.expm1(-gap(d))
    log_density = lambda b: -0.5 * (b**2).sum(-1) + log_bright(b @ x)
    kick = lambda b: slope(b @ x) * x

    figure, axis = plt.subplots(figsize=(6.6, 5.4))
    side = np.linspace(-3.0, 3.0, 141)
    grid = np.stack(np.meshgrid(side, side), -1)
    density = np.exp(log_density(grid))
    axis.contourf(side, side, density / density.max(), levels=[0.02, 0.1, 0.25, 0.5, 0.75, 1.0],
                  colors=["#f3f3f3", "#e6e6e6", "#d6d6d6", "#c6c6c6", "#b6b6b6"])
    axis.plot(side, -x[0] / x[1] * side, color=BLACK, lw=2.4)

    def trajectory(b, p, steps, with_kicks):
        turn = 0.5 * math.pi / steps
        t = np.linspace(0, turn, 30)[:, None]
        energy = 0.5 * (p**2).sum() - log_density(b)
        path, kicks = [b[None]], []
        push = kick if with_kicks else np.zeros_like
        for i in range(steps + 1):
            half = 0.5 if i in (0, steps) else 1.0
            change = half * turn * push(b)
            kicks.append((b, change))
            p = p + change
            if i == steps:
                break
            arc = np.cos(t) * b + np.sin(t) * p
            p = math.cos(turn) * p - math.sin(turn) * b
            b = arc[-1]
            path.append(arc)
        return np.concatenate(path), kicks, 0.5 * (p**2).sum() - log_density(b) - energy

    start, momentum = np.array([-1.9, 1.55]), np.array([0.75, -1.5])
    free, _, _ = trajectory(start, momentum, 1, False)
    path, kicks, error = trajectory(start, momentum, 6, True)
    axis.plot(free[:, 0], free[:, 1], color=ORANGE, lw=1.8, ls="-.")
    axis.plot(path[:, 0], path[:, 1], color=BLUE, lw=2.2)
    for b, change in kicks:
        axis.plot(*b, "o", color=BLUE, ms=5, zorder=4)
        axis.annotate("", b + change, xytext=b, zorder=5,
                      arrowprops={"arrowstyle": "-|>", "color": BLACK, "lw": 1.4, "shrinkA": 0, "shrinkB": 0})
    axis.text(*(start + [-0.08, 0.16]), "start", ha="right")
    axis.text(*(path[-1] + [0.12, 0.10]), "proposal", ha="left")
    axis.text(1.55, -0.50, r"wall $\delta_n = 0$", ha="left", rotation=-math.degrees(math.atan(0.45)), va="center")
    axis.text(*(free[-1] + [0.10, -0.16]), "without kicks", color="#a85c00", ha="left")
    axis.text(-2.9, -2.85, "arcs: exact rotations     arrows: kicks by the bright row", fontsize=9)
    axis.set(xlim=(-3, 3), ylim=(-3, 3), aspect="equal", xlabel=r"$b_1$", ylabel=r"$b_2$")
    figure.tight_layout()
    print(f"move: energy error {error:.3f}, acceptance {min(1.0, math.exp(-error)):.3f}")
    return figure


def setup():
    rows, columns = 1000000, 51
    x, y = table(rows, columns)
    theta, precision = mode(x, y)
    factor = np.linalg.cholesky(precision)
    far = lambda t: float(np.linalg.norm(factor.T @ (t - theta)))
    figure, axis = plt.subplots(figsize=(6.6, 3.9))
    rule = int(max(20000, 1000 * columns, 8 * math.sqrt(columns * rows)))
    for size, color, style in ((5000, ORANGE, "s-."), (20000, GREY, "^--"), (rule, BLUE, "o-")):
        picks = np.random.default_rng(size).choice(rows, size, replace=False)
        at, rough = mode(x[picks], y[picks], size / rows)
        distances = [far(at)]
        for _ in range(2):
            at = at + np.linalg.solve(rough, expand(x, y, at, with_hessian=False)[0])
            distances.append(far(at))
        label = f"{size:,} rows" + (" (flymc's choice)" if size == rule else "")
        axis.semilogy([0, 1, 2], distances, style, color=color, lw=1.8, ms=6, label=label)
        print(f"setup: {size} rows: " + ", ".join(f"{d:.3g}" for d in distances))
    axis.axhline(math.sqrt(columns), color=BLACK, lw=0.9, ls=":")
    axis.text(2.12, math.sqrt(columns) * 1.12, r"$\sqrt{D}$: the posterior itself")
    axis.axhline(math.sqrt(columns) / 3, color=BLACK, lw=0.9, ls=":")
    axis.text(2.12, math.sqrt(columns) / 3 * 0.62, r"$\sqrt{D}/3$: near enough")
    axis.set(xticks=[0, 1, 2], xlim=(-0.15, 3.15), xlabel="gradient passes over the whole table",
             ylabel="distance from the mode,\nin posterior standard deviations",
             title=f"{rows:,} rows, {columns} coefficients")
    axis.set_xticklabels(["0\n(subsample's mode)", "1", "2"])
    axis.legend(loc="lower left", title="subsample", alignment="left", fontsize=9)
    figure.tight_layout()
    return figure


FIGURES = {"bound": bound, "sweep": sweep, "move": move, "setup": setup}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of figures: " + ", ".join(FIGURES))
    parser.add_argument("--png", type=pathlib.Path, help="a folder; PNG instead of SVG")
    arguments = parser.parse_args()
    for name in arguments.names or FIGURES:
        figure = FIGURES[name]()
        if arguments.png:
            figure.savefig(arguments.png / f"{name}.png", dpi=130)
        else:
            figure.savefig(pathlib.Path(__file__).parent / f"mathematics_{name}.svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
