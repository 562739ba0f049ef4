"""Will the flight be late? A boosted model on a table as it comes: a date, strings, numbers, and cells that are missing."""

import textwrap
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sklearn.metrics import log_loss, roc_auc_score

from woodwind import DecisionTreeClassifier, GradientBoostingClassifier, WoodwindWarning

FILE = Path(__file__).parent / "data" / "flights.parquet"
BAR = 30


def clock(call):
    """What a call returns, and its seconds."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def heading(text):
    print(f"\n{text}\n{'-' * len(text)}")


def show_table(table, y_train, y_test):
    heading("Will the flight be late?")
    kinds = ", ".join(sorted({str(column.type) for column in table.columns}))
    missing = sum(column.null_count for column in table.columns)
    print(f"{table.num_rows:,} flights out of New York in 2013. Late is more than 15 minutes.")
    print(f"{table.num_columns} columns of {kinds}; {missing:,} cells are missing. Nothing is encoded or filled by hand.")
    print(f"{len(y_train):,} flights to learn from; {len(y_test):,} flights of other days are held out.")


def show_scores(probabilities, late, notes):
    heading("How good it is, on the flights held out")
    print("                     log loss    AUC   (a smaller loss is better, a larger AUC)")
    for name, probability in probabilities.items():
        print(f"{name:<19}  {log_loss(late, probability):8.4f}  {roc_auc_score(late, probability):5.3f}")
    for note in notes:
        print(f"\n{textwrap.fill(f'Good to know: {note}', 100)}")


def show_calibration(probability, late):
    heading("Whether it can be believed")
    print("probability      flights  were late")
    steps = [0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 1.0]
    for low, high in pairwise(steps):
        here = (probability >= low) & (probability < high if high < 1.0 else probability <= high)
        if here.any():
            print(f"{low:4.0%} to {high:4.0%}     {here.sum():7,}  {late[here].mean():9.0%}")


def show_learned(model, names):
    heading("What it looks at")
    shares = model.feature_importances_
    for i in np.argsort(shares)[::-1][:8]:
        print(f"{names[i]:>12}  {'█' * round(BAR * shares[i] / shares.max()):<{BAR}} {shares[i]:4.0%} of the gain")


def main() -> None:
    flights = pq.read_table(FILE)
    labels = np.where(pc.greater(flights["delay"], 15).to_numpy(), "late", "on time")
    table = flights.drop_columns(["delay"])

    # Whole days are held out: flights of one day share their weather, so a row of the same day would give the answer away.
    test = pc.day_of_year(flights["departure"]).to_numpy() % 4 == 0
    X_train, X_test = table.filter(pa.array(~test)), table.filter(pa.array(test))
    y_train, y_test = labels[~test], labels[test]
    show_table(table, y_train, y_test)

    model, first = clock(lambda: GradientBoostingClassifier(random_state=0).fit(X_train, y_train))
    _, again = clock(lambda: GradientBoostingClassifier(random_state=0).fit(X_train, y_train))
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=100).fit(X_train, y_train)

    # The library warns about what it meets for the first time here; the demo tells it in a sentence of its own.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WoodwindWarning)
        probability = model.predict_proba(X_test)[:, 0]  # classes are sorted: "late" comes first
        _, predicted = clock(lambda: model.predict_proba(X_test))
        of_tree = tree.predict_proba(X_test)[:, 0]
    notes = dict.fromkeys(str(warning.message) for warning in caught)

    late, share = y_test == "late", np.mean(y_train == "late")
    probabilities = {f"always {share:.0%} late": np.full(len(late), share), "one small tree": of_tree, "gradient boosting": probability}
    show_scores(probabilities, late, notes)
    show_calibration(probability, late)

    heading("How fast it is")
    print(f"Training   {again:.2f} s for {model.n_iter_} trees; their number was found on rows held out inside fit.")
    print(f"           The first training took {first:.2f} s: it loads the kernels, and on a new machine compiles them.")
    print(f"Predicting {predicted * 1e3:.0f} ms for {len(y_test):,} flights.")

    show_learned(model, table.column_names)
    heading("One small tree of the same flights, in full")
    print(tree.export_text(max_categories=5))


if __name__ == "__main__":
    main()
