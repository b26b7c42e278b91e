"""Requests made up from an OpenAPI description, of the right form and of wrong ones."""

import json

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

REFUSED = [400, 401, 404, 405, 408, 409, 410, 413, 415, 422, 429, 503]
"""Statuses of a request of the wrong form: those that are usual, and 410 for what is no more."""


def statuses(description, url, ids, examples, headers=None):
    """Return the (path, status) of all answers, each of which the description has.

    `ids`: values of path parameters, in requests of which half have others. `headers`: of all
    requests. `examples`: number of requests of each kind.
    """
    seen = []

    def tried(operation, mode, parameters):
        @settings(
            max_examples=examples,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(mode, path_parameters=parameters))
        def one(case):
            # Ten seconds by default, which a busy machine may need for one answer.
            response = case.call(base_url=url, timeout=300, headers=headers)
            # What a task did not ask is refused, however well it is formed.
            case.validate_response(
                response, excluded_checks=[positive_data_acceptance], headers=headers
            )
            seen.append((operation.path, response.status_code))

        one()

    checks = {"negative_data_rejection": {"expected-statuses": REFUSED}}
    schema = schemathesis.openapi.from_dict(
        json.loads(description.read_text()),
        config=schemathesis.Config.from_dict({"checks": checks}),
    )
    for found in schema.get_all_operations():
        operation = found.ok()
        named = {name: value for name, value in ids.items() if f"{{{name}}}" in operation.path}
        tried(operation, GenerationMode.POSITIVE, None)
        if named:
            tried(operation, GenerationMode.POSITIVE, named)
        if operation.method == "post" and named:
            tried(operation, GenerationMode.NEGATIVE, named)
    return set(seen)
