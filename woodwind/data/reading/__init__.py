"""Files as tables: text files, Parquet, Feather and Arrow in; predictions out.

Inside:

    csv_file        Text files as columns: CSV and its relatives, in any usual encoding
    csv_records     Text files as records of cells: which separator, is there a header, and where is the line that does not fit
    files           Files as one table: CSV and its relatives, Parquet, Feather and Arrow, compressed or not, told apart by what is in them
    sources         Where a table is read from: paths, patterns, lists and standard input, compressed or not
    without_pandas  Keeping pandas out of processes that have no use for it
    writing         Predictions as a file: CSV, TSV, Parquet or Feather by its name, packed by gzip or not, whole or not at all
    written_schema  A schema to read and to edit: which columns a table has, what each is, and what it is for
"""
