"""Trained models for other programs: one graph of operations, which is written as ONNX or as C.

Inside:

    c_parts       The parts of a file of C that are the same for all models
    c_writer      The graph as one file of C without dependencies
    columns       From columns of a table to features and to a matrix of numbers, as operations
    graph         Operations, inputs and outputs
    onnx_writer   The graph as an ONNX model; nothing else imports onnx
    tree_nodes    Trees in the form of the operator TreeEnsemble of ONNX
"""
