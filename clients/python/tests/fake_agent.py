"""An agent that misbehaves as its first argument says. What it is sent it reads line by line."""

import json
import os
import signal
import sys
import time


def tell(frame):
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def commands():
    for line in sys.stdin:
        command = json.loads(line)
        if "id" in command:
            yield command


def respond(command, **more):
    tell({"type": "response", "id": command["id"], "command": command["type"], "success": True, **more})


def result(command):
    tell({"type": "prompt_result", "id": command["id"], "promptId": "p", "status": "completed"})


def ends_at_once():
    sys.stderr.write("Error: Unknown option: --frobnicate\n")
    sys.exit(3)


def hangs():
    sys.stderr.write("still loading ...\n")
    sys.stderr.flush()
    time.sleep(60)


def noisy():
    sys.stdout.write("Welcome to the agent!\n\n{\"half\": \n[1, 2]\n\"text\"\n" + "[" * 5000 + "\n")
    tell({"type": "ready", "dialect": "union"})
    for command in commands():
        sys.stdout.write("\x1b[31mlog line\x1b[0m\nnull\n")
        tell({"type": "response", "id": "nobody", "command": "get_state", "success": True})
        tell({"type": "response", "id": 7, "command": "get_state", "success": False, "error": "no"})
        tell({"type": "response", "id": ["x"], "command": "get_state", "success": False, "error": "no"})
        tell({"type": "brand_new_event", "seq": 1})
        if command["type"] == "silence":
            continue
        respond(command, data={"isSettled": True, "text": "a\u2028b"})


def dies_in_a_prompt():
    tell({"type": "ready", "dialect": "union"})
    for command in commands():
        respond(command, data={"disposition": "started"})
        tell({"type": "agent_start", "seq": 1})
        sys.stderr.write("out of luck\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def floods():
    tell({"type": "ready", "dialect": "union"})
    for command in commands():
        respond(command, data={"disposition": "started"})
        if command["type"] != "prompt":
            continue
        pad = "x" * 200
        for index in range(int(sys.argv[2])):
            sys.stdout.write(json.dumps({"type": "notice", "seq": index, "message": pad}) + "\n")
        result(command)


def like_pi():
    """No ready, no prompt_result; an unknown command is answered without its id."""
    for command in commands():
        if command["type"] == "set_host_tools":
            tell({"type": "response", "command": "set_host_tools", "success": False, "error": "Unknown command: set_host_tools"})
            continue
        respond(command, data={"isStreaming": False})
        if command["type"] == "prompt" and command["message"] == "fail later":
            tell({"type": "response", "id": command["id"], "command": "prompt", "success": False, "error": "no key"})
        elif command["type"] == "prompt":
            tell({"type": "agent_end", "messages": []})


globals()[sys.argv[1]]()
