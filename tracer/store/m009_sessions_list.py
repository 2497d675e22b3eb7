"""The statement of step m009: sessions by the model that they asked.

Frozen once it is released, like every step.
"""

STATEMENTS = (
    # The list filters by model, and offers the models: without reading every request.
    "CREATE INDEX idx_requests_model ON requests(model_id, session_id)",
)
