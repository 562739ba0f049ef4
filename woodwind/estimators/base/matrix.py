"""Any table as dense numbers, as a step of a pipeline: for models that know nothing of text, dates and missing values."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.estimators.base.model import StorableMixin


class TableToMatrix(StorableMixin, TransformerMixin, BaseEstimator):
    """Numbers are standardised, missing ones filled with the mean and marked, categories become indicators, dates their parts."""

    _state: ClassVar[dict[str, Any]] = {"form_": MatrixForm}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Look at the columns of a table.

        Parameters
        ----------
        X : table
            Of any kind.
        y : ignored
            Here because scikit-learn asks for it.
        """
        self.form_ = MatrixForm.learn(X, owner=type(self).__name__)
        header = self.form_.schema.header
        self.n_features_in_ = header.n_columns
        if header.names is not None:
            self.feature_names_in_ = np.array(header.names, object)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The table as numbers, (n_rows, n_numbers)."""
        check_is_fitted(self)
        return self.form_.of(X, owner=type(self).__name__)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """What the numbers are."""
        check_is_fitted(self)
        return np.array(self.form_.names, object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name in ("allow_nan", "sparse", "categorical", "string"):
            setattr(tags.input_tags, name, True)
        return tags
