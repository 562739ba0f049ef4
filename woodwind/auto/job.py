"""The main job: from a table and a target to a blend of members, as a generator of what happens.

    table and target -> folds -> recipe after recipe, each trained in folds and asked about rows that it has not been trained on
             -> weights, found and scored in folds once more -> the model

Whatever happens to one member, the job goes on: one that fails is noted in the leaderboard. The clock ends it at any moment, and what is
finished makes a model. Nothing depends on the time but where the clock says stop: with a number of members instead of a time the result is
the same on every run.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.auto import averaging
from woodwind.auto.averaging import AveragedMember
from woodwind.auto.blend import GUESSING, Blend, BlendEvidence, BlendWeights, blend, by_loss, estimated, nested_scores, spreads
from woodwind.auto.calibration import IntervalEvidence, conformal_intervals, held_out_by
from woodwind.auto.checkpoint import Checkpoint
from woodwind.auto.clock import Clock
from woodwind.auto.decision import DecisionRule, cross_fitted
from woodwind.auto.events import Blended, Event, FactsBegan, FoldDone, JobBegan, JobEnded, MemberBegan, MemberDone, Message
from woodwind.auto.facts.collection import collect
from woodwind.auto.intervals import PredictionIntervals
from woodwind.auto.members.link import probabilities
from woodwind.auto.members.tree_members import Member
from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import ENSEMBLE, Entry, Outcome
from woodwind.auto.scorer import BlendScorer
from woodwind.auto.shap import background_facts
from woodwind.auto.size import MEMBER_SHARE, bytes_for_members, members_that_fit, stored_bytes
from woodwind.auto.training.baseline import BASELINE, BaselineFamily
from woodwind.auto.training.recipe import ALL_ROWS, OUT_OF_TIME, Family, Recipe, TrainedFold, is_whole
from woodwind.auto.training.training_set import TrainingSet
from woodwind.base.errors import JobError, WoodwindError
from woodwind.data.blocks.block_columns import table_of_blocks
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.tables.frames import as_arrow
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table

Floats = NDArray[np.float64]

# A member is not begun when less than this share of what members took so far is left for training. Of a large table some can be trained in
# less than the usual time.
LEAST_SHARE_LEFT, LEAST_SHARE_OF_LARGE = 0.4, 0.2
# Where more than this share of the time is left when the last member is trained, it is said why.
MUCH_LEFT = 0.25
# After so many members in a row that the blend did not gain from, the job is done before its time.
PATIENCE = 8
# A blend is better when its loss fell by this share.
GAIN = 1e-4
# Rows by which the time of a prediction is taken.
TIMED_ROWS = 500
# Seconds for the facts of the report: what is left of the budget but a share for saving and a part of what is reserved; without a budget
# so many.
SAVING_SHARE, SAVING_PART, UNHURRIED_FACTS = 0.03, 0.6, 60.0
# What is kept of the time to estimate what averaging gains, and the part of what is kept for the end that it leaves to the facts.
ESTIMATE_SHARE, FACTS_PART = 0.07, 0.85
IN_BLOCKS = "the table is in blocks on disk, and its rows were not read for the report"
NO_TIME = "There was no time to train a member: the model says the same of every row, from the target alone. Give more time."


@dataclass(frozen=True, eq=False)
class JobSpec:
    """What is asked of a job, read and checked."""

    X: Any  # a table of any kind, without the target
    y: NDArray[Any]  # class numbers (int32), or numbers (float64)
    task: str
    classes: tuple[Any, ...]
    metric: Any  # of woodwind.metrics
    fold: NDArray[np.int64]  # (n,) see `splits.py`
    ordered: bool = False
    split_columns: dict[str, str] = field(default_factory=dict)  # the names of the columns by which rows are held out: "group", "time"
    target: str = ""
    beside: tuple[str, ...] = ()  # columns that came with the table and are not trained on
    weight: Floats | None = None
    groups: NDArray[np.int64] | None = None
    clusters: NDArray[np.int64] | None = None  # rows of one are not independent of each other: groups, or stretches of time
    queries: NDArray[np.int64] | None = None  # the number of the query of each row, where rows are ranked
    categorical_features: Any = None
    suspicions: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()
    seed: int = 0
    threads: int = 1
    positive: int = 1  # of two classes
    rule: DecisionRule | None = None  # how the threshold is chosen from which on it is predicted; None: the likelier class is
    also: tuple[Any, ...] = ()  # further metrics for the leaderboard
    max_size: float | None = None  # megabytes of the model
    models: int | None = None  # how many members are tried; None: as many as there is time for


class RecipeSource(Protocol):
    """Says what is tried."""

    def next(self, done: Sequence[Entry]) -> Recipe | None:
        """The next recipe, where these members are there already; None for the end."""


@dataclass(eq=False)
class _FinishedMember:
    """A member that is finished."""

    recipe: Recipe
    member: Member
    scores: Floats  # (n, width) out of fold
    entry: Entry
    like: TrainedFold  # the last fold, without its model and what that predicts


def run(
    spec: JobSpec, families: dict[str, Family], recipes: RecipeSource, clock: Clock, checkpoint: Checkpoint | None = None
) -> Iterator[Event]:
    """Do the job."""
    schema, table = _table_of(spec, clock)
    n_classes = len(spec.classes)
    training_set = TrainingSet(
        schema, table, spec.y, spec.weight, n_classes, spec.fold, spec.seed, spec.threads, spec.ordered,
        MEMBER_SHARE * bytes_for_members(spec.max_size), spec.queries,
    )  # fmt: skip
    if isinstance(spec.X, BlockTable):
        training_set.use_blocks(spec.X)
    scorer = BlendScorer(spec.metric, spec.y, spec.weight, n_classes > 0, spec.clusters, spec.queries)
    _reserve(spec, training_set, clock)
    yield JobBegan(
        seconds=clock.spent, task=spec.task, metric=spec.metric.name, n_rows=training_set.n_rows, n_columns=schema.n_inputs,
        n_folds=training_set.n_folds, budget_seconds=clock.budget, budget_models=spec.models, notes=spec.notes,
    )  # fmt: skip
    done: list[_FinishedMember] = []
    given_up: list[Entry] = []
    waited, best, why = 0, math.inf, ""
    for number in count(1):
        if spec.models is not None and number > spec.models:
            break
        if spec.models is None and waited >= PATIENCE:
            why = f"the last {PATIENCE} members brought nothing"
            break
        recipe = _next(recipes, training_set, done)
        if recipe is None:
            why = "there is nothing more to try"
            break
        kept = checkpoint is not None and checkpoint.holds(recipe)
        usual = float(np.median([one.entry.seconds for one in done])) if done else 0.0
        least = LEAST_SHARE_OF_LARGE if training_set.n_folds == 1 and families[recipe.family].can_hurry else LEAST_SHARE_LEFT
        if number > 1 and not kept and clock.left_for_training <= least * usual:
            why = "the rest is too short for another member"
            break
        yield MemberBegan(seconds=clock.spent, name=recipe.name, number=number, of=spec.models)
        found = yield from _member(training_set, scorer, recipe, families[recipe.family], clock, checkpoint)
        yield MemberDone(seconds=clock.spent, entry=found.entry if isinstance(found, _FinishedMember) else found)
        if isinstance(found, Entry):
            given_up.append(found)
            continue
        done.append(found)
        event, loss = _progress(training_set, scorer, done, clock)
        yield event
        waited = 0 if loss < best - GAIN * abs(best) or len(done) == 1 else waited + 1
        best = min(best, loss)
    if not done:
        done.append((yield from _baseline(training_set, scorer, given_up, clock)))
    outcome = _outcome(spec, training_set, scorer, done, given_up, clock)
    outcome = _with_estimate(outcome, training_set, scorer, done, families, clock)
    if clock.budget is not None and clock.left > MUCH_LEFT * clock.budget and why and not clock.stopped:
        yield Message(seconds=clock.spent, words=f"Training ended {clock.left:.0f} seconds early: {why}.")
    yield FactsBegan(seconds=clock.spent)
    outcome = _with_facts(outcome, clock, spec.threads)
    yield JobEnded(seconds=clock.spent, outcome=outcome)


def _table_of(spec: JobSpec, clock: Clock) -> tuple[Schema, Table]:
    """What the columns are, and their rows."""
    if isinstance(spec.X, BlockTable):
        return spec.X.schema, table_of_blocks(spec.X, spec.threads)
    watch = partial(clock.require, "while it was found out what the columns are")
    return Schema.learn(spec.X, spec.categorical_features, weight=spec.weight, owner="fit", watch=watch)


def _reserve(spec: JobSpec, training_set: TrainingSet, clock: Clock) -> None:
    """Do what every model needs of every column, and keep time for what is done with every column in the end: to say how long a prediction
    takes, and to write the file. That takes as long, and a quarter more. And keep some for an estimate of what averaging gains.
    """
    if clock.budget is not None:
        began = clock.spent
        training_set.form  # noqa: B018  made when it is first asked for
        clock.reserved = 1.25 * (clock.spent - began)
        clock.estimating = ESTIMATE_SHARE * clock.budget if averaging.is_possible(training_set, spec.metric) else 0.0


def _baseline(
    training_set: TrainingSet, scorer: BlendScorer, given_up: list[Entry], clock: Clock
) -> Generator[Event, None, _FinishedMember]:
    """The member that needs no time, where there was none for any other; JobError where time was not the reason."""
    out_of_time = all(entry.note.startswith(OUT_OF_TIME) for entry in given_up)
    if clock.budget is None or clock.stopped or not out_of_time:
        raise JobError(_nothing(given_up, clock))
    yield Message(seconds=clock.spent, words=NO_TIME)
    found = yield from _member(training_set, scorer, BASELINE, BaselineFamily(), clock, None)
    if isinstance(found, Entry):
        raise JobError(_nothing([found], clock))
    yield MemberDone(seconds=clock.spent, entry=found.entry)
    return found


def _next(recipes: RecipeSource, training_set: TrainingSet, done: Sequence[_FinishedMember]) -> Recipe | None:
    """The next recipe that is for such a table."""
    entries = [one.entry for one in done]
    recipe = recipes.next(entries)
    while recipe is not None and not recipe.is_for(training_set.most_categories):
        recipe = recipes.next(entries)
    return recipe


def _member(
    training_set: TrainingSet, scorer: BlendScorer, recipe: Recipe, family: Family, clock: Clock, checkpoint: Checkpoint | None
) -> Generator[Event, None, "_FinishedMember | Entry"]:
    """Train a member, fold by fold; gives a finished one, or the entry of one that was given up."""
    began = time.perf_counter()
    fits: list[TrainedFold] = []
    folds = [ALL_ROWS, *range(training_set.n_folds)]
    try:
        if checkpoint is not None:
            fits, faults = checkpoint.fits(recipe, folds)
            for words in faults:
                yield Message(seconds=clock.spent, words=words)
            yield from (_fold_done(training_set, scorer, recipe, family, fit, clock, True) for fit in fits if fit.predicted is not None)
        if not is_whole(fits, training_set) or not _complete(family, training_set, fits):
            have = {fit.fold for fit in fits}
            for fit in family.fits(training_set, recipe, clock, fits):
                if fit.fold in have:
                    continue
                fits.append(fit)
                if checkpoint is not None and not fit.note.startswith(OUT_OF_TIME):
                    # What the clock has cut short is trained to its end by whoever has more time.
                    checkpoint.keep(recipe, fit, folds)
                if fit.predicted is not None:
                    yield _fold_done(training_set, scorer, recipe, family, fit, clock, False)
        if not is_whole(fits, training_set) or not _complete(family, training_set, fits):
            return _given_up(recipe, fits, f"{OUT_OF_TIME} after {len(fits)} of {training_set.n_folds} folds", began)
        fits.sort(key=lambda fit: fit.fold)
        member, scores = family.finish(training_set, recipe, fits)
        if not np.isfinite(scores[training_set.scored]).all():
            return _given_up(recipe, fits, "failed: it predicts NaN or infinity", began)
        rows = scored_rows(training_set)
        entry = _entry(recipe, fits, scorer.at(rows), scores[rows], training_set.n_folds)
        return _FinishedMember(recipe, member, scores, entry, replace(fits[-1], predicted=None, model=None))
    except (WoodwindError, ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
        # One that fails is no reason to lose the others.
        return _given_up(recipe, fits, f"failed: {type(error).__name__}: {error}".splitlines()[0], began)


def _fold_done(
    training_set: TrainingSet, scorer: BlendScorer, recipe: Recipe, family: Family, fit: TrainedFold, clock: Clock, resumed: bool
) -> FoldDone:
    """What is to be told of a fold; its score where what it says is a score already."""
    score = math.nan
    if family.gives_scores and fit.predicted is not None:
        score = scorer.at(training_set.held(fit.fold)).score(fit.predicted)
    return FoldDone(seconds=clock.spent, name=recipe.name, fold=fit.fold + 1, folds=training_set.n_folds, score=score, resumed=resumed)


def _complete(family: Family, training_set: TrainingSet, fits: Sequence[TrainedFold]) -> bool:
    """Whether nothing is missing that is not a fold."""
    return not family.needs_all_rows(training_set) or any(fit.fold == ALL_ROWS for fit in fits)


def _entry(recipe: Recipe, fits: Sequence[TrainedFold], scorer: BlendScorer, scores: Floats, n_folds: int) -> Entry:
    return Entry(
        name=recipe.name, family=recipe.family, score=scorer.score(scores), standard_error=scorer.standard_error(scores),
        loss=scorer.loss(scores), weight=0.0, seconds=sum(fit.seconds for fit in fits), row_microseconds=math.nan, folds=n_folds,
        note=next((fit.note for fit in fits if fit.note), ""),
    )  # fmt: skip


def _given_up(recipe: Recipe, fits: Sequence[TrainedFold], note: str, began: float) -> Entry:
    seconds = time.perf_counter() - began
    return Entry(recipe.name, recipe.family, math.nan, math.nan, math.inf, 0.0, seconds, math.nan, len(fits), note)


def _nothing(given_up: Sequence[Entry], clock: Clock) -> str:
    """What to say when no member was finished."""
    if not given_up or all(entry.note.startswith(OUT_OF_TIME) for entry in given_up):
        return f"No member was finished in {clock.spent:.0f} seconds."
    return f"No member could be trained. {given_up[0].name}: {given_up[0].note}."


def scored_rows(training_set: TrainingSet) -> NDArray[np.int64]:
    """The rows that the scores of members and of the ensemble are of: those held out, but for a first block that only finds weights."""
    rows = np.flatnonzero(training_set.scored)
    return rows[estimated(training_set.fold[rows], training_set.ordered)]


def _evidences(training_set: TrainingSet, scorer: BlendScorer, done: Sequence[_FinishedMember]) -> BlendEvidence:
    return _evidences_of(training_set, scorer.at(np.flatnonzero(training_set.scored)), done)


def _evidences_of(training_set: TrainingSet, scorer: BlendScorer, done: Sequence[_FinishedMember]) -> BlendEvidence:
    """The same by a scorer of the rows that were held out."""
    rows = np.flatnonzero(training_set.scored)
    scores = np.stack([one.scores[rows] for one in done], axis=1)
    return BlendEvidence(scores, scorer, training_set.fold[rows], training_set.ordered, training_set.n_classes, training_set.seed)


def _progress(training_set: TrainingSet, scorer: BlendScorer, done: Sequence[_FinishedMember], clock: Clock) -> tuple[Blended, float]:
    """How good the blend is so far, by the quickest of the ways to find weights."""
    seen = _evidences(training_set, scorer, done)
    rows = np.flatnonzero(seen.estimated)
    scores = (nested_scores(by_loss, seen) if len(done) > 1 else seen.scores[:, 0])[rows]
    scorer = seen.scorer.at(rows)
    event = Blended(seconds=clock.spent, score=scorer.score(scores), standard_error=scorer.standard_error(scores), n_members=len(done))
    return event, scorer.loss(scores)


def _outcome(
    spec: JobSpec, training_set: TrainingSet, scorer: BlendScorer, done: list[_FinishedMember], given_up: Sequence[Entry], clock: Clock
) -> Outcome:
    """Weigh the members, and put everything together."""
    seen = _evidences(training_set, scorer, done)
    # Half of what is kept for the end is for what comes after.
    end = math.inf if clock.budget is None else clock.budget - clock.kept / 2.0
    found, left_out = _blend(spec, seen, done, lambda: end - clock.spent)
    kept = np.flatnonzero(found.final.weights > 0.0)
    if not kept.size:  # nobody is asked; a model has a member all the same, for those who want to look at it
        kept = np.array([min(range(len(done)), key=lambda position: done[position].entry.loss)])
    members = tuple(done[position].member for position in kept)
    threshold = _threshold(spec, seen, found)
    model = AutoModel(
        task=spec.task, target=spec.target, classes=spec.classes, schema=training_set.schema, form=training_set.form,
        names=tuple(done[position].recipe.name for position in kept), members=members, weights=found.final.weights[kept],
        shift=found.final.shift, metric=spec.metric.name, facts=background_facts(members, training_set.view, spec.seed),
        beside=spec.beside, positive=spec.positive, threshold=threshold, intervals=_intervals(spec, seen, found),
        query=spec.split_columns.get("query", ""),
    )  # fmt: skip
    nested = np.full((training_set.n_rows, training_set.width), np.nan)
    nested[training_set.scored] = found.nested
    return Outcome(
        model=model,
        leaderboard=_leaderboard(spec, training_set, seen.scorer, done, given_up, found, clock),
        X=spec.X, y=spec.y, weight=spec.weight, groups=spec.groups, clusters=spec.clusters, queries=spec.queries,
        names=tuple(one.recipe.name for one in done),
        out_of_fold=np.stack([one.scores for one in done], axis=1),
        blend_out_of_fold=nested, scored=training_set.scored, fold=spec.fold,
        curves={one.recipe.name: one.like.curve for one in done if one.like.curve},
        suspicions=spec.suspicions,
        notes=(*spec.notes, _weighed(found), *left_out, *_first_block(training_set), *_decision(spec, threshold)),
        seconds=clock.spent, seed=spec.seed, ordered=spec.ordered, split_columns=spec.split_columns, rule=spec.rule,
    )  # fmt: skip


def _blend(spec: JobSpec, seen: BlendEvidence, done: Sequence[_FinishedMember], left: Callable[[], float]) -> tuple[Blend, tuple[str, ...]]:
    """The blend, of members that a model of the size asked for has room for; and what is to be said of those that are left out."""
    found, most = blend(seen, left), bytes_for_members(spec.max_size)
    sizes = [stored_bytes(one.member) for one in done]
    if sum(size for size, weight in zip(sizes, found.final.weights, strict=True) if weight > 0.0) <= most:
        return found, ()
    there = members_that_fit(sizes, [one.entry.loss for one in done], most)
    found = blend(replace(seen, scores=seen.scores[:, there]), left)
    weights = np.zeros(len(done))
    weights[there] = found.final.weights
    if sum(sizes[member] for member in there) > most:
        words = f"No member has room in a model of {spec.max_size:g} MB: it is larger. Give more room."
    else:
        others = [one.recipe.name for member, one in enumerate(done) if member not in there]
        words = f"A model of {spec.max_size:g} MB has no room for {', '.join(others)}."
    return found._replace(final=found.final._replace(weights=weights)), (words,)


def _threshold(spec: JobSpec, seen: BlendEvidence, found: Blend) -> float | None:
    """The probability of the positive class from which on it is predicted, by what the blend says out of fold."""
    if spec.rule is None:
        return None
    rows = np.flatnonzero(seen.estimated)
    scorer = seen.scorer.at(rows)
    return spec.rule.choose(scorer.y == spec.positive, probabilities(found.nested[rows])[:, spec.positive], scorer.weight)


def _intervals(spec: JobSpec, seen: BlendEvidence, found: Blend) -> PredictionIntervals | None:
    """What the model knows of its errors, from rows that neither members nor their weights have seen; nothing of rankings."""
    if spec.queries is not None:
        return None
    rows, held_out = np.flatnonzero(seen.estimated), held_out_by(spec.ordered, spec.groups is not None)
    scorer = seen.scorer.at(rows)
    return conformal_intervals(IntervalEvidence(scorer.y, found.nested[rows], scorer.weight, seen.fold[rows], scorer.classifies, held_out))


def _decision(spec: JobSpec, threshold: float | None) -> tuple[str, ...]:
    """From when on the positive class is predicted, for the user."""
    if spec.rule is None or threshold is None:
        return ()
    label = spec.classes[spec.positive]
    return (f"{label!r} is predicted from a probability of {threshold:.4g} on, a threshold by {spec.rule.words}.",)


def _first_block(training_set: TrainingSet) -> tuple[str, ...]:
    """What is to be said where some of the rows held out are not scored."""
    held, scored = int(np.count_nonzero(training_set.scored)), len(scored_rows(training_set))
    if scored == held:
        return ()
    why = f"Weights of members are found from earlier rows held out, and there are none before the first {held - scored:,}"
    return (f"{why}: all scores are of the {scored:,} rows held out after them.",)


def _weighed(found: Blend) -> str:
    """How members were weighed, for the user."""
    if found.way == GUESSING:
        return (
            "No member predicts rows that it was not trained on better than a guess that is the same for all rows: the model is this guess."
        )
    return f"Members are weighed by {found.way}."


def _with_facts(outcome: Outcome, clock: Clock, threads: int) -> Outcome:
    """The same, with the facts for the report in its model."""
    kept = 0.0 if clock.budget is None else SAVING_SHARE * clock.budget + SAVING_PART * clock.reserved
    seconds = UNHURRIED_FACTS if clock.budget is None else clock.budget - clock.spent - kept
    if isinstance(outcome.X, BlockTable):
        facts = collect(replace(outcome, X=outcome.X.without_rows), seconds, threads, without_rows=IN_BLOCKS)
    else:
        facts = collect(replace(outcome, X=as_arrow(outcome.X)), seconds, threads)
    return replace(outcome, model=replace(outcome.model, facts={**outcome.model.facts, **facts}), seconds=clock.spent)


def _with_estimate(
    outcome: Outcome,
    training_set: TrainingSet,
    scorer: BlendScorer,
    done: Sequence[_FinishedMember],
    families: dict[str, Family],
    clock: Clock,
) -> Outcome:
    """The same, with an estimate of what the means of the models of folds gain, or with words on why there is none."""
    model, finished = outcome.model, {one.recipe.name: one for one in done}
    members = [
        AveragedMember(families[one.recipe.family], one.recipe, one.like, one.scores)
        for one in map(finished.__getitem__, model.names)
        if one.recipe.family in families
    ]
    if not any(averaging.is_averaged(training_set, one.family) for one in members) or not model.weights.any():
        return outcome
    until = math.inf if clock.budget is None else clock.budget - FACTS_PART * clock.kept
    first = outcome.leaderboard[0]
    try:
        found = averaging.estimate(
            training_set, members, BlendWeights(model.weights, model.shift), scorer, (first.score, first.standard_error), clock, until
        )
    except (WoodwindError, ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError) as error:
        found = averaging.unmeasured(training_set, f"to measure by how much failed: {type(error).__name__}: {error}".splitlines()[0])
    stored = {"why": found} if isinstance(found, str) else asdict(found)
    model = replace(model, facts={**model.facts, averaging.ESTIMATE: stored})
    return replace(outcome, model=model, notes=(*outcome.notes, averaging.estimate_words(model.facts, model.metric)))


def _further(spec: JobSpec, scorer: BlendScorer, scores: Floats) -> dict[str, float] | None:
    """Further metrics for the leaderboard; labels are decided by a threshold that each finds for itself, without the row."""
    if not spec.also:
        return None
    predicted: NDArray[Any] = probabilities(scores) if scorer.classifies else scores[:, 0]
    labels = cross_fitted(spec.rule, scorer.y, predicted, scorer.weight, spec.positive, spec.seed) if scorer.classifies else predicted
    found = {}
    for one in spec.also:
        metric = replace(scorer, metric=one).measure
        prediction = labels if one.needs == "label" else predicted
        found[one.name] = math.nan if one.undefined(scorer.y) else metric.value(scorer.y, prediction, scorer.weight)
    return found


def _leaderboard(
    spec: JobSpec,
    training_set: TrainingSet,
    scorer: BlendScorer,
    done: Sequence[_FinishedMember],
    given_up: Sequence[Entry],
    found: Blend,
    clock: Clock,
) -> tuple[Entry, ...]:
    """The ensemble, then members by their loss, then those that were given up."""
    scored = estimated(training_set.fold[training_set.scored], training_set.ordered)
    scoring = scorer.at(np.flatnonzero(scored))
    members = []
    shares = _shares(training_set, scorer, done, found)
    for one, weight, taken in zip(done, shares, _prediction_times(training_set, done, clock), strict=True):
        also = _further(spec, scoring, one.scores[training_set.scored][scored])
        members.append(replace(one.entry, weight=float(weight), row_microseconds=taken, also=also))
    nested = found.nested[scored]
    note = found.way if scored.all() else f"{found.way}; all scores are of the last {np.count_nonzero(scored):,} rows held out"
    all_together = Entry(
        name=ENSEMBLE, family=ENSEMBLE, score=scoring.score(nested), standard_error=scoring.standard_error(nested),
        loss=scoring.loss(nested), weight=1.0, seconds=sum(entry.seconds for entry in members),
        row_microseconds=sum(entry.row_microseconds for entry in members if entry.weight > 0.0), folds=training_set.n_folds, note=note,
        also=_further(spec, scoring, nested),
    )  # fmt: skip
    return (all_together, *sorted(members, key=lambda entry: entry.loss), *given_up)


def _shares(training_set: TrainingSet, scorer: BlendScorer, done: Sequence[_FinishedMember], found: Blend) -> Floats:
    """The weights of members as people read them: of a ranking the shares in the spread of the scores, as each has a scale of its own."""
    weights = found.final.weights
    if scorer.queries is None or not weights.any():
        return weights
    shares = weights * spreads(_evidences_of(training_set, scorer, done))
    return np.asarray(shares / shares.sum())


def _prediction_times(training_set: TrainingSet, done: Sequence[_FinishedMember], clock: Clock) -> list[float]:
    """Microseconds that each member takes for a row among many; NaN where there was no time to find out."""
    rows = np.linspace(0, training_set.n_rows - 1, min(TIMED_ROWS, training_set.n_rows)).astype(np.int64)
    out: list[float] = []
    for one in done:
        if clock.budget is not None and clock.budget - clock.spent <= clock.kept / 4.0:
            break
        if not out:
            view, few = training_set.some_rows(rows), training_set.some_rows(rows[:2])
        one.member.scores(few, 1)  # loads what was compiled, and makes the forms in which trees are walked
        began = time.perf_counter()
        one.member.scores(view, 1)
        out.append((time.perf_counter() - began) / len(rows) * 1e6)
    return out + [math.nan] * (len(done) - len(out))
