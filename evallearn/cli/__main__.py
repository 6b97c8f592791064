"""python -m evallearn.cli"""

from evallearn.cli import main

main()
