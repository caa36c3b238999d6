"""TensorFlow's own module paths: `tensorflow.python.ops.array_ops` and the like.

`tables/*.txt` say what each path gives, by the names that it has elsewhere in this
package. `finder.py` makes `import` find the paths, `path_module.py` is what an import
returns, `op_functions.py` makes the functions of the `gen_*_ops` modules. Nothing is
read before the first such import, and nothing is copied: a name found through a path is
the same object as under its public name.
"""
