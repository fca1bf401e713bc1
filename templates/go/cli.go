// Speaks the protocol: one JSON object a line on stdout. stderr is for people.
package main

import (
	"fmt"
	"os"
)

// The inputs in tool.yaml.
type inputs struct {
	Who   string `json:"who"`
	Times int    `json:"times"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--selftest" {
		selftest()
		return
	}
	var given inputs
	args(&given)
	greet(given)
}

func greet(given inputs) {
	emit("start", fields{"step": "greet", "args": given})
	greetings := []string{}
	for done := 1; done <= given.Times; done++ {
		checkCancel()
		greetings = append(greetings, greeting(given.Who))
		emit("progress", fields{"step": "greet", "pct": 100 * done / given.Times, "msg": fmt.Sprintf("%d of %d", done, given.Times)})
	}
	emit("result", fields{"status": "ok", "data": fields{"greetings": greetings}})
}

func selftest() {
	if greeting("x") != "Hello, x!" {
		fail("E_TOOL_FAILED", "the greeting is wrong", "Fix greeting.go.")
	}
	emit("result", fields{"status": "ok", "data": fields{"selftest": "ok"}})
}
