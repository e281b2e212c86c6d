"""Draw the pictures of the docs anew: `make screenshots`.

A server of its own shows the example data; what is drawn is kept small by the palette.
"""
