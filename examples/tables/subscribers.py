"""A made-up table of people who may cancel their subscription.

The rules are known: the odds depend smoothly on numbers (age, hours of use, months so
far), on words (plan, city), and on some pairs of words that are exceptions. Chance has
a part in it too, so that nobody can be right always: `best_accuracy` says how often one
is who knows the rules.
"""

import csv

import numpy as np

COLUMNS = ["age", "hours", "months", "plan", "city", "device", "cancelled"]
DEFAULTS = [[0.0], [0.0], [0.0], [""], [""], [""], [0]]
PLANS = ["free", "basic", "family", "student"]
CITIES = ["Bergen", "Cork", "Delft", "Evora", "Gdansk", "Lyon", "Malmo", "Turin"]
DEVICES = ["phone", "tablet", "television"]


def rows(count, seed):
    """So many people; and the probability that each cancels."""
    random = np.random.RandomState(seed)
    age = random.randint(16, 80, count)
    hours = np.round(random.gamma(2.0, 6.0, count), 1)
    months = random.randint(1, 60, count)
    plan, city, device = (
        random.randint(0, len(words), count) for words in (PLANS, CITIES, DEVICES)
    )
    odds = 1.5 - 0.12 * hours + 2.0 * np.exp(-months / 8.0)
    odds += 1.2 * np.cos((age - 20) / 10.0)
    odds += np.array([0.9, 0.0, -1.0, 0.3])[plan]
    # Exceptions: pairs that nothing smooth can tell.
    exception = np.random.RandomState(7).choice([-2.5, 0.0, 2.5], [4, 8])
    odds += exception[plan, city]
    probability = 1.0 / (1.0 + np.exp(-1.6 * odds))
    cancelled = (random.uniform(size=count) < probability).astype(int)
    table = [
        [a, h, m, PLANS[p], CITIES[c], DEVICES[d], label]
        for a, h, m, p, c, d, label in zip(
            age, hours, months, plan, city, device, cancelled
        )
    ]
    return table, probability


def best_accuracy(count, seed):
    """How often one is right who knows the rules."""
    table, probability = rows(count, seed)
    labels = np.array([row[-1] for row in table])
    return np.mean((probability > 0.5) == labels)


def write(path, count, seed):
    """Writes a CSV file with a line of names above."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(rows(count, seed)[0])
