//! Speaks the protocol: one JSON object a line on stdout. stderr is for people.

mod acor;
mod greeting;

use acor::{check_cancel, emit, list, text};
use greeting::greeting;

const EXIT_FATAL: i32 = 30;

fn main() {
    let (mut who, mut times) = (String::from("world"), 1);
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        match (flag.as_str(), args.next()) {
            ("--selftest", _) => return selftest(),
            ("--who", Some(value)) => who = value,
            ("--times", Some(value)) => times = value.parse().unwrap_or_else(|_| fail("E_USAGE", "--times is not a number")),
            _ => fail("E_USAGE", &format!("unknown argument: {flag}")),
        }
    }
    greet(&who, times);
}

fn greet(who: &str, times: u32) {
    let args = format!("{{\"who\":{},\"times\":{times}}}", text(who));
    emit("start", &[("step", text("greet")), ("args", args)]);
    let mut greetings = Vec::new();
    for done in 1..=times {
        check_cancel();
        greetings.push(greeting(who));
        let pct = (100 * done / times).to_string();
        emit("progress", &[("step", text("greet")), ("pct", pct), ("msg", text(&format!("{done} of {times}")))]);
    }
    emit("result", &[("status", text("ok")), ("data", format!("{{\"greetings\":{}}}", list(&greetings)))]);
}

fn selftest() {
    if greeting("x") != "Hello, x!" {
        fail("E_TOOL_FAILED", "the greeting is wrong");
    }
    emit("result", &[("status", text("ok")), ("data", "{\"selftest\":\"ok\"}".into())]);
}

fn fail(code: &str, message: &str) -> ! {
    emit("error", &[("code", text(code)), ("msg", text(message))]);
    std::process::exit(EXIT_FATAL);
}
