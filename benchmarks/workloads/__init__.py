"""The workloads. Each is written once against a module `tf` and runs in every system.

Python 3.7, since TensorFlow 1.15 runs them too.
"""

from benchmarks.workloads import (
    allreduce,
    checkpoints,
    columns,
    compiled,
    contrib_models,
    contrib_text,
    datasets,
    distributed,
    eager,
    elastic,
    embeddings,
    estimators,
    explained,
    graphs,
    inputs,
    kernels,
    locks,
    models,
    pieces,
    sequences,
    serving,
    sessions,
    steps,
)

WORKLOADS = {
    workload.name: workload
    for module in (
        steps,
        sessions,
        models,
        contrib_models,
        contrib_text,
        sequences,
        inputs,
        datasets,
        columns,
        estimators,
        kernels,
        compiled,
        graphs,
        explained,
        checkpoints,
        distributed,
        pieces,
        locks,
        allreduce,
        elastic,
        serving,
        eager,
        embeddings,
    )
    for workload in module.table.workloads
}
