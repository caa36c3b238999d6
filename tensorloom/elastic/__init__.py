"""Training whose parameter servers and workers come, leave and die; docs/elastic.md.

import tensorloom.elastic as elastic

if task == "ps":
    elastic.serve(server)
else:
    with tf.device(tf.train.replica_device_setter(ps_tasks=64)):
        ...
    with elastic.MonitoredTrainingSession(server, checkpoint_dir=...) as session:
        while not session.should_stop():
            session.run(train)
"""

from tensorloom.elastic.serving import ElasticServer, serve
from tensorloom.elastic.session import StepLostError
from tensorloom.elastic.training import MonitoredTrainingSession
