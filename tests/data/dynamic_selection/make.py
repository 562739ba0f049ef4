"""Make the frozen answers of DESlib: run in an environment of its own, see README.md. Writes answers.npz and cases.json beside itself."""

import itertools
import json
import platform
import warnings
from pathlib import Path

import deslib
import numpy as np
import scipy
import sklearn
from deslib.dcs import LCA, MCB, MLA, OLA, APosteriori, APriori, Rank
from deslib.des import (
    DESKL,
    DESKNN,
    DESMI,
    DESP,
    KNOP,
    KNORAE,
    KNORAU,
    METADES,
    RRC,
    DESClustering,
    Exponential,
    Logarithmic,
    MinimumDifference,
)
from deslib.static import Oracle, SingleBest, StackedClassifier, StaticSelection
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

HERE = Path(__file__).parent
N_TRAIN, N_SELECTION, N_QUERY, N_COLUMNS, N_MEMBERS = 150, 140, 100, 4, 10
NEAR = 1e-9  # what is closer than this may come out either way when sums are taken in another order


# ---------------------------------------------------------------- data and pools


def rows_of(n, n_classes, random):
    """Overlapping classes of unequal size, two lumps each; columns are whole thousandths, so that they are stored exactly."""
    y = random.choice(n_classes, size=n, p=[[0.6, 0.4], [0.45, 0.35, 0.2]][n_classes - 2])
    centres = np.random.RandomState(5).uniform(-1.5, 1.5, (n_classes, 2, N_COLUMNS))
    X = centres[y, random.randint(2, size=n)] + random.normal(0.0, 1.1, (n, N_COLUMNS))
    return np.round(X * 1000.0).astype(np.int16), y


def trained_pool(X, y, random):
    """Weak members of four kinds, each on a few rows and two columns."""
    kinds = [
        lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
        lambda: LogisticRegression(C=0.5),
        GaussianNB,
        lambda: KNeighborsClassifier(n_neighbors=9, weights="distance"),
    ]
    pool = []
    for number in range(N_MEMBERS):
        columns = random.choice(N_COLUMNS, 2, replace=False)
        rows = np.concatenate([random.choice(np.flatnonzero(y == c), 18) for c in np.unique(y)])
        pool.append((columns, kinds[number % len(kinds)]().fit(X[rows][:, columns], y[rows])))
    return pool


def thousandths(pool, X, n_classes):
    """Probabilities (n, m, K) in whole thousandths that add up to 1000, the largest of them alone."""
    out = np.empty((len(X), len(pool), n_classes), np.int16)
    for position, (columns, member) in enumerate(pool):
        predicted = np.clip(member.predict_proba(X[:, columns]), 0.002, None)
        whole = np.floor(1000.0 * predicted / predicted.sum(axis=1, keepdims=True)).astype(np.int16)
        whole[:, 0] += 1000 - whole.sum(axis=1)
        for row in whole:
            while np.sum(row == row.max()) > 1:
                best = np.flatnonzero(row == row.max())
                row[best[0]] += 1
                row[best[-1]] -= 1
        out[:, position] = whole
    return out


class Recorded:
    """A member that says what was recorded for the rows it is asked about."""

    def __init__(self, shares, n_classes):
        self.shares, self.classes_ = shares, np.arange(n_classes)

    def predict_proba(self, X):
        return np.array([self.shares[row.tobytes()] for row in np.ascontiguousarray(X, np.float64)])

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)

    def fit(self, X, y):  # scikit-learn's scorers ask whether there is one
        return self

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


def table(n_classes, seed):
    random = np.random.RandomState(seed)
    X_train, y_train = rows_of(N_TRAIN, n_classes, random)
    X_selection, y_selection = rows_of(N_SELECTION, n_classes, random)
    X_query, y_query = rows_of(N_QUERY, n_classes, random)
    X_query[:2] = X_selection[:2]  # a query at distance zero of a selection row
    pool = trained_pool(X_train / 1000.0, y_train, random)
    return {
        "X_selection": X_selection,
        "y_selection": y_selection.astype(np.int8),
        "X_query": X_query,
        "y_query": y_query.astype(np.int8),
        "shares_selection": thousandths(pool, X_selection / 1000.0, n_classes),
        "shares_query": thousandths(pool, X_query / 1000.0, n_classes),
    }


