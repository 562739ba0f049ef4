"""Selection for both tasks: members are judged on rows that they have not learnt, some are kept, and these are asked together."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import Bunch, get_tags
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import DataError, ParameterError, TableError
from woodwind.base.sound import finite
from woodwind.base.streams import seed_of
from woodwind.ensemble.combine import mean_numbers, mean_shares
from woodwind.estimators.forest_skin import ForestSkin
from woodwind.estimators.members import TableOfAny
from woodwind.estimators.out_of_fold import out_of_fold
from woodwind.estimators.pool import Named, Pool, Saying, are_fitted, class_numbers, joint_classes, open_table_of, trained_pool
from woodwind.estimators.pool_skin import PoolSkin
from woodwind.estimators.pruned import AnyPool, TreePool, pruned_ensemble
from woodwind.estimators.roster import is_fitted
from woodwind.estimators.seen_rows import tell_of_perfect
from woodwind.estimators.selection_scores import objective_for
from woodwind.estimators.selection_search import members_wanted, search
from woodwind.estimators.skin import COLUMNS, check_lengths
from woodwind.estimators.target import Target
from woodwind.estimators.validation import read_groups
from woodwind.select.chosen import Chosen, single_scores

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Values = dict[str, Any]

# For the docstrings of the estimators.
ABOUT = """
Of a pool of members some are kept, and the weighted mean of what these say is the prediction. They are chosen on rows that they have not
learnt. If the members are trained already, that is what X and y of `fit` must be. If they are not, copies are trained in folds, each is
judged on the rows held out, and those that were chosen are trained once more on all rows.

A fitted random forest, bagging or another ensemble with `estimators_` may be given in place of a list: its members are the pool.
"""
MODEL = """
weights_ : array of shape (n_members,)
    The weight of every member of the pool; they add up to one, and most are zero.
selected_ : array of shape (n_selected,)
    The numbers of the members that are kept, those of the largest weight first.
member_names_ : list of str
    The names of all members of the pool.
estimators_ : list
    The members that are kept, trained, in the order of `selected_`.
named_estimators_ : Bunch
    The same by name.
scores_ : array of shape (n_members,)
    The score of each member alone on the selection rows; larger is better, of losses minus their value.
path_ : array
    The score after each step of the search: greedy, after each member that was added, or after each of several bags; ordering and
    exhaustive, of 1, 2, ... members; genetic, of the best choice after each generation; clustering, of each number of clusters.
order_ : array
    The members as they were taken; one that was taken again comes again.
best_score_ : float
    The score of the choice on the selection rows. It was chosen to be large: rows that nobody has seen will give a little less.
