"""The command line as a function."""

import pytest

from tacit.cli import main


@pytest.fixture
def run(capsys):
    """Run a command; gives (status, output, errors)."""

    def command(*arguments):
        capsys.readouterr()
        try:
            main([str(argument) for argument in arguments])
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        out, err = capsys.readouterr()
        return status, out, err

    return command
