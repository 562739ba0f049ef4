"""Two losses when labels are wrong: deviance (log loss) forgives a row that it cannot explain, exponential loss does not."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from woodwind import GradientBoostingClassifier

NOISE = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4]
LOSSES = {"log_loss": "deviance", "exponential": "exponential loss"}
# Stumps without anything that holds them back: no ridge, no early stopping, all rows.
STUMPS = {"max_depth": 1, "l2_regularization": 0.0, "learning_rate": 0.3, "early_stopping": False, "subsample": 1.0}


def rows(n, seed, noise=0.0):
    """Five of ten columns add up to the class; some labels are turned round."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    above = X[:, :5].sum(axis=1) > 0
    return X, np.where(rng.random(n) < noise, ~above, above).astype(int)


def experiment(n_draws, n_train=1000):
    """By the share of wrong labels, for each loss the error on clean new rows, and the share of the gradient that turned rows have."""
    X_new, y_new = rows(5000, seed=12345)
    errors = {loss: np.zeros(len(NOISE)) for loss in LOSSES}
    pull = {loss: np.zeros(len(NOISE)) for loss in LOSSES}
    for draw in range(n_draws):
        for position, noise in enumerate(NOISE):
            X, y = rows(n_train, draw, noise)
            turned = y != rows(n_train, draw)[1]
            for loss in LOSSES:
                model = GradientBoostingClassifier(n_estimators=200, loss=loss, random_state=draw, **STUMPS).fit(X, y)
                errors[loss][position] += (model.predict(X_new) != y_new).mean() / n_draws
                weights = weights_of(loss, model.decision_function(X), y)
                pull[loss][position] += weights[turned].sum() / weights.sum() / n_draws
    return errors, pull


def weights_of(loss, score, y):
    """How hard each row pulls at the next tree: the size of its gradient."""
    margin = score * (2 * y - 1)
    return np.exp(-margin) if loss == "exponential" else 1 / (1 + np.exp(margin))


def show(errors, pull):
    print("Boosted trees on labels of which some are turned round; errors are on new rows with the right labels.")
    print("  wrong labels     deviance   exponential loss     pull of turned rows: deviance   exponential loss")
    for position, noise in enumerate(NOISE):
        numbers = [errors[loss][position] for loss in LOSSES] + [pull[loss][position] for loss in LOSSES]
        print(f"  {noise:12.0%} {numbers[0]:12.3f} {numbers[1]:18.3f} {numbers[2]:34.3f} {numbers[3]:18.3f}")
    gap = errors["exponential"] - errors["log_loss"]
    where = int(gap.argmax())
    print(f"\nThe largest difference is at {NOISE[where]:.0%} of wrong labels: exponential loss errs on {gap[where]:.3f} more of the rows.")
    print("A row far on the wrong side has exp(margin) of the exponential loss and about margin of the deviance:")
    print("its pull at the next tree has no bound there, and the bound 1 here.")


def draw(errors, pull, path):
    """Errors and pulls by noise, side by side, as a picture."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    styles = {"log_loss": ("o-", "#0072B2"), "exponential": ("s--", "#D55E00")}
    names = "Error on new rows, right labels", "Share of the gradient of turned rows"
    for ax, found, name in zip(axes, (errors, pull), names, strict=True):
        for loss, word in LOSSES.items():
            ax.plot(NOISE, found[loss], styles[loss][0], color=styles[loss][1], label=word)
        ax.set(xlabel="Share of training labels that are wrong", ylabel=name, ylim=(0, None))
        ax.grid(alpha=0.25)
    axes[1].plot(NOISE, NOISE, color="grey", linewidth=0.8)
    where = {"xytext": (6, -12), "textcoords": "offset points", "fontsize": "small", "color": "grey"}
    axes[1].annotate("their share of the rows", (0.25, 0.25), **where)
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=90)
    print(f"\nThe picture is in {path}.")


def main(arguments):
    found = experiment(20 if "--full" in arguments else 2)
    show(*found)
    pictures = [one for one in arguments if not one.startswith("--")]
    if pictures:
        draw(*found, Path(pictures[0]))
    else:
        print("\nGive the name of a file, such as noise.png, for a picture, and --full for more draws of the rows.")


if __name__ == "__main__":
    main(sys.argv[1:])
