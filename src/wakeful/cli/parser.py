"""`Parser`: reads a command line, and suggests the nearest command or option for one that is misspelt."""

import argparse
import re
from typing import Any, NoReturn

from wakeful.inputs import did_you_mean

COMMAND = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)$")


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` that suggests names; the parsers of its commands are of this class too."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return what was given, or refuse an option that there is not, with the usage of the command that lacks it."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            option = unknown[0].partition("=")[0]
            options = re.findall(r"--[\w-]+", self.format_usage())
            self.error(f"unrecognized arguments: {' '.join(unknown)}{did_you_mean(option, options)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong, and exit with code 2."""
        wrong = COMMAND.search(message)
        if wrong is not None:
            message += did_you_mean(wrong[1], re.findall(r"[\w-]+", wrong[2]))
        super().error(message)