def recorded_pool(facts, n_classes):
    X = np.concatenate([facts["X_selection"], facts["X_query"]]) / 1000.0
    shares = np.concatenate([facts["shares_selection"], facts["shares_query"]]) / 1000.0
    assert len(np.unique(shares.reshape(len(X), -1), axis=0)) == len({row.tobytes() for row in X}), "two rows have the same output profile"
    return [
        Recorded({row.tobytes(): predicted for row, predicted in zip(X, shares[:, m], strict=True)}, n_classes)
        for m in range(shares.shape[1])
    ]


# ---------------------------------------------------------------- cases


def cases():
    """(class, parameters, whether competences are kept) of everything that is asked of DESlib."""
    hard_rows = {"with_IH": True, "IH_rate": 0.35}
    for cls in (OLA, LCA, MLA, MCB, Rank, APriori, APosteriori):
        yield cls, {"selection_method": "best"}, True
        for way in ("all", "diff", "random"):
            yield cls, {"selection_method": way}, False
        yield cls, {"selection_method": "best", "DFP": True}, False
        yield cls, {"selection_method": "best", **hard_rows}, False
        yield cls, {"selection_method": "all", **hard_rows, "safe_k": 5}, False
        yield cls, {"selection_method": "best", "knne": True}, False
        yield cls, {"selection_method": "best", "k": 15}, False
    yield MCB, {"selection_method": "best", "similarity_threshold": 0.5}, False
    probabilistic = (RRC, DESKL, Logarithmic, Exponential, MinimumDifference)
    for cls in (KNORAE, KNORAU, KNOP, DESP, METADES, *probabilistic):
        yield cls, {}, True
        yield cls, {"voting": "soft"}, False
        yield cls, {"DFP": True, "k": 7}, False
        yield cls, {**hard_rows, "safe_k": 5}, False
        yield cls, {"k": 15}, False
        if cls not in probabilistic:
            yield cls, {"knne": True}, False
        if cls not in (KNORAE, KNORAU, KNOP):
            for mode, voting in itertools.product(("weighting", "hybrid"), ("hard", "soft")):
                yield cls, {"mode": mode, "voting": voting}, False
    yield METADES, {"Kp": 3, "k": 9, "Hc": 0.6, "selection_threshold": 0.7}, False
    for changes in ({}, {"voting": "soft"}, {"DFP": True}, {**hard_rows, "safe_k": 5}, {"knne": True}, {"alpha": 0.05, "k": 15}):
        yield DESMI, {"pct_accuracy": 0.4, **changes}, not changes
    for changes in (
        {},
        {"voting": "soft"},
        {"DFP": True},
        {**hard_rows, "safe_k": 5},
        {"knne": True},
        {"k": 15},
        {"more_diverse": False},
        {"metric": "ratio"},
        {"metric": "Q", "k": 70},
        {"metric": "Q", "k": 70, "more_diverse": False},
        {"k": 40, "pct_accuracy": 0.7, "pct_diversity": 0.4},
    ):
        yield DESKNN, changes, not changes
    for changes in (
        {},
        {"voting": "soft"},
        {"more_diverse": False},
        {"metric_diversity": "ratio"},
        {"metric_diversity": "Q"},
        {"metric_diversity": "Q", "more_diverse": False},
        {"n_clusters": 3, "pct_accuracy": 0.7, "pct_diversity": 0.4},
    ):
        yield DESClustering, changes, not changes
    for cls, params in (
        (SingleBest, {}),
        (StaticSelection, {}),
        (StaticSelection, {"pct_classifiers": 0.3}),
        (Oracle, {}),
        (StackedClassifier, {}),
        (StackedClassifier, {"passthrough": True}),
    ):
        yield cls, params, False


# ---------------------------------------------------------------- asking, and listening to what happens inside


