"""Rows that are not in one piece of memory: what a driver that grows trees may ask of them.

Inside:

    block_worker     What one thread does with the blocks of a pass: apply splits, then sum statistics
    cluster          Clusters: connecting to one that is there, and starting one on this machine
    cluster_shards   Blocks of a table that the workers of a cluster read and work on: what the driver does
    dask_transport   Calls over Dask; the only file that imports it
    disk_shards      Blocks of a table on disk: a reader thread for each folder asks for the next ones while the present ones are worked on
    memory_shards    A coded table in memory, divided into blocks of rows
    overlaid_shards  Shards some of whose columns are in memory: statistics of the target in the place of columns of many categories
    remote_rows      What a worker of a cluster does: answer one call after another
    requests         What is asked of rows that are in shards, and what they give back
    shard_grower     The driver: grows one tree after another over any shards, bit for bit as the engine in memory
    shards           The seam: where the rows are
    transport        How calls come to workers and answers back: what `ClusterShards` asks of an engine
    voting_growth    Trees whose features are voted for: histograms of a few features go over the wire, not of all
"""
