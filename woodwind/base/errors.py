"""The exceptions and warnings of Woodwind.

WoodwindError
├── ParameterError(ValueError)     a parameter has a value it may not have
│   └── ParameterNameError(TypeError)    there is no parameter of this name
├── JobError(RuntimeError)         a job ended without a model
├── ClusterError(RuntimeError)     a cluster cannot be reached, has no workers left, or one of them reports a fault
├── MemberError(ValueError)        a member of an ensemble could not be trained
│   └── MemberTypeError(TypeError)       because something is of the wrong type
├── ModelFileError(ValueError)     a model file is missing, damaged, of another kind, or newer than this library
├── NotStorableError(TypeError)    something that no model file can hold
├── NotExportableError(TypeError)  something that no file of another program can hold
└── DataError(ValueError)          something is wrong with what was given
    ├── TableError                 the table as a whole, or one of its columns
    │   └── ColumnTypeError(TypeError)   a column of a type that no feature can be made of
    ├── TargetError                the target
    └── WeightError                the sample weights

WoodwindWarning(UserWarning)
├── ExtraColumnWarning             columns that training never saw are ignored
├── UnseenCategoryWarning          categories that training never saw fall back to what the node knows
├── NamelessTableWarning           a table without names for a model with names
├── PrecisionWarning               integers too large for a double, or rows that vanish beside far larger ones
├── ManyCategoriesWarning          a column has more categories than trees tell apart
├── ConstantTargetWarning          there is nothing to learn
├── OutOfBagWarning                rows that no member can score, because all have seen them
├── UndefinedMeasureWarning        a measure is nought divided by nought, and was given a value
├── FoldWarning                    rows that no fold holds out, or classes that are absent from what a fold learns
├── QueryWarning                   rows are ranked without being told which of them are of one query
├── CensoringWarning               survival times come without being told which of them are of events
├── SeenRowsWarning                members seem to have learned the rows that they are scored by
├── ReadingWarning                 a file was read in a way that its owner should know of
├── FormulaWarning                 a text cell of a written file is a formula to a spreadsheet
├── ReportWarning                  a part of what a report shows could not be measured
└── InterruptWarning               a training was interrupted; what was finished is kept
"""

from woodwind.base.formatting import printable


class WoodwindError(Exception):
    """The root of all errors that Woodwind raises on purpose. As text it steers no terminal, whatever names are in it."""

    def __str__(self) -> str:
        return printable(super().__str__(), keep="\n\t")


class ParameterError(WoodwindError, ValueError):
    """A parameter has a value that it may not have."""


class ParameterNameError(ParameterError, TypeError):
    """There is no parameter, or no argument, of this name."""


class JobError(WoodwindError, RuntimeError):
    """A job ended without a model."""


class ClusterError(WoodwindError, RuntimeError):
    """A cluster cannot be reached, has no workers left, or one of them reports a fault."""


class MemberError(WoodwindError, ValueError):
    """A member of an ensemble could not be trained."""


class MemberTypeError(MemberError, TypeError):
    """A member of an ensemble could not be trained, because something is of the wrong type."""


class ModelFileError(WoodwindError, ValueError):
    """A model file is missing, damaged, no model file at all, or newer than this library."""


class NotStorableError(WoodwindError, TypeError):
    """Something that no model file can hold, because reading it back would mean running code that is not Woodwind's."""


class NotExportableError(WoodwindError, TypeError):
    """A model, or a part of one, that no file of another program can hold, or for which a library is not installed."""


class DataError(WoodwindError, ValueError):
    """Something is wrong with the data that was given."""


class TableError(DataError):
    """Something is wrong with the table, or with one of its columns."""


class ColumnTypeError(TableError, TypeError):
    """A column is of a type that no feature can be made of."""


class TargetError(DataError):
    """Something is wrong with the target."""


class WeightError(DataError):
    """Something is wrong with the sample weights."""


class WoodwindWarning(UserWarning):
    """The root of all warnings of Woodwind."""


class ExtraColumnWarning(WoodwindWarning):
    """Columns that training never saw are ignored."""


class UnseenCategoryWarning(WoodwindWarning):
    """Categories that training never saw fall back to what the node knows."""


class NamelessTableWarning(WoodwindWarning):
    """A table without column names is read by a model that was trained with names."""


class PrecisionWarning(WoodwindWarning):
    """Numbers lose digits that may matter: integers too large for a double, or rows that vanish beside far larger ones."""


class ConstantTargetWarning(WoodwindWarning):
    """Every row has the same target: there is nothing to learn."""


class OutOfBagWarning(WoodwindWarning):
    """Some rows have no out-of-bag prediction: every member has seen them."""


class UndefinedMeasureWarning(WoodwindWarning):
    """A measure is nought divided by nought: the value that it was given is said."""


class ManyCategoriesWarning(WoodwindWarning):
    """A column has more categories than trees tell apart: the rarer ones are taken as one."""


class FoldWarning(WoodwindWarning):
    """Some rows are held out by no fold, or some class is absent from the rows that a fold learns."""


class QueryWarning(WoodwindWarning):
    """Rows are ranked without being told which of them are of one query."""


class CensoringWarning(WoodwindWarning):
    """Survival times come without being told which of them are of events: all are taken to be."""


class SeenRowsWarning(WoodwindWarning):
    """Members that are taken as they are seem to have learned the rows that they are scored by."""


class ReadingWarning(WoodwindWarning):
    """A file was read in a way that its owner should know of: another encoding, no header, a guess."""


class FormulaWarning(WoodwindWarning):
    """A text cell of a written file would be run as a formula by a spreadsheet."""


class ReportWarning(WoodwindWarning):
    """A part of what a report shows could not be measured: it failed, and the report says why."""


class InterruptWarning(WoodwindWarning):
    """A training was interrupted: the model of the rounds that were finished is kept."""
