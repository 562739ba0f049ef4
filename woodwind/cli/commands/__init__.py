"""One file for each command.

Inside:

    evaluate     woodwind evaluate: how good a model is on rows whose target is known
    explain      woodwind explain: which columns made a prediction what it is
    export       woodwind export: a model for other programs, as ONNX or as C
    fit          woodwind fit: from a table and a column to predict, to a model file, a leaderboard and a report
    inspect      woodwind inspect: what is in a model file
    leaderboard  woodwind leaderboard: how good the ensemble is, and each of its members
    predict      woodwind predict: what a model predicts for the rows of a table
    report       woodwind report: the page about a model
    serve        woodwind serve: predictions of models over HTTP, until it is ended
    version      woodwind version: what to tell with a question or a fault
    warm         woodwind warm: compile the kernels now, so that nobody waits for it later
"""
