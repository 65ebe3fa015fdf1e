"""Stands in for PyCUDA where there is no GPU: the same calls, memory and kernels of the simulator behind them.

It lets the worker's process run anywhere: tests put this folder on the path. Its times mean nothing.
"""

VERSION_TEXT = "stand-in"
