"""Sessions that initialize, restore, save and recover: `tf.train.MonitoredSession`.

MonitoredTrainingSession   hooks and creator from a few arguments
MonitoredSession           _RecoverableSession > _CoordinatedSession >
                           _HookedSession > tf.Session
SessionCreator             Scaffold (what initializes a model) + SessionManager
                           (initialize, restore, wait for the chief)
Supervisor                 the older way: a session beside threads
"""
