"""A language of few words: the text that the programs in this folder learn from.

Its sentences are made by a grammar, as many as one wants and the same each time. Who
reads a line of characters can find out what follows what: the plural of subjects and
verbs, which animals do what, where they do it. And since the grammar is known, so is
the best that any model can reach: `bits_per_character`.
"""

import math

import numpy as np

ANIMALS = ["cat", "dog", "fox", "bear", "goat", "mouse"]
FOODS = ["bread", "cheese", "honey", "fish", "corn", "rice"]
PLACES = ["river", "forest", "hill", "garden", "barn", "lake"]
COLOURS = ["red", "white", "black", "brown", "grey", "golden"]
SEES = ["sees", "meets", "follows", "hears"]
EATS = ["eats", "finds", "likes", "steals"]
KINDS = {
    "animals": ANIMALS,
    "foods": FOODS,
    "places": PLACES,
    "colours": COLOURS,
    "verbs of meeting": SEES,
    "verbs of eating": EATS,
}
NEAR = ["in", "near", "behind"]

# A word of a list stands for one of its words, each as likely as the others.
PATTERNS = [
    ["the", COLOURS, ANIMALS, SEES, "a", COLOURS, ANIMALS, NEAR, "the", PLACES],
    ["the", COLOURS, ANIMALS, EATS, "some", FOODS, NEAR, "the", PLACES],
    [NEAR, "the", PLACES, "a", ANIMALS, EATS, "some", FOODS],
    [NEAR, "the", PLACES, "a", ANIMALS, SEES, "the", COLOURS, ANIMALS],
]


def sentences(count, seed):
    """So many sentences, as lists of words."""
    random = np.random.RandomState(seed)

    def pick(choices):
        return choices[random.randint(len(choices))]

    return [
        [part if isinstance(part, str) else pick(part) for part in pick(PATTERNS)]
        for _ in range(count)
    ]


def text(count, seed):
    """So many sentences as one string, a line each."""
    return "".join(" ".join(words) + ".\n" for words in sentences(count, seed))


def bits_per_character():
    """The entropy of the text: no model can guess better on the whole."""
    bits, characters = 0.0, 0.0
    for pattern in PATTERNS:
        bits += math.log(len(PATTERNS), 2)
        for part in pattern:
            choices = [part] if isinstance(part, str) else part
            bits += math.log(len(choices), 2)
            characters += sum(map(len, choices)) / len(choices) + 1  # and a blank
        characters += 1  # the stop; the line's end stands for the last blank
    return bits / characters
