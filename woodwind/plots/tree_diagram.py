"""One tree of a model as a diagram: what each split asks, where rows go, and what leaves say."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.plots.labels import shortened
from woodwind.plots.style import TINY, PlotStyle, axes_for, lightness
from woodwind.tree.forest import LEFT, RIGHT, tree_of
from woodwind.tree.text import Detail, TreeDrawing

# Inches of a leaf and of a level, and the largest figure that is made of them.
CELL, LARGEST = (1.35, 1.15), (30.0, 20.0)
LONGEST_LINE = 26


class TreeDisplay:
    """Boxes and lines: a row goes to the left where the answer to the question of a box is yes, and to the right where it is no.

    Make it with `from_estimator`.

    Parameters
    ----------
    boxes : list of dicts
        For each node `x` and `depth`, `text`, `shade` from -1 to 1, `parent` (its number among the boxes, None for the root), `answer`,
        what is written on the line from its parent, and `leaf`.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the picture.
    texts_ : list
        The boxes.
    """

    def __init__(self, boxes: list[dict[str, Any]]) -> None:
        self.boxes = boxes

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        tree: int = 0,
        *,
        max_depth: int | None = 3,
        decimals: int = 3,
        max_categories: int = 3,
        ax: Axes | None = None,
    ) -> "TreeDisplay":
        """Draw one tree of a trained model.

        Parameters
        ----------
        estimator : fitted model of trees
            A single tree, a forest, or gradient boosting.
        tree : int, default=0
            Number of the tree; -1 is the last.
        max_depth : int or None, default=3
            Splits below this depth are left out, and a box with dots stands for them; None draws the whole tree.
        decimals : int, default=3
            Digits after the point.
        max_categories : int, default=3
            Categories that a split names at most.
        ax : matplotlib axes, default=None
            Where to draw; None for a new figure, whose size is that of the tree.
        """
        if not hasattr(estimator, "schema_") or not hasattr(estimator, "forest_"):
            raise ParameterError(f"{cls.__name__}: {type(estimator).__name__} is no trained model of trees of Woodwind.")
        forest = estimator.forest_
        if not -forest.n_trees <= tree < forest.n_trees:
            raise ParameterError(f"{cls.__name__}: tree must be one of the {forest.n_trees} trees, counted from 0, but it is {tree}.")
        one = tree_of(forest, tree % forest.n_trees)
        schema, outputs = estimator.schema_, estimator._output_names()
        detail = Detail(decimals, max_depth, max_categories)
        drawing = TreeDrawing(one, 0, list(schema.feature_names), schema.categories, outputs, schema.moments, detail)
        return cls(boxes_of(one, drawing, max_depth)).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> "TreeDisplay":
        """Draw the boxes and the lines between them."""
        x = np.array([box["x"] for box in self.boxes], np.float64)
        depth = np.array([box["depth"] for box in self.boxes])
        width, levels = float(x.max()) + 1.0, int(depth.max()) + 1
        size = (min(max(width * CELL[0], 4.0), LARGEST[0]), min(max(levels * CELL[1], 2.2), LARGEST[1]))
        self.ax_ = axes_for(ax, size)
        self.figure_, look = self.ax_.figure, PlotStyle.of(self.ax_)
        self.ax_.set(xlim=(-0.6, width - 0.4), ylim=(levels - 0.55, -0.45))
        self.ax_.set_axis_off()
        self.texts_ = []
        for number, box in enumerate(self.boxes):
            if box["parent"] is not None:
                above = self.boxes[box["parent"]]
                self.ax_.plot([above["x"], box["x"]], [above["depth"], box["depth"]], color=look.faint, linewidth=1.0, zorder=1)
                middle = (0.5 * (above["x"] + box["x"]), 0.5 * (above["depth"] + box["depth"]))
                back = {"facecolor": look.paper, "edgecolor": "none", "pad": 1.0}
                self.ax_.text(*middle, box["answer"], fontsize=TINY, color=look.faint, ha="center", va="center", bbox=back, zorder=2)
            colour = look.two_sided()(0.5 + 0.5 * box["shade"]) if box["leaf"] else look.paper
            ink = look.ink if not box["leaf"] or abs(lightness(colour[:3]) - lightness(look.ink)) > 0.35 else look.paper
            shape = "round,pad=0.45" if box["leaf"] else "square,pad=0.45"
            frame = {"boxstyle": shape, "facecolor": colour, "edgecolor": look.faint, "linewidth": 0.9}
            text = self.ax_.text(
                box["x"], box["depth"], box["text"], ha="center", va="center", fontsize=TINY, color=ink, bbox=frame, zorder=3
            )
            text.set_gid(f"node {number}")
            self.texts_.append(text)
        return self


def boxes_of(tree: Any, drawing: TreeDrawing, max_depth: int | None) -> list[dict[str, Any]]:
    """The nodes that are drawn; leaves stand side by side, and splits in the middle over their children."""
    shade = shades(tree)
    boxes: list[dict[str, Any]] = []
    waiting: list[tuple[int, int | None, str]] = [(0, None, "")]
    while waiting:
        node, parent, answer = waiting.pop()
        deep = int(tree.depth[node])
        is_leaf = tree.feature[node] < 0
        cut = not is_leaf and max_depth is not None and deep >= max_depth
        value = drawing.value(node).removeprefix("value: ")
        told = value.rpartition(" (cover ")[0]
        told = "\n".join(folded(part) for part in told.split(", "))
        lines = [told, f"cover {tree.cover[node]:,.6g}"]
        box = {"depth": deep, "parent": parent, "answer": answer, "leaf": is_leaf or cut, "shade": float(shade[node])}
        boxes.append(box)
        if is_leaf or cut:
            box["text"] = "\n".join(["…", *lines] if cut else lines)
            continue
        left, _, _ = drawing.questions(node)
        question, goes_left = left.removesuffix(" or missing"), tree.missing[node] == LEFT
        box["text"] = "\n".join([folded(question), lines[1]])
        sides = ("yes or missing" if goes_left else "yes", "no or missing" if tree.missing[node] == RIGHT else "no")
        child, own = int(tree.child[node]), len(boxes) - 1
        waiting += [(child + 1, own, sides[1]), (child, own, sides[0])]
    place(boxes)
    return boxes


def place(boxes: list[dict[str, Any]]) -> None:
    """Positions from left to right."""
    children: dict[int, list[int]] = {}
    for number, box in enumerate(boxes):
        if box["parent"] is not None:
            children.setdefault(box["parent"], []).append(number)
    at = 0
    for number, box in enumerate(boxes):  # from the left, a parent before its children
        if number not in children:
            box["x"], at = float(at), at + 1
    for number in range(len(boxes) - 1, -1, -1):
        if number in children:
            boxes[number]["x"] = float(np.mean([boxes[one]["x"] for one in children[number]]))


def shades(tree: Any) -> NDArray[np.float64]:
    """How far each node says more or less than the mean: from -1 to 1; of several values, that of the last."""
    value = tree.value[:, -1]
    middle = value[0]
    largest = np.abs(value - middle).max(initial=0.0)
    return (value - middle) / largest * 0.75 if largest > 0.0 else np.zeros(len(value))


def folded(text: str) -> str:
    """A text in lines that are not too long."""
    lines, line = [], ""
    for word in shortened(text, 4 * LONGEST_LINE).split(" "):
        if line and len(line) + len(word) >= LONGEST_LINE:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def plot_tree(estimator: Any, tree: int = 0, **options: Any) -> TreeDisplay:
    """Draw one tree of a trained model: `TreeDisplay.from_estimator` with the same arguments."""
    return TreeDisplay.from_estimator(estimator, tree, **options)
