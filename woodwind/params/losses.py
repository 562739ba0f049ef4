"""What may be given as a loss, declared once for all estimators that minimise one."""

from typing import Annotated, Any

from woodwind.params.knobs import spelled

OWN = (
    "An object of your own has three methods: start(y, weight), the score to begin with; derivatives(y, raw, weight), a "
    "tuple of gradient and hessian of every row, times its weight; and value(y, raw, weight), the mean loss by weight. y and raw are "
    "arrays with a number for each row, raw (n, width) for a loss with several scores per row, and weight is such an array or None. "
    "woodwind.losses.check_loss tries it out."
)

ClassLoss = Annotated[
    Any,
    spelled("'log_loss', 'exponential' or a loss object"),
    "What is minimised; other libraries' names for it, such as 'binary:logistic', are understood. 'exponential' is for two classes. " + OWN,
]
NumberLoss = Annotated[
    Any,
    spelled("'squared_error', 'absolute_error', 'huber', 'quantile', 'poisson', 'gamma', 'tweedie' or a loss object"),
    "What is minimised; other libraries' names for it, such as 'l1', are understood. An object carries its own numbers, as in "
    "loss=woodwind.losses.Quantile(0.9). " + OWN,
]
