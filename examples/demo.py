"""Will the flight be late? A boosted model on a table as it comes: a date, strings, numbers, and cells that are missing."""

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sklearn.metrics import log_loss, roc_auc_score

from woodwind import DecisionTreeClassifier, GradientBoostingClassifier

FILE = Path(__file__).parent / "data" / "flights.parquet"


def clock(call):
    """What a call returns, and its seconds."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def main() -> None:
    flights = pq.read_table(FILE)
    late = np.where(pc.greater(flights["delay"], 15).to_numpy(), "late", "on time")
    table = flights.drop_columns(["delay"])

    # Whole days are held out: flights of one day share their weather, so a row of the same day would give the answer away.
    test = pc.day_of_year(flights["departure"]).to_numpy() % 4 == 0
    X_train, X_test = table.filter(pa.array(~test)), table.filter(pa.array(test))
    y_train, y_test = late[~test], late[test]
    missing = sum(column.null_count for column in table.columns)
    kinds = ", ".join(sorted({str(column.type) for column in table.columns}))
    print(f"Will the flight be late?  {len(late):,} flights out of New York in 2013, more than 15 minutes late or not.\n")
    print(f"  {table.num_columns} columns ({kinds}), {missing:,} cells missing; nothing is encoded or filled by hand.")
    print(f"  {len(y_train):,} flights to learn from, {len(y_test):,} of other days to be judged by.\n")

    model, first = clock(lambda: GradientBoostingClassifier(random_state=0).fit(X_train, y_train))
    _, again = clock(lambda: GradientBoostingClassifier(random_state=0).fit(X_train, y_train))
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=100).fit(X_train, y_train)

    share = np.mean(y_train == "late")
    contenders = {
        f"always {share:.0%} late": np.full(len(y_test), share),
        "one small tree": tree.predict_proba(X_test)[:, 0],
        "gradient boosting": model.predict_proba(X_test)[:, 0],  # classes are sorted: "late" comes first
    }
    print("  held out              log loss    AUC")
    for name, probability in contenders.items():
        print(f"  {name:<20}  {log_loss(y_test == 'late', probability):8.4f}  {roc_auc_score(y_test == 'late', probability):5.3f}")

    _, batch = clock(lambda: model.predict_proba(X_test))
    print(f"\n  fit:     {again:.2f} s  (the first time {first:.2f} s: that loads the kernels, and compiles them if need be)")
    print(f"  predict: {batch * 1e3:.1f} ms for {len(y_test):,} flights\n")

    names = np.asarray(table.column_names)
    print("What it looks at (share of the gain)")
    order = np.argsort(model.feature_importances_)[::-1][:10]
    for i in order:
        size = model.feature_importances_[i] / model.feature_importances_[order[0]]
        print(f"  {names[i]:>12}  {'█' * round(40 * size):<40} {model.feature_importances_[i]:5.1%}")

    print("\nOne small tree of the same flights")
    print(tree.export_text())


if __name__ == "__main__":
    main()
