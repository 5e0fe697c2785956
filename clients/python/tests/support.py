"""Where the clients under test find an agent: the real one, in an empty home, or one that misbehaves."""

import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "src"))

#: node and the program, as the one who starts the tests says.
AGENT = json.loads(os.environ.get("TILLER_TEST_AGENT", '["tiller"]'))


def fake(kind, *more):
    """The command line of an agent that misbehaves."""
    return [sys.executable, "-S", "-E", os.path.join(HERE, "fake_agent.py"), kind, *more]


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tiller-python-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        return path

    def options(self, script, *args):
        """For a client that drives the real agent with a script in the place of a model."""
        return {
            "cwd": self.folder,
            "env": {"HOME": self.folder, "TILLER_DIR": os.path.join(self.folder, "agent"), "NODE_EXTRA_CA_CERTS": None},
            "args": ["--no-session", "--script", self.write("script.json", script), *args],
        }
