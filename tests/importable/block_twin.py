"""What a device answers to a task that is answered by block, from docs/reference/wire.md alone."""

import hmac
import json
from hashlib import sha256

from fleet_devices import WEEK_DAYS, secret_of, word

from tacit.channels.thresholds import hash_id, pair_key
from tacit.wire.tasks.blocks import ASK


def queried(secret: bytes, document: bytes, provider: str) -> dict[str, list[int]]:
    """Return {block key: item indices} of a device with this secret, blocks in order."""
    places, first = {}, 0
    for line in document.split(b"\n"):
        fields, address = json.loads(line), sha256(line).hexdigest()
        terms, items = fields.get("extendable", fields), fields["items"]
        text = f"tacit-block-1\n{provider}\n{address}".encode()
        key = hmac.digest(secret, text, "sha256")[:16].hex()
        places[key] = [
            first + index
            for index, item in enumerate(items)
            if pair_key(hash_id(key), hash_id(item), ASK) < int(terms["threshold"])
        ]
        first += len(items)
    return places


class Twin:
    """A device of `fleet_devices` after some weeks, in each of which it rates items and syncs.

    `task`: of the last week. One block is added per week, after that of the first task. `rated`:
    items and ratings of each week. The epochs are days.

    `answers`: [generation, item index, symbol]. `reports`: number of them. `ratings`: at the end.
    `is_stopped`: whether the device reached the limit of the task.
    """

    def __init__(self, device, task, rated):
        lines = [json.loads(line) for line in task.document.split(b"\n")]
        terms, open_from = lines[0]["extendable"], [_terms(line)["open_from"] for line in lines]
        blocks = list(queried(secret_of(device), task.document, task.provider).values())
        self._device, self._channel, self._items = device, task.channels[0], task.items
        self.answers, self.reports, self.ratings, self.is_stopped = [], 0, {}, False
        made = set()
        for week, rates in enumerate(rated, 1):
            self.ratings |= dict(rates)
            total, epoch = 0, WEEK_DAYS * week
            generation = sum(renewal <= epoch for renewal in terms["renewals"])
            for number, places in enumerate(blocks[: 1 + week]):
                total += len(places)
                if total > terms["limit"]:
                    self.is_stopped = True
                    break
                if places and epoch >= open_from[number] and (number, generation) not in made:
                    made.add((number, generation))
                    self.reports += 1
                    self._draw(generation, places)
        self.ratings = {item: rating for item, rating in self.ratings.items() if rating}

    def _draw(self, generation, places):
        for place in places:
            rating = self.ratings.get(self._items[place])
            bounds = self._channel.bounds[int(rating or 0)]  # of the scale 1:5:1, "missing" first
            bits = word(self._device, len(self.answers)) >> (64 - self._channel.word_bits)
            self.answers.append([generation, place, sum(bits >= bound for bound in bounds)])


def _terms(fields):
    return fields.get("extendable", fields)
