"""Trained models for other programs: one graph of operations, which is written as ONNX or as C.

Inside:

    columns       From columns of a table to features and to a matrix of numbers, as operations
    c_writer      The graph as one file of C without dependencies
    graph         Operations, inputs and outputs
    onnx_writer   The graph as an ONNX model; nothing else imports onnx
    tree_nodes    Trees in the form of the operator TreeEnsemble of ONNX
"""
