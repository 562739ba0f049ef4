"""Steps of pipelines that make columns for other models.

Inside:

    target_encoder  Categories as means of the target, as a step of a pipeline
"""
