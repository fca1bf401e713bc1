package main

// The work itself. It knows nothing of ACOR, so that it can be tested and used by itself.
func greeting(who string) string {
	return "Hello, " + who + "!"
}
