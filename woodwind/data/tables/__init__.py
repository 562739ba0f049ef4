"""Any table as typed columns, and the schema by which later tables are read the same way.

Inside:

    arrays             NumPy arrays, nested lists and SciPy's sparse matrices as raw columns
    categories         Categories of a category column and their codes
    cells              Cells: what a table holds, in the words of its reader: numbers, categories, dates, and what is missing
    convert            Raw columns as what a field wants: numbers, categories, or points in time
    dates              Dates, times of day and durations as numbers
    fields             Fields: what training learned about each input column, and the features that are made of it
    frames             Frames of pandas, polars and Arrow as raw columns, and the one door for every input
    json_values        Values of JSON as columns of a schema
    matrix_form        Any table as a matrix of numbers without gaps, for whoever measures distances or adds up columns
    queries            Queries: which rows are the documents of one query, for whoever ranks them
    raw                What any input is first turned into: columns as they came, not yet features
    replace_column     Tables of any kind with a column set to the value of one of their rows
    roles              Roles: a table with everything, divided into what is trained on, what is predicted, and what rows belong together
    schema             Schema: the columns that a model was trained on, and how any later table is read as those
    survival_times     Survival times as a target: what is known of the time of each row's event, as bounds
    table              A table as columns of numbers and of category codes, read in blocks of rows and never copied as a whole
    table_errors       What is said when a table cannot be used: what is wrong and where, why it matters, and what to do about it
    target_column      What is asked of a target column: which of two classes, which of several, or how much
    target_statistics  Target statistics: means of the target by category, of earlier rows and of all
    text_dates         Dates and times of day that are written as text
    text_types         What a column of text really holds: numbers, truth values, dates, times of day, or text
"""
