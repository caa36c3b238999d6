"""`tf.contrib.constrained_optimization`: objectives under inequality constraints.

The algorithms are of Cotter, Jiang and Sridharan, "Two-Player Games for Efficient
Non-Convex Constrained Optimization", https://arxiv.org/abs/1804.06500.
"""
