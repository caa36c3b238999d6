"""A deep Q-network learns a game from what it sees and what it gets.

    tensorloom run examples/games/deep_q_network.py

Experience replay, a target network that follows now and then, moves at random less and
less often (Mnih et al., 2015), and double Q-learning (van Hasselt et al., 2016). Nobody
catches every ball: one may drift in its last move, when it is too late to follow.

Quality: balls caught at least 0.75
"""

import catch
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 3000, "steps of training")
flags.DEFINE_string("model_dir", "", "where checkpoints are; empty: keep none")
FLAGS = flags.FLAGS

BATCH = 32
MEMORY = 5000
BEFORE = 200  # moves before the first step of training
MOVES = 2  # between steps of training
FOLLOW = 100  # steps between updates of the target network
DISCOUNT = 0.95
LEARNING_RATE = 0.001
REPORT = 500


def network(boards, scope):
    """The value of each move."""
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        y = tf.layers.flatten(boards)
        y = tf.layers.dense(y, 64, tf.nn.relu, name="first")
        y = tf.layers.dense(y, 64, tf.nn.relu, name="second")
        return tf.layers.dense(y, catch.ACTIONS, name="values")


class Agent(object):
    """The graph of the two networks."""

    def __init__(self):
        shape = [None, catch.ROWS, catch.COLUMNS]
        self.before = tf.placeholder(tf.float32, shape, name="before")
        self.action = tf.placeholder(tf.int32, [None], name="action")
        self.reward = tf.placeholder(tf.float32, [None], name="reward")
        self.after = tf.placeholder(tf.float32, shape, name="after")
        self.over = tf.placeholder(tf.float32, [None], name="over")

        values = network(self.before, "online")
        self.best = tf.argmax(values, 1)
        # The online network chooses the next move, the target network judges it.
        chosen = tf.argmax(network(self.after, "online"), 1)
        judged = network(self.after, "target")
        following = tf.reduce_sum(judged * tf.one_hot(chosen, catch.ACTIONS), axis=1)
        target = self.reward + DISCOUNT * (1.0 - self.over) * following
        taken = tf.reduce_sum(values * tf.one_hot(self.action, catch.ACTIONS), axis=1)
        self.loss = tf.losses.huber_loss(tf.stop_gradient(target), taken)

        online = tf.trainable_variables("online")
        self.global_step = tf.train.get_or_create_global_step()
        self.train = tf.train.AdamOptimizer(LEARNING_RATE).minimize(
            self.loss, var_list=online, global_step=self.global_step
        )
        pairs = zip(tf.trainable_variables("target"), online)
        self.follow = tf.group(*[tf.assign(ours, theirs) for ours, theirs in pairs])

    def feed(self, memories):
        """What is learned from."""
        before, action, reward, after, over = zip(*memories)
        return {
            self.before: before,
            self.action: action,
            self.reward: reward,
            self.after: after,
            self.over: over,
        }


class Player(object):
    """Plays, and remembers."""

    def __init__(self, sess, agent):
        self._sess, self._agent = sess, agent
        self._random = np.random.RandomState(1)
        self._game = catch.Catch(seed=2)
        self._board = self._game.reset()
        self._memories = []
        self._place = 0

    def move(self, chance):
        """One move: at random, or with the best value."""
        if self._random.uniform() < chance:
            action = self._random.randint(catch.ACTIONS)
        else:
            feed = {self._agent.before: [self._board]}
            action = int(self._sess.run(self._agent.best, feed)[0])
        after, reward, over = self._game.move(action)
        memory = (self._board, action, reward, after, float(over))
        if len(self._memories) < MEMORY:
            self._memories.append(memory)
        else:
            self._memories[self._place] = memory
            self._place = (self._place + 1) % MEMORY
        self._board = self._game.reset() if over else after

    def recall(self):
        """Some memories, drawn at random."""
        rows = self._random.randint(0, len(self._memories), BATCH)
        return [self._memories[row] for row in rows]


def play(sess, agent, games):
    """The share of balls caught in so many games, and the boards of the first."""
    game, caught, boards = catch.Catch(seed=3), 0, []
    for number in range(games):
        board, over = game.reset(), False
        while not over:
            if number == 0:
                boards.append(board)
            action = int(sess.run(agent.best, {agent.before: [board]})[0])
            board, reward, over = game.move(action)
        caught += reward > 0
    return caught / float(games), [*boards, board]


def main(_):
    tf.set_random_seed(1)
    agent = Agent()
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if FLAGS.model_dir:
            checkpoint = tf.train.latest_checkpoint(FLAGS.model_dir)
            if checkpoint:
                saver.restore(sess, checkpoint)
        player = Player(sess, agent)
        for _ in range(BEFORE):
            player.move(chance=1.0)
        for step in range(sess.run(agent.global_step), FLAGS.steps):
            if step % FOLLOW == 0:
                sess.run(agent.follow)
            for _ in range(MOVES):
                player.move(chance=max(0.1, 1.0 - 2.0 * step / FLAGS.steps))
            feed = agent.feed(player.recall())
            _, value = sess.run([agent.train, agent.loss], feed)
            if (step + 1) % REPORT == 0:
                caught, _ = play(sess, agent, 50)
                print("step %5d: loss %.4f, caught %.2f" % (step + 1, value, caught))
        if FLAGS.model_dir:
            saver.save(sess, FLAGS.model_dir + "/model.ckpt", agent.global_step)

        caught, boards = play(sess, agent, 200)
        print(catch.as_text(boards[:12]))
        print("balls caught: %.4f" % caught)


if __name__ == "__main__":
    tf.app.run()
