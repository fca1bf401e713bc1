//! The protocol, in JSON written by hand. ACOR fills in `v`, `ts` and `run_id`.

use std::io::Write;

/// Writes one message; the values are JSON already, as `text`, `list` and numbers give it.
pub fn emit(kind: &str, fields: &[(&str, String)]) {
    let mut line = format!("{{\"type\":{}", text(kind));
    for (key, value) in fields {
        line += &format!(",{}:{}", text(key), value);
    }
    line += "}\n";
    // Nobody is left to be told when stdout is gone.
    if std::io::stdout().write_all(line.as_bytes()).is_err() {
        std::process::exit(141);
    }
}

/// Ends the tool when it was told to stop. Call it between batches.
pub fn check_cancel() {
    let Ok(path) = std::env::var("CANCEL_FILE") else { return };
    if let Ok(reason) = std::fs::read_to_string(path) {
        emit("cancelled", &[("reason", text(reason.trim()))]);
        std::process::exit(130);
    }
}

pub fn text(value: &str) -> String {
    let mut out = String::from("\"");
    for char in value.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            char if (char as u32) < 32 => out += &format!("\\u{:04x}", char as u32),
            char => out.push(char),
        }
    }
    out + "\""
}

pub fn list(values: &[String]) -> String {
    let items: Vec<String> = values.iter().map(|value| text(value)).collect();
    format!("[{}]", items.join(","))
}
