"""The game of Catch: a ball falls, a paddle at the bottom should be below it."""

import numpy as np

ROWS, COLUMNS = 8, 6
ACTIONS = 3  # left, stay, right


class Catch(object):
    """One game after the other. The reward comes with the last move: 1 or -1."""

    def __init__(self, seed):
        self._random = np.random.RandomState(seed)
        self.reset()

    def reset(self):
        """A new ball in the uppermost row; returns what is seen."""
        self._y = 0
        self._x = self._random.randint(COLUMNS)
        self._paddle = self._random.randint(COLUMNS)
        return self.seen()

    def move(self, action):
        """Moves the paddle; the ball falls by a row, and may drift sideways.

        Returns what is seen now, the reward, and whether the game is over.
        """
        self._paddle = int(np.clip(self._paddle + action - 1, 0, COLUMNS - 1))
        self._y += 1
        if self._random.uniform() < 0.2:
            drift = self._random.choice([-1, 1])
            self._x = int(np.clip(self._x + drift, 0, COLUMNS - 1))
        over = self._y == ROWS - 1
        caught = abs(self._x - self._paddle) == 0
        return self.seen(), (1.0 if caught else -1.0) if over else 0.0, over

    def seen(self):
        """The board: one for the ball and for the paddle, zero elsewhere."""
        board = np.zeros([ROWS, COLUMNS], np.float32)
        board[ROWS - 1, self._paddle] = 1.0
        board[self._y, self._x] = 1.0
        return board


def as_text(boards):
    """Boards side by side."""
    return "\n".join(
        "  ".join("".join("o" if x else "." for x in board[row]) for board in boards)
        for row in range(ROWS)
    )
