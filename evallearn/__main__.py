"""Run `python -m evallearn`.

Python puts the current folder first on sys.path before it runs this file. It is taken out here, before anything of
Python or of other packages is imported, since a module of that folder could stand for any of them. What Python itself
imports before this file only `python -P -m evallearn` protects.
"""

import os
import sys

if not sys.flags.safe_path and sys.path[0] == os.getcwd():
    folder = sys.path.pop(0)
    if os.path.dirname(os.path.dirname(os.path.abspath(__file__))) == folder:  # a checkout that is not installed
        sys.path.append(folder)

from evallearn.cli import main  # after the folder is gone

if __name__ == "__main__":
    main()
