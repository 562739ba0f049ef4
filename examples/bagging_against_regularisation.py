"""Two ways against overfitting: a tree that is kept small, and many full trees that are averaged (bagging)."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from woodwind import BaggingClassifier, DecisionTreeClassifier

DEPTHS = [1, 2, 3, 4, 6, 8, 12, 16]
SIZES = [1, 2, 5, 10, 20, 50, 100]


def rows(n, seed):
    """A wavy border between two classes, and one label in ten that is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    inside = X[:, 1] > np.sin(3 * X[:, 0]) * 0.8
    return X, np.where(rng.random(n) < 0.1, ~inside, inside).astype(int)


def error(model, X, y):
    """The share of rows that are wrong."""
    return float((model.predict(X) != y).mean())


def experiment(n_draws, n_train=400):
    """Errors on training rows and on new ones, (2, settings), of trees by depth and of bags of full trees by size: means over draws."""
    X_new, y_new = rows(5000, seed=12345)
    by_depth, by_size = np.zeros((2, len(DEPTHS))), np.zeros((2, len(SIZES)))
    for draw in range(n_draws):
        X, y = rows(n_train, draw)
        trees = [DecisionTreeClassifier(max_depth=depth).fit(X, y) for depth in DEPTHS]
        by_depth += [[error(tree, *part) for tree in trees] for part in ((X, y), (X_new, y_new))]
        bag = BaggingClassifier(n_estimators=max(SIZES), voting="hard", random_state=draw).fit(X, y)
        stages = [list(bag.staged_predict(part)) for part in (X, X_new)]
        by_size += [[float((stage[size - 1] != truth).mean()) for size in SIZES] for stage, truth in zip(stages, (y, y_new), strict=True)]
    return by_depth / n_draws, by_size / n_draws


def show(by_depth, by_size):
    print("Regularisation: one tree, kept small by its depth")
    print("  depth     training error   error on new rows")
    for depth, seen, new in zip(DEPTHS, *by_depth, strict=True):
        print(f"  {depth:5d}     {seen:14.3f}   {new:17.3f}")
    print("\nBagging: full trees, each on rows drawn with replacement, that vote")
    print("  trees     training error   error on new rows")
    for size, seen, new in zip(SIZES, *by_size, strict=True):
        print(f"  {size:5d}     {seen:14.3f}   {new:17.3f}")
    best, bagged, full = by_depth[1].min(), by_size[1, -1], by_depth[1, -1]
    print(f"\nA full tree errs on {full:.3f} of new rows, the best depth ({DEPTHS[int(by_depth[1].argmin())]}) on {best:.3f},")
    print(f"{SIZES[-1]} full trees together on {bagged:.3f}, though none of them was kept small.")
    print("One row in ten has a wrong label: 0.100 is the best there is.")


def draw(by_depth, by_size, path):
    """The two curves side by side, as a picture."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, values, errors, name in ((axes[0], DEPTHS, by_depth, "Depth of one tree"), (axes[1], SIZES, by_size, "Full trees in the bag")):
        ax.plot(values, errors[0], "o--", color="#D55E00", label="training rows")
        ax.plot(values, errors[1], "o-", color="#0072B2", label="new rows")
        ax.axhline(0.1, color="grey", linewidth=0.8)
        ax.set(xlabel=name, xscale="log")
        ax.set_xticks(values, [str(value) for value in values])
        ax.minorticks_off()
        ax.grid(alpha=0.25)
    axes[0].set(ylabel="Error (share of rows)", title="Regularisation", ylim=(0, None))
    axes[1].set(title="Bagging")
    axes[1].legend(frameon=False)
    where = {"xytext": (0, 4), "textcoords": "offset points", "ha": "right", "fontsize": "small", "color": "grey"}
    axes[1].annotate("labels that are wrong", (SIZES[-1], 0.1), **where)
    figure.savefig(path, dpi=90)
    print(f"\nThe picture is in {path}.")


def main(arguments):
    found = experiment(40 if "--full" in arguments else 4)
    show(*found)
    pictures = [one for one in arguments if not one.startswith("--")]
    if pictures:
        draw(*found, Path(pictures[0]))
    else:
        print("\nGive the name of a file, such as curves.png, for a picture, and --full for more draws of the rows.")


if __name__ == "__main__":
    main(sys.argv[1:])
