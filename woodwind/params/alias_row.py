"""A row of the table of aliases: what one idea is called here and in other libraries."""

from collections.abc import Collection
from dataclasses import dataclass

LIBRARIES = {"xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost", "sklearn": "scikit-learn"}


@dataclass(frozen=True)
class Row:
    """One idea and its names, separated by spaces. Of several names of ours, the first that an estimator has is meant."""

    ours: str = ""
    xgboost: str = ""
    lightgbm: str = ""
    catboost: str = ""
    sklearn: str = ""
    other: str = ""  # of AutoML libraries, of DESlib, of mlxtend, or just often written
    rule: str = "same"
    note: str = ""
    having: str = ""  # only for estimators that have this parameter as well

    def names(self, library: str) -> list[str]:
        """The names in a library."""
        return str(getattr(self, library)).split()

    def name_in(self, valid: Collection[str]) -> str:
        """Our name of it, for an estimator that has these parameters; "" if it has none of that meaning."""
        fits = not self.having or self.having in valid
        return next((name for name in self.ours.split() if name in valid), "") if fits else ""
