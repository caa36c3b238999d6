"""After training: models made smaller and faster, and written for other runtimes.

    frozen_model.py   a signature of a SavedModel, or a GraphDef, without variables
    runner.py         runs one
    examples.py       values to run it with
    comparison.py     what a change did to size, speed, outputs and accuracy
    optimizing.py     transforms and quantization, compared before they are written
    quantization/     weights and arithmetic in fewer bits
    program.py        a model as exporters read it; sizes.py, transposed.py: its shapes
    exporting.py      ONNX, TorchScript, torch.export, safetensors: run and compared
    onnx/, torchscript/   how each op is written there

What is written appears whole or not at all.
"""
