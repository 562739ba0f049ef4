"""Tables on disk, in blocks of codes: for those that do not fit into memory.

Inside:

    batches          Sources of rows that can be read again and again, a batch at a time: files, datasets, frames, iterators of frames
    block_columns    Columns of a table in blocks, read a block at a time: whoever reads rows of a `Table` reads those of a `BlockTable`
    block_files      The files of a table in blocks: what is in them, how they are written, checked, read and removed
    block_table      BlockTable: a table in blocks, how it is made, and what is in it
    file_sizes       How many rows and columns files have, about, without reading them
    streamed_schema  Schema and cuts of a table that is read a batch at a time
    text_batches     Text files a batch at a time, with the types that reading them at once would find
"""
