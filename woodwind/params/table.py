"""The parameters of a job that say what the columns of its table are for."""

from collections.abc import Sequence
from typing import Annotated, Any

from woodwind.params.knobs import knobs, one_of, spelled


@knobs
class TableParams:
    """Which table, and what its columns are for."""

    table: Annotated[
        Any,
        spelled("path, pattern, list of paths, or table with named columns"),
        "CSV, TSV, Parquet, Feather or Arrow, packed or not; or a frame of pandas, polars or Arrow.",
    ]
    target: Annotated[str, spelled("str"), "The column to predict."]
    task: Annotated[
        str,
        one_of("auto", "classification", "binary", "multiclass", "regression"),
        "What is asked: which class, or how much. 'auto' looks at the target and says what it decided.",
    ] = "auto"
    group: Annotated[
        str | None,
        spelled("str"),
        "A column whose rows of one value are never divided between learning and judging. It is not learnt from.",
    ] = None
    time_column: Annotated[
        str | None,
        spelled("str"),
        "A column of dates or numbers: members are judged by rows that are later than those they learn. Dates are learnt from, too.",
    ] = None
    weight: Annotated[
        str | None,
        spelled("str"),
        "A column of numbers that says how much each row counts: weight two is a row given twice, weight zero one left out. It is not "
        "learnt from.",
    ] = None
    ignore: Annotated[Sequence[str], spelled("list of str"), "Columns that are left out."] = ()
    schema: Annotated[
        Any, spelled("path or WrittenSchema"), "Types and roles of the columns, as written and edited; see the guide to reading tables."
    ] = None
    drop_missing_target: Annotated[bool, "Leave out rows without a target, instead of refusing them."] = False
