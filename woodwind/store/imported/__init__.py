"""Models of other libraries, read from their files without the library: XGBoost, LightGBM and CatBoost.

A file is a stranger's: its size is looked at before it is read, every number of it before it is used, and the trees go through the same
validation as those of a model file. What is damaged, or says what cannot be done here, is refused with a ModelFileError.

Inside:

    catboost_json    A model of CatBoost from its JSON file
    contents         The bytes of a file, and values out of nested JSON, each checked for its type
    layout           Trees of any numbering as a Forest; thresholds of 32 bits as thresholds of 64
    lightgbm_text    A model of LightGBM from its text file
    objectives       The losses of other libraries: which of ours has the same link
    read_model       What is read from a file, whichever library wrote it
    ubjson           UBJSON, the binary form of JSON that XGBoost writes
    xgboost_json     A model of XGBoost from its JSON or UBJSON file
"""
