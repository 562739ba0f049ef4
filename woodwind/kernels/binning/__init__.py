"""Columns of numbers to bins.

encode            cuts, and numbers to codes
counting_sketch   how often each number occurs, without sorting
"""
