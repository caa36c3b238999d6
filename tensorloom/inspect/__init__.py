"""What is in a file, graph or program, told without running it.

`model_files` opens graphs of any of TensorFlow's file formats, `audit` says whether
something will run here. The `tensorloom` command shows both.
"""
