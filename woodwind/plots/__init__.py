"""Pictures of ensembles, drawn with matplotlib, in the manner of scikit-learn's display classes."""

try:
    import matplotlib as mpl  # noqa: F401
except ImportError as error:
    raise ImportError("woodwind.plots draws with matplotlib, which is not installed: pip install 'woodwind[plots]'.") from error

from woodwind.plots.bias_variance import BiasVarianceDisplay
from woodwind.plots.boosting_regions import BoostingRegionsDisplay
from woodwind.plots.boosting_stages import BoostingStagesDisplay
from woodwind.plots.ensemble_size import EnsembleSizeDisplay
from woodwind.plots.kappa_error import KappaErrorDisplay
from woodwind.plots.margins import MarginDisplay
from woodwind.plots.member_correlation import MemberCorrelationDisplay
from woodwind.plots.strength_diversity import StrengthDiversityDisplay

__all__ = [
    "BiasVarianceDisplay",
    "BoostingRegionsDisplay",
    "BoostingStagesDisplay",
    "EnsembleSizeDisplay",
    "KappaErrorDisplay",
    "MarginDisplay",
    "MemberCorrelationDisplay",
    "StrengthDiversityDisplay",
]
