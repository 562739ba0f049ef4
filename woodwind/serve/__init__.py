"""Models behind HTTP: `woodwind serve`. Starlette and uvicorn are imported here and nowhere else.

Inside:

    application        The application: routes, limits, and how every request is answered
    batching           Batching of requests: rows that wait at the same time are predicted together
    bodies             Bodies of requests: JSON without surprises, and errors that are answered by a sentence
    inference_protocol The Open Inference Protocol, version 2: tensors in, tensors out
    plain_json         The plain endpoint: rows by the names of their columns, predictions as objects
    prometheus         Figures about the server, in the text format of Prometheus
    served_models      Models as the server holds them: loaded, checked, asked and loaded anew
    server             The server: a socket, signals, and an end that loses no request
    web_page           The page at the root: a form made from the columns of a model, and the reasons of a prediction
"""

try:
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"woodwind serve needs starlette and uvicorn, and {error.name} is not installed: pip install 'woodwind[serve]'."
    ) from error
