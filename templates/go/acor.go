package main

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
)

const exitFatal = 30

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

// args reads the inputs that `tool.yaml` declares, checked and with their defaults, into a struct.
func args(inputs any) {
	given := os.Getenv("ACOR_INPUTS")
	// Long inputs come in several variables.
	for number := 1; os.Getenv("ACOR_INPUTS") == ""; number++ {
		part := os.Getenv("ACOR_INPUTS_" + strconv.Itoa(number))
		if part == "" {
			break
		}
		given += part
	}
	if given == "" {
		fail("E_USAGE", "this run has no declared inputs", "Run the tool with: acor run <tool>")
	}
	if err := json.Unmarshal([]byte(given), inputs); err != nil {
		fail("E_USAGE", err.Error(), "Make the struct fit the inputs in tool.yaml.")
	}
}

// fail reports an error and ends the tool.
func fail(code, msg, hint string) {
	emit("error", fields{"code": code, "msg": msg, "hint": hint})
	os.Exit(exitFatal)
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
