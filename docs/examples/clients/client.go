// usage: go run client.go MESSAGE [options of tiller]
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

type frame struct {
	Type, ID, Method, Status string
	Error                    any // a text in a response, an object in a prompt_result
	AssistantMessageEvent    struct{ Type, Delta string }
}

func main() {
	agent := exec.Command("tiller", append([]string{"--mode", "rpc", "--no-session"}, os.Args[2:]...)...)
	agent.Stderr = os.Stderr
	in, _ := agent.StdinPipe()
	out, _ := agent.StdoutPipe()
	if err := agent.Start(); err != nil {
		panic(err)
	}
	send, frames, status := json.NewEncoder(in), json.NewDecoder(out), "lost"
	send.Encode(map[string]any{"id": "1", "type": "prompt", "message": os.Args[1]}) // with LF behind it
	for f := (frame{}); frames.Decode(&f) == nil; f = (frame{}) {
		switch {
		case f.Type == "message_update":
			fmt.Print(map[string]string{"text_delta": f.AssistantMessageEvent.Delta, "text_end": "\n"}[f.AssistantMessageEvent.Type])
		case f.Method == "confirm": // yes to every question
			send.Encode(map[string]any{"type": "extension_ui_response", "id": f.ID, "confirmed": true})
		case f.Method == "select" || f.Method == "input" || f.Method == "editor": // nothing to what needs a text
			send.Encode(map[string]any{"type": "extension_ui_response", "id": f.ID, "cancelled": true})
		case f.Type == "response" && f.Error != nil:
			status = fmt.Sprint("refused: ", f.Error)
			in.Close()
		case f.Type == "prompt_result" && f.ID == "1":
			status = f.Status
			if why, has := f.Error.(map[string]any); has {
				status += fmt.Sprint(": ", why["message"])
			}
			in.Close() // the agent ends when nobody can write to it any more, and with it the loop
		}
	}
	fmt.Println("\n" + status)
	if agent.Wait(); status != "completed" {
		os.Exit(1)
	}
}
