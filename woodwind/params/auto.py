"""The parameters of the main job."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from woodwind.params.groups import Categorical, Jobs, RandomState, Verbose
from woodwind.params.knobs import above, at_least, knobs, one_of, spelled

Metric = Annotated[
    str,
    "What members and their blend are scored by, such as 'log_loss', 'auc', 'accuracy', 'rmse' or 'mae'. 'auto': log loss for classes, "
    "root mean squared error for numbers, NDCG of the first ten for rankings.",
]
Positive = Annotated[
    Any,
    spelled("None or a label"),
    "Which of two classes is the positive one, that F1, average precision, the threshold and the report are about. None: the rarer one.",
]
Threshold = Annotated[
    Any,
    spelled("None, a number, 'f1', 'balanced' or costs"),
    "The probability from which on the positive class is predicted: a number "
    "such as 0.3, or chosen from rows out of fold by 'f1', by 'balanced' (accuracy), or by costs such as 'cost:fp=1,fn=5'. None: the "
    "likelier class.",
]
Also = Annotated[
    Sequence[str],
    spelled("names of metrics"),
    "More metrics for the leaderboard, such as 'auc' and 'f1'; members are weighed by `metric` alone.",
]
Seconds = Annotated[float | None, above(0), "Seconds for everything. None: as long as members help, or as `models` says."]
Models = Annotated[int | None, at_least(1), "How many members are tried, instead of a time: then the result is the same on every run."]
MaxSize = Annotated[
    float | None,
    above(0),
    "Megabytes that the model may have on disk: trees are then fewer and smaller, and members that have no room "
    "are left out. None: as many as it gets.",
]
Exclude = Annotated[
    Sequence[str], spelled("names of families"), "Families that are not tried: of 'boosting', 'forest', 'linear', 'neighbours' and 'net'."
]
Folder = Annotated[
    Any,
    spelled("None or a path"),
    "A folder for checkpoints: after every fold that was trained a job can go on from there. A new or an "
    "empty one, or one that Woodwind has made; one job at a time. It is not kept in a model file.",
]
Resume = Annotated[bool, "Go on from the checkpoints that are there. The data and all that decides the result must be the same."]
Listener = Annotated[Callable | None, "A function that is called with everything that happens, an event of woodwind.auto.events each."]


@knobs
class AutoParams:
    """What the main job is given."""

    time: Seconds = 60.0
    models: Models = None
    metric: Metric = "auto"
    also: Also = ()
    positive: Positive = None
    threshold: Threshold = None
    max_size: MaxSize = None
    exclude: Exclude = ()
    categorical_features: Categorical = None
    checkpoint: Folder = None
    resume: Resume = False
    listener: Listener = None
    n_jobs: Jobs = None
    random_state: RandomState = 0
    verbose: Verbose = 0


# ----------------------------------------------------------------------------------------------------
# The parameters of a job that say what the columns of its table are for.


@knobs
class TableParams:
    """Which table, and what its columns are for."""

    table: Annotated[
        Any,
        spelled("path, pattern, list of paths, or table with named columns"),
        "CSV, TSV, Parquet, Feather or Arrow, packed or not; or a frame of pandas, polars or Arrow.",
    ]
    target: Annotated[
        Any,
        spelled("str or list of str"),
        "The column to predict; of several, an ensemble is trained for each, in an equal part of the time.",
    ]
    task: Annotated[
        str,
        one_of("auto", "classification", "binary", "multiclass", "regression", "ranking"),
        "What is asked: which class, how much, or which first. 'auto' looks at the target and says what it decided; with `query` it is to "
        "rank.",
    ] = "auto"
    group: Annotated[
        str | None,
        spelled("str"),
        "A column whose rows of one value are never divided between learning and scoring. It is not trained on.",
    ] = None
    query: Annotated[
        str | None,
        spelled("str"),
        "A column that says which rows are ranked together, the documents of one query; the target is then their relevance, 0 for none. "
        "It is not trained on, and no query is divided. A `group` beside it holds queries out together, such as those of one user.",
    ] = None
    time_column: Annotated[
        str | None,
        spelled("str"),
        "A column of dates or numbers: members are scored by rows that are later than those they learn. Dates are trained on, too.",
    ] = None
    weight: Annotated[
        str | None,
        spelled("str"),
        "A column of numbers that says how much each row counts: weight two is a row given twice, weight zero one left out. It is not "
        "learned from.",
    ] = None
    ignore: Annotated[Sequence[str], spelled("list of str"), "Columns that are left out."] = ()
    schema: Annotated[
        Any, spelled("path or WrittenSchema"), "Types and roles of the columns, as written and edited; see the guide to reading tables."
    ] = None
    drop_missing_target: Annotated[bool, "Leave out rows without a target, instead of refusing them."] = False
