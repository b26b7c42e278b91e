"""`python -m tacit`: the command line."""

from tacit.cli import main

if __name__ == "__main__":
    main()
