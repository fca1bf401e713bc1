//! Speaks the protocol: one JSON object a line on stdout. stderr is for people.

mod acor;
mod greeting;
mod state;

use acor::{args, check_cancel, emit, fail, list, text};
use greeting::greeting;

fn main() {
    if std::env::args().any(|word| word == "--selftest") {
        return selftest();
    }
    let given = args();
    greet(&given.get::<String>("who"), given.get("times"));
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
