"""Facts to figures to one page of HTML that needs nothing else.

Inside:

    chart            A chart: a drawing with two axes, a key above it, and marks that are placed by numbers
    download         Numbers of figures and tables as CSV, inside the page: a link that saves them, without a script and without a network
    figures          Charts of the report: lines, points, histograms, heat maps and strips of points, each one function of plain numbers
    page             The page: facts in, one HTML file out that needs nothing else
    pictures         Pictures of the quality of a model: from facts to figures with a title and a sentence each
    pictures_inside  Pictures of what is inside: the columns that matter, the members, the data
    pictures_intervals  Pictures of how sure a model is: how often its intervals, or its sets of labels, hold the truth
    rows             Marks in a row of a table: bars and points with whiskers on a scale that all rows share
    scales           Scales of charts: from numbers to positions, and the round numbers that are written beside them
    sections         Sections of the page that are tables: the summary, the leaderboard, the members, the columns, how to use it
    shap_page        Explanations to be read and looked at: text for a terminal, and one page of HTML with a picture of every row
    svg              Drawings as SVG inside a page: elements that escape themselves
    text             Text as a page may show it: foreign names made harmless to read, and numbers with as many digits as they deserve
    wording          Plain words about facts: how good a model is, what it looks at, and what to watch out for
"""

from woodwind.report.page import page

__all__ = ["page"]