class Ears:
    """What a selector of DESlib did inside `predict`: rows that came to selection, competences before pruning, who was selected."""

    def __init__(self, model):
        self.rows, self.competence, self.scored, self.pruned, self.chosen = None, None, None, None, None
        self._listen(model, "_prepare_indices_DS", self._rows)
        self._listen(model, "_get_DFP_mask", self._pruned)
        for name in ("estimate_competence", "estimate_competence_from_proba"):
            if hasattr(model, name):
                self._listen(model, name, self._competence)
        self._listen(model, "select", self._select)

    @staticmethod
    def _listen(model, name, told):
        inner = getattr(model, name)

        def heard(*args, **named):
            out = inner(*args, **named)
            told(out)
            return out

        setattr(model, name, heard)

    def _rows(self, out):
        self.rows = out[0]

    def _pruned(self, out):
        self.pruned = out

    def _competence(self, out):
        self.competence = tuple(np.ma.filled(part, 0.0).copy() for part in out) if isinstance(out, tuple) else np.ma.filled(out, 0.0).copy()

    def _select(self, out):
        self.chosen = np.array(out)


def mask_of(chosen, n_members):
    """Masks (q, m) of what `select` returned: a mask, one place, or a list of places for each row."""
    if chosen.dtype == bool:
        return chosen
    mask = np.zeros((len(chosen), n_members), bool)
    np.put_along_axis(mask, chosen.reshape(len(chosen), -1), True, axis=1)
    return mask


# ---------------------------------------------------------------- where chance, or the last digit, decides


def best_sets(values, count, largest=True):
    """All sets of `count` positions that are the best of these values, if equals (within NEAR) may come in any order."""
    values = np.where(np.isinf(values), np.sign(values) * 1e300, values) * (1.0 if largest else -1.0)
    order = np.argsort(-values, kind="stable")
    edge = values[order[count - 1]]
    near = NEAR * np.abs(values).max()
    sure, tied = np.flatnonzero(values > edge + near), np.flatnonzero(np.abs(values - edge) <= near)
    return [np.concatenate([sure, some]).astype(int) for some in itertools.combinations(tied, count - len(sure))]


def winner(predicted, chosen, hard):
    """The label that these members give together; None if a soft vote is too close to call."""
    if hard:
        return int(np.bincount(predicted[chosen].argmax(axis=1), minlength=predicted.shape[1]).argmax())
    total = np.sort(predicted[chosen].sum(axis=0))
    return None if total[-1] - total[-2] < NEAR else int(predicted[chosen].sum(axis=0).argmax())


def pairs_of_cuts(model, accuracy, diversity):
    """All sets that the two cuts of DES-KNN and DES-clustering may leave: the most accurate, and the most diverse of those."""
    return [first[inner] for first in best_sets(accuracy, model.N_) for inner in best_sets(diversity[first], model.J_, model.more_diverse)]


def set_decides(predicted, sets, hard):
    """Whether it matters which of several equally good sets is taken."""
    found = {winner(predicted, chosen, hard) for chosen in sets}
    return len(found) > 1 or None in found


def lists_by_chance(model, ears, facts):
    """DES-KNN and DES-MI cut sorted lists: the order among equals is that of a sort that is not stable."""
    predicted, hard = facts["shares_query"][ears.rows] / 1000.0, model.voting == "hard"
    out = np.zeros(len(ears.rows), bool)
    for position in range(len(out)):
        if isinstance(ears.competence, tuple):
            accuracy, diversity = (part[position] for part in ears.competence)
            accuracy = accuracy * ears.pruned[position]
            sets = pairs_of_cuts(model, accuracy, diversity)
        else:
            sets = best_sets(ears.competence[position] * ears.pruned[position], model.N_)
        out[position] = set_decides(predicted[position], sets, hard)
    return out


def clusters_by_chance(model, ears, facts, clusters):
    predicted, hard = facts["shares_query"][ears.rows] / 1000.0, model.voting == "hard"
    out = np.zeros(len(ears.rows), bool)
    for position, cluster in enumerate(clusters[ears.rows]):
        sets = pairs_of_cuts(model, model.performance_cluster_[cluster], model.diversity_cluster_[cluster])
        out[position] = set_decides(predicted[position], sets, hard)
    return out


