"""Pictures of ensembles, drawn with matplotlib, in the manner of scikit-learn's display classes."""

try:
    import matplotlib as mpl  # noqa: F401
except ImportError as error:
    raise ImportError("woodwind.plots draws with matplotlib, which is not installed: pip install 'woodwind[plots]'.") from error

from woodwind.plots.boosting_regions import BoostingRegionsDisplay
from woodwind.plots.boosting_stages import BoostingStagesDisplay
from woodwind.plots.ensemble_size import EnsembleSizeDisplay

__all__ = ["BoostingRegionsDisplay", "BoostingStagesDisplay", "EnsembleSizeDisplay"]
