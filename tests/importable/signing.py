"""A provider's collector in this process that signs tokens of a shuffled task for its customers."""

from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256

from film_questions import question
from provider_keys import KEY
from starlette.testclient import TestClient

from tacit.collector.http.app import application
from tacit.collector.http.signing import Signing
from tacit.collector.ingest.enrolment import Enrolment
from tacit.collector.ingest.signing_key import SigningKey
from tacit.device.transport import Answer


def customer(person):
    """The enrolment token of a person at the provider."""
    return f"customer-{person}"


def signed_task(folder, task):
    """The task with a signer, whose file and key are in a folder."""
    KEY.save(folder / "films.pem")
    signed = replace(task, signer=SigningKey(folder / "films.pem").modulus)
    (folder / "films.json").write_bytes(signed.document)
    return signed


def collector(folder, clock, customers):
    """The application of a collector over a folder of tasks and keys."""
    digests = [sha256(customer(each).encode()).hexdigest() for each in range(customers)]
    signing = Signing(folder, Enrolment(digests, 1), clock)
    return application(str(folder / "reports.db"), [question()], signing=signing, clock=clock)


class Provider:
    """The client of a running collector."""

    def __init__(self, client):
        self.client, self.requests = client, []

    def request(self, task, body, token, media="application/octet-stream"):
        headers = {"authorization": f"Bearer {token}", "content-type": media}
        return self.client.post(
            f"/v1/shuffled/{task.address}/signature", content=body, headers=headers
        )

    def transport(self, person):
        """What a device of a person sends requests with."""

        def send(method, path, body=None, longest=0):
            self.requests.append((person, body))
            headers = {
                "authorization": f"Bearer {customer(person)}",
                "content-type": "application/octet-stream",
            }
            response = self.client.request(method, path, content=body, headers=headers)
            return Answer(response.status_code, response.content)

        return send


@contextmanager
def providing(folder, clock, customers=40):
    """Run a collector during the block."""
    with TestClient(collector(folder, clock, customers)) as client:
        yield Provider(client)