def one_by_chance(model, ears, votes):
    """Selection of one member: drawn by lot among several, or the best of two that differ in the last digit only."""
    competence = ears.competence * ears.pruned if model.DFP else ears.competence
    gap = competence.max(axis=1, keepdims=True) - competence
    near = (gap > 0) & (gap < NEAR)
    if model.selection_method == "diff":
        candidates = gap < model.diff_thresh
        near |= np.abs(gap - model.diff_thresh) < NEAR
    elif model.selection_method == "random":
        candidates = gap == 0
    else:
        return near.any(axis=1)
    drawn = np.array([len(set(row[mask])) > 1 for row, mask in zip(votes[ears.rows], candidates, strict=True)])
    return drawn | near.any(axis=1)


def several_by_chance(model, ears, facts):
    """Thresholds and weighted votes: chance where a competence is at the threshold to the last digit, or where two classes are equal to
    it.

    Second: rows of weighted votes whose weights add up to less than nothing. DESlib divides by the sum there, which turns the order of the
    classes around: the class with the least support wins.
    """
    competence = ears.competence * ears.pruned if model.DFP else ears.competence
    limit = getattr(model, "selection_threshold", None)
    if limit is None:
        limit = 1.0 / model.n_classes_ if type(model) in (DESP, RRC, Logarithmic) else 0.0
    gap = np.abs(competence - limit)
    chance = ((gap > 0) & (gap < NEAR)).any(axis=1)
    shares = facts["shares_query"][ears.rows] / 1000.0
    if model.voting == "hard":
        shares = (shares == shares.max(axis=2, keepdims=True)).astype(float)
    turned = np.zeros(len(chance), bool)
    mask = np.ones(competence.shape) if ears.chosen is None else mask_of(ears.chosen, competence.shape[1])
    if model.mode == "selection":
        weight = mask
    else:
        weight = competence * mask
        turned = (model.voting == "hard") & ((weight[:, :, None] * shares).sum(axis=(1, 2)) < 0)
    total = np.sort((weight[:, :, None] * shares).sum(axis=1), axis=1)
    tied = (total[:, -1] - total[:, -2]) < NEAR
    if model.mode == "selection" and model.voting == "hard":
        tied[:] = False  # whole numbers: the first class wins, always
    if type(model) is KNORAU or type(model) is KNOP:
        tied &= model.voting == "soft"
    return chance | tied, turned


def asked(cls, params, facts, pool):
    """Answers of one case: labels, rows of chance, rows turned around, competences, who was selected, clusters."""
    n_classes = facts["shares_query"].shape[2]
    X_selection, X_query = facts["X_selection"] / 1000.0, facts["X_query"] / 1000.0
    y_selection, y_query = facts["y_selection"].astype(int), facts["y_query"].astype(int)
    static = cls in (SingleBest, StaticSelection, Oracle, StackedClassifier)
    model = cls(pool, random_state=7, n_jobs=1, **params).fit(X_selection, y_selection)
    none = np.zeros(N_QUERY, bool)
    out = {"chance": none.copy(), "turned": none.copy(), "asked": none.copy()}
    if static:
        out["labels"] = model.predict(X_query, y_query) if cls is Oracle else model.predict(X_query)
        if cls is StackedClassifier:
            share = np.sort(model.predict_proba(X_query), axis=1)
            out["chance"] = share[:, -1] - share[:, -2] < 1e-3  # two solvers stop at slightly different coefficients
        if cls is StaticSelection:
            hits = (facts["shares_selection"].argmax(axis=2) == y_selection[:, None]).mean(axis=0)
            sets = best_sets(hits, model.n_classifiers_ensemble_)
            predicted = facts["shares_query"] / 1000.0
            out["chance"] = np.array([set_decides(row, sets, True) for row in predicted])
        return out
    ears = Ears(model)
    out["labels"] = model.predict(X_query)
    votes = facts["shares_query"].argmax(axis=2)
    if cls is DESClustering:
        of_queries = model.clustering_.predict(X_query)
        out["clusters"] = np.concatenate([model.clustering_.predict(X_selection), of_queries])
        chance, turned = clusters_by_chance(model, ears, facts, of_queries), False
    elif cls in (DESKNN, DESMI):
        chance, turned = lists_by_chance(model, ears, facts), False
    elif hasattr(model, "selection_method"):
        chance, turned = one_by_chance(model, ears, votes), False
    else:
        chance, turned = several_by_chance(model, ears, facts)
    out["chance"][ears.rows], out["turned"][ears.rows] = chance, turned
    out["asked"][ears.rows], out["competence"] = True, ears.competence
    if cls is DESClustering:
        out["competence"] = (model.performance_cluster_, model.diversity_cluster_)
    if ears.chosen is not None and not isinstance(ears.competence, tuple) and cls not in (DESMI, DESClustering):
        mask = np.zeros((N_QUERY, N_MEMBERS), bool)
        mask[ears.rows] = mask_of(ears.chosen, N_MEMBERS)
        out["selected"] = mask
    assert n_classes == model.n_classes_
    return out


