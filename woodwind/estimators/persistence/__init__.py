"""What a model file holds of estimators, ours and scikit-learn's, and whether its parts fit each other.

Inside:

    consistency          Do the parts of a fitted estimator that come from a file fit each other?
    persistence          Persisted state of our estimators: its parameters, and what training has set, each attribute with its type
    sklearn_persistence  What a model file keeps of estimators of scikit-learn
"""
