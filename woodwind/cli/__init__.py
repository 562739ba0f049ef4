"""The command line.

Inside:

    batches            Large tables a part at a time: how far it has come, and warnings once
    commands           One file for each command
    command            A command with examples: what its help shows below the options
    console            What is written by commands: results on standard output; messages, warnings and errors, one line each
    declared_options   Options whose words, default and allowed values were declared as a parameter of the library
    events_output      How a job is told to somebody who is not at a terminal: lines of text, an object for each event
    interrupts         Ctrl-C, or SIGTERM: once to finish with what there is, twice to leave at once
    leaderboard_table  The leaderboard as text
    live               A table on the terminal that grows and changes while a job runs
    main               The command `woodwind`: which commands there are, and how a call ends
    memory_budget      woodwind fit --memory: whether a table fits, and where it does not, the blocks that it is trained from instead
    memory_limits      Limits on the memory of a process (ulimit -v and -d): more fits into them, and what does not fit is told in a line
    model_files        Model files as commands open them
    options            Arguments and options that several commands have, and the kinds of values they take
    outputs            Where results may be written: never over something that is not theirs
    streams            Standard output and standard error as a command has them: closed, full or without a reader
    terminal           Tables of text, as wide as there is room for
"""

import time

# When the command began, by time.perf_counter: budgets of time count from here.
STARTED = time.perf_counter()
