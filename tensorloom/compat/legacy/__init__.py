"""What Python, NumPy and SciPy had when programs of TensorFlow 1 were written.

`tensorloom run` gives it back to the program and to the libraries that it imports, and
to nobody else: NumPy's own code, SciPy, PyTorch and this package see the libraries as
they are. `views.py` makes the modules that the program gets, `finder.py` decides which
modules get them, the other files hold the replacements. docs/legacy.md lists them.
"""
