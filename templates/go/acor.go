package main

import (
	"encoding/json"
	"os"
	"strings"
)

type fields map[string]any

// emit writes one message of the protocol. ACOR fills in `v`, `ts` and `run_id`.
func emit(kind string, more fields) {
	message := fields{"type": kind}
	for key, value := range more {
		message[key] = value
	}
	line, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

// checkCancel ends the tool when it was told to stop. Call it between batches.
func checkCancel() {
	path := os.Getenv("CANCEL_FILE")
	if path == "" {
		return
	}
	reason, err := os.ReadFile(path)
	if err != nil {
		return
	}
	emit("cancelled", fields{"reason": strings.TrimSpace(string(reason))})
	os.Exit(130)
}
