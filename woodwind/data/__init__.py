"""Any table becomes columns, columns become cuts, cuts become codes. The only package that knows pandas, polars and Arrow.

Inside:

    binning  Columns as small integers: sketches, cuts, ranks and codes
    blocks   Tables on disk, in blocks of codes: for those that do not fit into memory
    quality  Checks of data quality: what is suspicious about a table before anything is trained on it
    reading  Files as tables: text files, Parquet, Feather and Arrow in; predictions out
    tables   Any table as typed columns, and the schema by which later tables are read the same way
"""
