"""The command line: one file for each command.

Inside:

    batches            Large tables a part at a time: how far it has come, and warnings once
    command            A command with examples: what its help shows below the options
    console            What is written by commands: results on standard output; messages, warnings and errors, one line each
    declared_options   Options whose words, default and allowed values were declared as a parameter of the library
    evaluate           woodwind evaluate: how good a model is on rows whose target is known
    events_output      How a job is told to somebody who is not at a terminal: lines of text, an object for each event
    explain            woodwind explain: which columns made a prediction what it is
    fit                woodwind fit: from a table and a column to predict, to a model file, a leaderboard and a report
    inspect            woodwind inspect: what is in a model file
    interrupts         Ctrl-C, or SIGTERM: once to finish with what there is, twice to leave at once
    leaderboard        woodwind leaderboard: how good the ensemble is, and each of its members
    leaderboard_table  The leaderboard as text
    live               A table on the terminal that grows and changes while a job runs
    main               The command `woodwind`: which commands there are, and how a call ends
    memory_limits      Limits on the memory of a process (ulimit -v and -d): more fits into them, and what does not fit is told in a line
    model_files        Model files as commands open them
    options            Arguments and options that several commands have, and the kinds of values they take
    outputs            Where results may be written: never over something that is not theirs
    predict            woodwind predict: what a model predicts for the rows of a table
    report             woodwind report: the page about a model
    streams            Standard output and standard error as a command has them: closed, full or without a reader
    terminal           Tables of text, as wide as there is room for
    version            woodwind version: what to tell with a question or a fault
    warm               woodwind warm: compile the kernels now, so that nobody waits for it later
"""

import time

# When the command began, by time.perf_counter: budgets of time count from here.
STARTED = time.perf_counter()
