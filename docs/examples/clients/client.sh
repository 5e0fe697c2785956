#!/usr/bin/env bash
# usage: client.sh MESSAGE [options of tiller]; needs jq
set -euo pipefail
message=$1
shift

# One jq for the whole conversation makes a line of each frame that matters: a word, and what belongs to it.
filter='
  if .type == "message_update" and .assistantMessageEvent.type == "text_delta" then
    ["text", .assistantMessageEvent.delta]
  elif .type == "message_update" and .assistantMessageEvent.type == "text_end" then
    ["text", "\n"]
  elif .type == "extension_ui_request" and .method == "confirm" then
    ["confirm", .id, .title]
  elif .type == "extension_ui_request" and (.method == "select" or .method == "input" or .method == "editor") then
    ["dialog", .id, .title]
  elif .type == "response" and (.success | not) then
    ["refused", .error]
  elif .type == "prompt_result" and .id == "1" then
    ["done", .status + (if .error then ": " + .error.message else "" end)]
  else empty end | @tsv'

coproc AGENT { tiller --mode rpc --no-session "$@" | jq --unbuffered -r "$filter"; }
pid=$AGENT_PID to=${AGENT[1]} from=${AGENT[0]}
send() { jq -nc "$@" >&"$to"; }

# Says yes to every question, and nothing to all that needs a text.
answer() {
  printf '\n? %b\n' "$3" >&2
  if [ "$1" = confirm ]; then send --arg id "$2" '{type: "extension_ui_response", $id, confirmed: true}'
  else send --arg id "$2" '{type: "extension_ui_response", $id, cancelled: true}'; fi
}

send --arg message "$message" '{id: "1", type: "prompt", $message}'
status=lost
while IFS=$'\t' read -r word value more <&"$from"; do
  case $word in
    text) printf '%b' "$value" ;;
    confirm | dialog) answer "$word" "$value" "$more" ;;
    refused) printf '%b\n' "$value" >&2; break ;;
    done) status=$value; break ;;
  esac
done

printf '\n%b\n' "$status"
eval "exec $to>&-" # the agent ends when nobody can write to it any more
wait "$pid" || true
[ "$status" = completed ]
