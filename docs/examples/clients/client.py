#!/usr/bin/env python3
"""usage: client.py MESSAGE [options of tiller]"""
import json
import subprocess
import sys

message, options = sys.argv[1], sys.argv[2:]
agent = subprocess.Popen(
    ["tiller", "--mode", "rpc", "--no-session", *options],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
)


def send(frame):
    agent.stdin.write(json.dumps(frame).encode() + b"\n")
    agent.stdin.flush()


def answer(dialog):
    """Says yes to every question, and nothing to all that needs a text."""
    print(f"\n? {dialog['title']}", file=sys.stderr)
    yes = {"confirmed": True} if dialog["method"] == "confirm" else {"cancelled": True}
    send({"type": "extension_ui_response", "id": dialog["id"], **yes})


send({"id": "1", "type": "prompt", "message": message})
status = "lost"
for line in agent.stdout:  # bytes are split at LF only
    frame = json.loads(line)
    kind = frame["type"]
    if kind == "message_update" and frame["assistantMessageEvent"]["type"] == "text_delta":
        print(frame["assistantMessageEvent"]["delta"], end="", flush=True)
    elif kind == "message_update" and frame["assistantMessageEvent"]["type"] == "text_end":
        print()
    elif kind == "extension_ui_request" and frame["method"] in ("confirm", "select", "input", "editor"):
        answer(frame)
    elif kind == "response" and not frame["success"]:
        print(frame["error"], file=sys.stderr)
        break
    elif kind == "prompt_result" and frame["id"] == "1":
        status = frame["status"] + (f": {frame['error']['message']}" if "error" in frame else "")
        break

print("\n" + status)
agent.stdin.close()  # the agent ends when nobody can write to it any more
agent.stdout.read()
agent.wait()
sys.exit(0 if status == "completed" else 1)
