"""`python -m pvc`."""

from pvc.main import main

main()
