"""Valid and invalid requests, generated from an OpenAPI description."""

import json

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

REFUSED = [400, 401, 404, 405, 408, 409, 410, 413, 415, 422, 429, 503]
"""Statuses of an invalid request: the usual ones, and 410 for a deleted resource."""


def statuses(description, url, ids, examples, headers=None):
    """Return the (path, status) of all responses, after checking each against the description.

    `ids`: values of path parameters, in half of the requests. `headers`: of all requests.
    `examples`: number of requests of each kind.
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
            # A valid request may still be refused, such as a report on another task.
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
