"""Horovod's interface: `import tensorloom.hvd as hvd`.

Each process runs the whole program; gradients are averaged over all of them. Start the
processes with `tensorloom hvdrun -np 4 program.py`, mpirun, srun or torchrun.
The names and defaults are those of `horovod.tensorflow` 0.19 in graph mode.
"""

from tensorloom.hvd.compression import Compression
from tensorloom.hvd.optimizer import DistributedOptimizer
from tensorloom.hvd.processes import (
    ccl_built,
    ddl_built,
    gloo_built,
    gloo_enabled,
    init,
    is_homogeneous,
    is_initialized,
    local_rank,
    local_size,
    mpi_built,
    mpi_enabled,
    mpi_threads_supported,
    nccl_built,
    rank,
    shutdown,
    size,
)
from tensorloom.hvd.reductions import (
    Adasum,
    Average,
    Sum,
    allgather,
    allreduce,
    broadcast,
    local_rank_op,
    local_size_op,
    rank_op,
    size_op,
)
from tensorloom.hvd.variables import (
    BroadcastGlobalVariablesHook,
    broadcast_global_variables,
    broadcast_object,
    broadcast_variables,
)
