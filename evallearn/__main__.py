"""python -m evallearn"""

from evallearn.cli import main

main()
