// Speaks the protocol: one JSON object a line on stdout. stderr is for people.
package main

import (
	"flag"
	"fmt"
	"os"
)

const exitFatal = 30

func main() {
	who := flag.String("who", "world", "whom to greet")
	times := flag.Int("times", 1, "how often")
	test := flag.Bool("selftest", false, "check that the tool works")
	flag.Parse()
	if *test {
		selftest()
	} else {
		greet(*who, *times)
	}
}

func greet(who string, times int) {
	emit("start", fields{"step": "greet", "args": fields{"who": who, "times": times}})
	greetings := []string{}
	for done := 1; done <= times; done++ {
		checkCancel()
		greetings = append(greetings, greeting(who))
		emit("progress", fields{"step": "greet", "pct": 100 * done / times, "msg": fmt.Sprintf("%d of %d", done, times)})
	}
	emit("result", fields{"status": "ok", "data": fields{"greetings": greetings}})
}

func selftest() {
	if greeting("x") != "Hello, x!" {
		emit("error", fields{"code": "E_TOOL_FAILED", "msg": "the greeting is wrong", "hint": "Fix greeting.go."})
		os.Exit(exitFatal)
	}
	emit("result", fields{"status": "ok", "data": fields{"selftest": "ok"}})
}
