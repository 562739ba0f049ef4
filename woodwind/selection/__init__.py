"""Choosing members: which to keep for good, and which to ask for a given case. Functions of prediction matrices.

Inside:

    choice                    Who is asked, by how good members are near the query: from scores (q, m) to a mask (q
    choice_competent          Choice of members that are competent and diverse near the query
    choice_diverse            Choice of members that are good near the query and, of those, err on different rows
    clusters                  Clusters of members that predict the same, of which the best of each is kept
    combination               What the chosen members say together
    competence                How good a member is near a query, by what it did on the rows of the region
    competence_confidence     Selection by confidence: ask those that are surest of this query
    competence_meta           META-DES: learn from the selection rows how to tell whether a member will be right
    competence_probabilistic  Competence from the probabilities that members give: what a member was worth at each selection row
    competence_regression     How good members that are regressors are near a query, and who of them is asked
    exhaustive                The best of all choices, for small pools: every subset of the members, each with the same weight
    explanation               Who was asked for each query, how much they counted, and why: facts that can be read, stored and printed
    facts                     What dynamic selection knows: of the rows that members are scored by, and of the queries that they are asked
    genetic                   A genetic search for a choice of members: populations of choices
    greedy                    Greedy forward selection: again and again the member is added that makes the mean of all chosen so far best
    member_selection          What a search has found: members and their weights, in which order they were taken, and the score on the way
    methods                   The methods of dynamic selection: a table of compositions
    neighbours                Neighbours: which selection rows are nearest to a query
    objectives                What a choice of members is scored by: the score of their weighted mean
    ordering                  Orders of members of which the first are kept: each member is where it helps most the members before it
    regions                   Regions: which selection rows tell how good members are near a query
"""
