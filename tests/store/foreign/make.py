"""Makes the small files of other libraries in this folder, and what those libraries predict: python tests/store/foreign/make.py.

Made with XGBoost 3.2, LightGBM 4.7 and CatBoost 1.2.10.
"""

import json
from pathlib import Path

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb

FOLDER = Path(__file__).parent


def table(n):
    draw = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "size": draw.normal(size=n).round(3),
            "age": draw.integers(0, 30, n).astype(float),
            "colour": draw.choice(["red", "green", "blue"], n),
        }
    )
    X.loc[draw.random(n) < 0.2, "age"] = np.nan
    y = X["size"] + 0.1 * X["age"].fillna(12.0) + 2.0 * (X["colour"] == "green") + 0.1 * draw.normal(size=n)
    return X, np.digitize(y, [1.0, 2.8])


def main():
    X, y = table(150)
    frame = X.assign(colour=pd.Categorical(X["colour"]))
    asked = 12
    answers = {"rows": json.loads(X[:asked].to_json(orient="records"))}
    model = xgb.XGBClassifier(n_estimators=2, max_depth=2, enable_categorical=True, max_cat_to_onehot=1, n_jobs=1).fit(frame, y)
    model.save_model(FOLDER / "xgboost.json")
    model.save_model(FOLDER / "xgboost.ubj")
    answers["xgboost"] = model.predict_proba(frame[:asked]).tolist()
    model = lgb.LGBMClassifier(n_estimators=2, num_leaves=4, min_child_samples=5, min_data_per_group=5, verbose=-1, n_jobs=1).fit(frame, y)
    text = model.booster_.model_to_string()
    (FOLDER / "lightgbm.txt").write_text(text.partition("\nparameters:")[0] + "\n\n" + text[text.index("pandas_categorical:") :])
    answers["lightgbm"] = model.predict_proba(frame[:asked]).tolist()
    model = cb.CatBoostClassifier(
        iterations=2, depth=2, cat_features=["colour"], one_hot_max_size=255, verbose=0, allow_writing_files=False, thread_count=1
    ).fit(X, np.array(["low", "high", "medium"])[y])
    model.save_model(FOLDER / "catboost.json", format="json")
    whole = json.loads((FOLDER / "catboost.json").read_text())
    info = whole["model_info"]
    params = info["params"] if isinstance(info["params"], dict) else json.loads(info["params"])
    whole["model_info"] = {"params": {"loss_function": params["loss_function"]}, "class_params": info["class_params"]}
    (FOLDER / "catboost.json").write_text(json.dumps(whole))
    answers["catboost"] = model.predict_proba(X[:asked]).tolist()
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=1))


if __name__ == "__main__":
    main()
