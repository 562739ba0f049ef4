# The public names of Woodwind and where they are defined, listed once. Type checkers read this file; `__init__.py` reads it to import what
# is used (SPEC 1 of Scientific Python), and the table of the model file, of which every estimator here is a kind.
# isort: skip_file

from woodwind import distributions as distributions, diversity as diversity, losses as losses, plots as plots
from woodwind.base.errors import (
    ClusterError as ClusterError,
    DataError as DataError,
    ModelFileError as ModelFileError,
    ParameterError as ParameterError,
    WoodwindError as WoodwindError,
    WoodwindWarning as WoodwindWarning,
)
from woodwind.data.blocks.block_table import BlockTable as BlockTable
from woodwind.estimators.adaptive.adaboost import AdaBoostClassifier as AdaBoostClassifier
from woodwind.estimators.adaptive.adaboost_regressor import AdaBoostRegressor as AdaBoostRegressor
from woodwind.estimators.adaptive.additive import AdditiveClassifier as AdditiveClassifier, AdditiveRegressor as AdditiveRegressor
from woodwind.estimators.adaptive.additive import (
    GentleAdaBoostClassifier as GentleAdaBoostClassifier,
    LogitBoostClassifier as LogitBoostClassifier,
)
from woodwind.estimators.auto.auto_ensemble import (
    AutoEnsembleClassifier as AutoEnsembleClassifier,
    AutoEnsembleRegressor as AutoEnsembleRegressor,
)
from woodwind.estimators.auto.auto_ranker import AutoEnsembleRanker as AutoEnsembleRanker
from woodwind.estimators.auto.fit import fit as fit
from woodwind.estimators.auto.load import load as load
from woodwind.estimators.averaging.linear_averaging import BayesianLinearAveragingRegressor as BayesianLinearAveragingRegressor
from woodwind.estimators.averaging.model_averaging import (
    BayesianModelAveragingClassifier as BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor as BayesianModelAveragingRegressor,
)
from woodwind.estimators.averaging.model_combination import (
    BayesianModelCombinationClassifier as BayesianModelCombinationClassifier,
    BayesianModelCombinationRegressor as BayesianModelCombinationRegressor,
)
from woodwind.estimators.bagging.bagging import BaggingClassifier as BaggingClassifier, BaggingRegressor as BaggingRegressor
from woodwind.estimators.boosting.distribution_boosting import DistributionBoostingRegressor as DistributionBoostingRegressor
from woodwind.estimators.boosting.distribution_boosting_classifier import (
    DistributionBoostingClassifier as DistributionBoostingClassifier,
)
from woodwind.estimators.boosting.gradient_boosting import (
    GradientBoostingClassifier as GradientBoostingClassifier,
    GradientBoostingRegressor as GradientBoostingRegressor,
)
from woodwind.estimators.boosting.gradient_boosting_ranker import GradientBoostingRanker as GradientBoostingRanker
from woodwind.estimators.boosting.gradient_boosting_survival import GradientBoostingSurvivalAnalysis as GradientBoostingSurvivalAnalysis
from woodwind.estimators.boosting.translate import translate as translate
from woodwind.estimators.diagnostics.diversity_tools import bias_variance as bias_variance, measure_diversity as measure_diversity
from woodwind.estimators.conformal.conformal_classifier import ConformalClassifier as ConformalClassifier
from woodwind.estimators.conformal.conformal_regressor import ConformalRegressor as ConformalRegressor
from woodwind.estimators.imported.libraries import (
    from_catboost as from_catboost,
    from_lightgbm as from_lightgbm,
    from_xgboost as from_xgboost,
)
from woodwind.estimators.imported.sklearn_trees import from_sklearn as from_sklearn
from woodwind.estimators.dynamic.dynamic_selection import (
    DynamicSelectionClassifier as DynamicSelectionClassifier,
    DynamicSelectionRegressor as DynamicSelectionRegressor,
)
from woodwind.estimators.forests.decision_tree import (
    DecisionTreeClassifier as DecisionTreeClassifier,
    DecisionTreeRegressor as DecisionTreeRegressor,
)
from woodwind.estimators.forests.forests import (
    ExtraTreesClassifier as ExtraTreesClassifier,
    ExtraTreesRegressor as ExtraTreesRegressor,
    RandomForestClassifier as RandomForestClassifier,
    RandomForestRegressor as RandomForestRegressor,
)
from woodwind.estimators.forests.random_structure import (
    RandomStructureForestClassifier as RandomStructureForestClassifier,
    RandomStructureForestRegressor as RandomStructureForestRegressor,
)
from woodwind.estimators.mixture.mixture_of_experts import (
    MixtureOfExpertsClassifier as MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor as MixtureOfExpertsRegressor,
)
from woodwind.estimators.pools.out_of_fold import out_of_fold_predictions as out_of_fold_predictions
from woodwind.estimators.pools.voting import VotingClassifier as VotingClassifier, VotingRegressor as VotingRegressor
from woodwind.estimators.pools.voting_ranker import VotingRanker as VotingRanker
from woodwind.estimators.preprocessing.target_encoder import OrderedTargetEncoder as OrderedTargetEncoder
from woodwind.estimators.selection.ensemble_selection import (
    EnsembleSelection as EnsembleSelection,
    EnsembleSelectionClassifier as EnsembleSelectionClassifier,
    EnsembleSelectionRegressor as EnsembleSelectionRegressor,
)
from woodwind.estimators.stacking.blenders import LogisticBlender as LogisticBlender, NonNegativeBlender as NonNegativeBlender
from woodwind.estimators.stacking.leak_probe import leak_probe as leak_probe
from woodwind.estimators.stacking.stacking import StackingClassifier as StackingClassifier, StackingRegressor as StackingRegressor
from woodwind.shards.cluster import Cluster as Cluster, connect as connect, local_cluster as local_cluster

PUBLIC_HOMES: dict[str, str]
__version__: str
