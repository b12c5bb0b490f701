"""A corpus of messages from a seed: each a name and observations with the keys of weir's JSON.

Times are nanoseconds since 1970; results that are lists or dictionaries are JSON's.
"""

import math
import random

BEGIN = 1_700_000_000_000_000_000
MINUTE = 60_000_000_000


def series(rng, count, number, wait=lambda rng: 10 * MINUTE, **names):
    time = BEGIN
    for step in range(count):
        yield {**names, "value": number(rng, step), "time": time}
        time += wait(rng)


def wave(decimals):
    def number(rng, step):
        value = 15 + 8 * math.sin(step / 144 * math.tau) + rng.gauss(0, 0.15)
        return value if decimals is None else round(value, decimals)

    return number


def walk(scale, decimals):
    last = [20.0]

    def number(rng, _step):
        last[0] += rng.gauss(0, scale)
        return last[0] if decimals is None else round(last[0], decimals)

    return number


def lattice(rng, step):
    """A sensor that counts in steps of its own, shown in decimals."""
    return round(round(40 * math.sin(step / 300) + rng.gauss(0, 2)) * 0.0244, 3)


def wild(rng, step):
    """Decimals, and now and then a number that is none."""
    return rng.choice([math.pi * step, -0.0, 5e-324, 1e300]) if step % 50 == 7 else round(rng.gauss(0, 9), 1)


def near(_rng, step):
    """Decimals that were shifted in binary."""
    return (2564 + step // 7 % 90) / 5.0 - 500.0


NUMBERS = {
    "two decimals": wave(2),
    "full precision": wave(None),
    "around zero": lambda rng, step: rng.gauss(0, 0.1),
    "a walk": walk(0.02, 3),
    "a walk of full precision": walk(0.02, None),
    "a lattice": lattice,
    "with exceptions": wild,
    "near decimals": near,
    "a set point": lambda rng, step: float(20 + step // 200 % 3),
    "a counter": lambda rng, step: step * 25,
    "bits at random": lambda rng, step: rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300),
    "large integers": lambda rng, step: rng.randint(-(2**53), 2**53),
    "powers": lambda rng, step: 2.0 ** (step % 100),
}


def waits(rng):
    return {
        "steady": lambda rng: 10 * MINUTE,
        "with gaps": lambda rng: MINUTE * (1 if rng.random() < 0.97 else rng.randint(2, 900)),
        "irregular": lambda rng: rng.randint(1, 2_000) * 1_000_000,
        "at random": lambda rng: rng.randint(-(10**15), 10**15),
    }


def text(rng):
    return rng.choice(["open", "closed", "é😀", "", "x" * 300, "text %d" % rng.randint(0, 5)])


def result(rng):
    return rng.choice(
        [
            lambda: round(rng.gauss(20, 5), 2),
            lambda: rng.random() < 0.5,
            lambda: None,
            lambda: text(rng),
            lambda: [1, {"b": [None, "x"]}, rng.randint(0, 3)],
        ]
    )()


def mixed(rng, count, places, extras):
    """Observations of all kinds, of some datastreams in no order."""
    for step in range(count):
        found = {"topic": f"plant/{rng.randint(1, 4)}/state", "value": result(rng)}
        if rng.random() < 0.8:
            found["time"] = BEGIN + step * 1_000_000 + rng.randint(0, 3)
        if rng.random() < 0.5:
            found |= {"sensor": f"urn:dev:{rng.randint(1, 2)}", "type": "state"}
        if rng.random() < places:
            found |= {"lat": round(rng.uniform(-90, 90), 6), "lon": rng.uniform(-180, 180)}
        if rng.random() < extras:
            found |= extra(rng)
        yield found


def extra(rng):
    time = BEGIN + rng.randint(0, 10**12)
    every = {
        "end": time,
        "resultTime": time + 5,
        "validTime": (time, time + rng.randint(0, 10**9)),
        "quality": rng.choice(["good", "bad"]),
        "feature": f"urn:feature:{rng.randint(0, 3)}",
        "parameters": {"k": [rng.randint(0, 9), "2"]},
    }
    return {key: every[key] for key in rng.sample(sorted(every), rng.randint(1, len(every)))}


def rounds(rng, count):
    """Stations that measure at the same times, one observation of each in turn."""
    for step in range(count):
        for station in range(7):
            value = wave(2)(rng, step + station * 20)
            yield {
                "topic": f"station-{station}/air/temperature",
                "sensor": f"urn:dev:mac:{station:012x}",
                "type": "air-temperature",
                "unit": "Cel",
                "value": value,
                "time": BEGIN + step * 10 * MINUTE,
            }


def corpus(seed):
    """All messages of a seed."""
    rng = random.Random(seed)
    for name, number in NUMBERS.items():
        for count in (1, 2, 3, 100, 1500, 5000):
            yield f"{name}, {count}", list(series(rng, count, number))
    for name, wait in waits(rng).items():
        for count in (2, 50, 3000):
            yield f"times {name}, {count}", list(series(rng, count, wave(2), wait, topic="a/b"))
    for places, extras in ((0, 0), (1, 0), (0.5, 0), (0, 1), (0.3, 0.3)):
        for count in (1, 5, 40, 700):
            yield f"mixed {places} {extras}, {count}", list(mixed(rng, count, places, extras))
    yield "in rounds", list(rounds(rng, 300))
    yield "series after series", sorted(rounds(rng, 300), key=lambda found: found["topic"])
    yield "many chunks", list(series(rng, 40_000, wave(2), topic="bulk", unit="Cel"))
    yield "nothing", []
