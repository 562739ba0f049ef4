"""save: what every estimator can do, fitted or not."""

import os

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
