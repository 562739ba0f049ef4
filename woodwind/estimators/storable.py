"""What every estimator can do, fitted or not: be saved, and be given parameters."""

import inspect
import os
from typing import Any, Self

from woodwind.params.knobs import fit_names
from woodwind.params.unknown import unknown_parameters
from woodwind.store.model_file import save_model


class Storable:
    """An estimator that can be written to a model file."""

    def save(self, path: str | os.PathLike[str], *, allow_pickle: bool = False) -> None:
        """Write the model to one file, which `woodwind.load` reads; an old file of that name stays until the new one is whole.

        The file holds arrays and plain values, no code, and is checked from the first byte to the last when it is loaded.

        Parameters
        ----------
        path : path
            Where to; the usual ending is .ww.
        allow_pickle : bool, default=False
            Write a pickle instead, for a model with members or functions of other libraries that no model file can hold. Its name must end
            in .wwpickle, and loading it can run any code: `woodwind.load` takes it only with `allow_pickle=True`.
        """
        save_model(path, self, allow_pickle)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of members and other parts as part__parameter. A name that there is not is answered by ours.

        Parameters
        ----------
        **params : anything
            Values by name.

        Returns
        -------
        self
        """
        own: Any = super()
        valid = list(inspect.signature(type(self)).parameters)
        if any(name not in valid for name in params):
            there = self.get_params(deep=True)  # type: ignore[attr-defined]
            unknown = {name: value for name, value in params.items() if name.partition("__")[0] not in there}
            if unknown:
                raise unknown_parameters(type(self).__name__, unknown, valid, fit_names(type(self)))
        own.set_params(**params)
        return self
