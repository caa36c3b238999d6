"""How a program is written for torch: one line of TorchScript for each node.

source.py     a program as the source of a module's `forward`
module.py     the source as a ScriptModule, and as a program of torch.export
registry.py   the table of writers, filled by the files of the families
helpers.py    what the lines call: compiled with them
"""
