"""The rows nearest to a row, and who is right among them.

nearest   nearest rows, by the panels that panels lays out
regions   hits and votes of members in a neighbourhood
"""