"""


class Judged(NamedTuple):
    """What members say of rows that they have not learnt."""

    said: Floats  # (n, m, K) or (n, m)
    target: Target
    weight: Floats | None
    pool: AnyPool | None  # of members that are taken as they are


class Rows(NamedTuple):
    """What `fit` was given, read and checked."""

    table: TableOfAny
    target: Target
    weight: Floats | None
    groups: Integers | None


class Selection(PoolSkin):
    """What both kinds of selection share. To be named before scikit-learn's own bases."""

    _told: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL, "columns": COLUMNS}
    prefit: Any
    _pool: AnyPool
    _counts: Floats  # (n_selected,): how often each member that is kept was taken

    # What each task does in its own way.

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        """The target, and the weights of its rows."""
        raise NotImplementedError

    def _saying(self) -> Saying:
        """What members are asked for."""
        raise NotImplementedError

    def _matrix(self, said: Floats, n_classes: int) -> Floats:
        """What members say as probabilities (n, m, K), or as numbers (n, m)."""
        raise NotImplementedError

    # Skin.

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        trees = self._trees(values)
        named = self._named() if trees is None else []
        m = len(named) if trees is None else len(trees)
        members_wanted(values, m, self._owner)
        seed = seed_of(values["random_state"])
        target, weight = self._read(y, sample_weight)
        rows = Rows(open_table_of(X, None, self._owner), target, weight, read_groups(groups, target.n_rows, self._owner))
        check_lengths(self._owner, rows.table.n_rows, target.n_rows)
        self._keep_header(rows.table.header)
        prefit = trees is not None or (are_fitted(named) if values["prefit"] == "auto" else values["prefit"])
        judged = self._taken(named, trees, rows) if prefit else self._in_folds(named, rows, values, seed)
        if prefit and trees is None and values["prefit"] == "auto":
            tell_of_perfect([member.name for member in named], judged.said, judged.target.y, self._owner)
        said, weight = judged.said, judged.weight
        objective = objective_for(values["scoring"], self, said, judged.target, weight, values["diversity"])
        chosen = search(values, objective, said, judged.target, weight, seed)
        self.scores_ = single_scores(objective)
        self._keep_choice(chosen)
        pool = judged.pool
        self.member_names_ = [member.name for member in named] if trees is None else list(trees.names)
        if pool is None:
            kept = [named[place] for place in self.selected_]
            more = {"seed": seed, "threads": self._threads, "owner": self._owner, "verbose": values["verbose"]}
            self._pool = trained_pool(kept, rows.table, rows.target, rows.weight, **more)
        else:
            self._pool = pool.only(self.selected_)
        self._given = values["estimators"] if hasattr(values["estimators"], "estimators_") else None

    def _trees(self, values: Values) -> TreePool | None:
        """The trees of a forest of ours, which need not be taken apart to be asked; None for other members."""
        given = values["estimators"]
        whole = isinstance(given, ForestSkin) and is_fitted(given) and values["prefit"] is not False
        return TreePool.of(given) if whole and is_classifier(given) == self._classifies else None

    def _keep_choice(self, chosen: Chosen) -> None:
        self.weights_ = chosen.weights
        self.selected_: Integers = chosen.members[np.argsort(-chosen.counts[chosen.members], kind="stable")]
        self._counts = chosen.counts[self.selected_]
        self.order_, self.path_, self.best_score_ = chosen.order, chosen.path, chosen.score

    def _taken(self, named: list[Named], trees: TreePool | None, rows: Rows) -> Judged:
        """Members that are trained, asked about the rows that were given."""
        target, pool = rows.target, trees
        if target.classes is not None:
            classes = joint_classes(named, target.classes)
            if trees is not None:
                known = set(np.asarray(trees.classes).tolist())
                classes = self._classes_of_forest(trees, target, known)
            target = Target(class_numbers(target.labels(), classes), classes)
            self.classes_ = classes
        made: AnyPool = pool if pool is not None else Pool.of_fitted(named, rows.table.header, target.classes, self._owner)
        said = made.said(rows.table, self._saying(), self._owner, self._threads, hard_where_needed=True)
        return Judged(self._matrix(said, target.n_classes), target, rows.weight, made)

    def _classes_of_forest(self, trees: TreePool, target: Target, known: set[Any]) -> NDArray[Any]:
        """Trees of a forest answer for the classes that the forest knows, and no others."""
        new = [label for label in np.asarray(target.classes).tolist() if label not in known]
        if new:
            kind = type(trees.forest).__name__
            raise ParameterError(f"{self._owner}: y has the class {new[0]!r}, which the {kind} has not learnt. Leave those rows out.")
        return np.asarray(trees.classes)

    def _in_folds(self, named: list[Named], rows: Rows, values: Values, seed: int) -> Judged:
        """Copies of the members, each asked about rows that it has not learnt."""
        cv = values["cv"]
        if rows.target.n_rows < 2:
            raise DataError(f"{self._owner}: there is one sample only, n_samples = 1, and members are judged in folds. Give more rows.")
        if rows.weight is not None and not rows.weight.all() and (isinstance(cv, int) or hasattr(cv, "split")):
            # Rows of weight zero are absent from folds too; splits that are given count them.
            present = np.flatnonzero(rows.weight)
            table = open_table_of(rows.table.take(None, present), None, self._owner)
            groups = None if rows.groups is None else rows.groups[present]
            rows = Rows(table, rows.target.at(present), rows.weight[present], groups)
        found = out_of_fold(
            named,
            rows.table,
            rows.target,
            cv=cv,
            groups=rows.groups,
            weight=rows.weight,
            kind=self._saying(),
            seed=seed,
            threads=self._threads,
            owner=self._owner,
            verbose=values["verbose"],
        )
        judged = np.flatnonzero(found.judged)
        weight = None if rows.weight is None else rows.weight[judged]
        target = rows.target.at(judged)
        return Judged(self._matrix(found.said[judged], target.n_classes), target, weight, None)

    # What there is to ask.

    def _mean(self, X: Any) -> Floats:
        """The weighted mean of what the members that are kept say."""
        check_is_fitted(self)
        table = X if isinstance(self._pool, TreePool) else open_table_of(X, self._pool.header, self._owner)
        self._refuse_gaps(getattr(table, "X", None))
        said = self._pool.said(table, self._saying(), self._owner, self._threads, hard_where_needed=True)
        said = self._matrix(said, 0 if self._pool.classes is None else len(self._pool.classes))
        return finite(mean_shares(said, self._counts) if said.ndim == 3 else mean_numbers(said, self._counts), self._owner)

    def _refuse_gaps(self, X: Any) -> None:
        """What some member of the pool cannot take is refused, whether or not that member was kept."""
        numbers = X.data if hasattr(X, "tocsr") else X
        gaps = isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f" and not np.isfinite(numbers).all()
        if gaps and not get_tags(self).input_tags.allow_nan:
            raise TableError(
                f"{self._owner}: Input X contains NaN or infinity, which some members of the pool cannot take. Fill the gaps first, or "
                "give members that take them, such as those of Woodwind."
            )

    @property
    def estimators_(self) -> list[Any]:
        """The members that are kept, trained, in the order of `selected_`."""
        check_is_fitted(self)
        return list(self._pool.members)

    @property
    def named_estimators_(self) -> Bunch:
        """The same by name."""
        check_is_fitted(self)
        return Bunch(**dict(zip(self._pool.names, self._pool.members, strict=True)))

    def pruned_ensemble(self) -> Any:
        """The ensemble that `estimators` was, with the members that are kept and no others: of the same class, smaller and faster.

        It predicts as the selection does. A member that has more weight than others is in it several times; with replacement, which is not
        the default for such ensembles, it need therefore not be smaller.

        Returns
        -------
        estimator
            A random forest or extra-trees of Woodwind, or these or bagging of scikit-learn, fitted.
        """
        check_is_fitted(self)
        if self._given is None:
            raise ParameterError(f"{self._owner}: estimators was no fitted ensemble, so that none can be made smaller.")
        times = np.round(self._counts).astype(np.int64)
        if not np.array_equal(times, self._counts):
            raise ParameterError(
                f"{self._owner}: the weights of several bags are no whole numbers of members. Set n_bags=1, or predict with the selection."
            )
        return pruned_ensemble(self._given, np.repeat(self.selected_, times // np.gcd.reduce(times)).tolist(), self._owner)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_pool")
