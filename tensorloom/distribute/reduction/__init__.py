"""How the values of several devices become one: by copies, or collectively."""
