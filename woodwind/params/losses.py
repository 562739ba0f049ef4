"""What may be given as a loss, declared once for all estimators that minimise one."""

from typing import Annotated, Any

from woodwind.params.knobs import spelled

ClassLoss = Annotated[
    Any,
    spelled("'log_loss', 'exponential' or a loss object"),
    "What is minimised; other libraries' names for it, such as 'binary:logistic', are understood. 'exponential' is for two classes. "
    "An object of your own has the methods start, derivatives and value.",
]
NumberLoss = Annotated[
    Any,
    spelled("'squared_error', 'absolute_error', 'huber', 'quantile', 'poisson', 'gamma', 'tweedie' or a loss object"),
    "What is minimised; other libraries' names for it, such as 'l1', are understood. An object carries its own numbers, as in "
    "loss=woodwind.losses.Quantile(0.9); one of your own has the "
    "methods start, derivatives and value.",
]