# ---------------------------------------------------------------- writing


def neighbours_of(facts):
    """The regions of the default cases: the seven nearest rows, and the seven of equal classes (KNN-E)."""
    out = {}
    pool = recorded_pool(facts, facts["shares_query"].shape[2])
    for name, params in (("neighbours", {}), ("neighbours_knne", {"knne": True})):
        model = OLA(pool, n_jobs=1, **params).fit(facts["X_selection"] / 1000.0, facts["y_selection"].astype(int))
        out[name] = model.get_competence_region(facts["X_query"] / 1000.0)[1].astype(np.int16)
    return out


def main():
    warnings.simplefilter("ignore")
    arrays, told = {}, []
    columns = {name: [] for name in ("labels", "chance", "turned", "asked", "selected", "clusters", "competence", "diversity")}
    for name, n_classes, seed in (("two", 2, 11), ("three", 3, 12)):
        facts = table(n_classes, seed)
        arrays.update({f"{name}/{key}": value for key, value in {**facts, **neighbours_of(facts)}.items()})
        pool = recorded_pool(facts, n_classes)
        for cls, params, keep in cases():
            try:
                found = asked(cls, params, facts, pool)
            except ZeroDivisionError:  # Q of a pair that is never right and wrong together: DESlib divides by zero
                print(name, cls.__name__, params, "cannot be asked")
                continue
            about = {"table": name, "class": cls.__name__, "params": params}
            print(len(told), about, "chance", int(found["chance"].sum()), "turned", int(found["turned"].sum()))
            for key in ("labels", "chance", "turned", "asked"):
                columns[key].append(found[key])
            for key in ("selected", "clusters"):
                if key in found:
                    about[key] = len(columns[key])
                    columns[key].append(found[key])
            if keep:
                about["competence"] = sum(map(len, columns["competence"]))
                parts = found["competence"] if isinstance(found["competence"], tuple) else (found["competence"],)
                columns["competence"].append(parts[0])
                if len(parts) == 2:
                    about["diversity"] = sum(map(len, columns["diversity"]))
                    columns["diversity"].append(parts[1])
            told.append(about)
    for key in ("chance", "turned", "asked", "selected"):
        arrays[key] = np.packbits(np.array(columns[key]))
    for key in ("labels", "clusters"):
        arrays[key] = np.array(columns[key]).astype(np.int8)
    for key in ("competence", "diversity"):
        arrays[key] = np.concatenate(columns[key]).astype(np.float32)
    np.savez_compressed(HERE / "answers.npz", **arrays)
    versions = {"python": platform.python_version(), "deslib": deslib.__version__, "scikit-learn": sklearn.__version__}
    versions.update({"numpy": np.__version__, "scipy": scipy.__version__})
    lines = ",\n".join(json.dumps(about) for about in told)
    (HERE / "cases.json").write_text(f'{{"versions": {json.dumps(versions)},\n"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
