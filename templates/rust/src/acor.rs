//! The protocol, in JSON written by hand. ACOR fills in `v`, `ts` and `run_id`.

use std::collections::HashMap;
use std::io::Write;
use std::iter::Peekable;
use std::str::{Chars, FromStr};

const EXIT_FATAL: i32 = 30;

/// The inputs that `tool.yaml` declares, checked and with their defaults: texts as they are, everything else as JSON.
pub struct Args(HashMap<String, String>);

pub fn args() -> Args {
    // Long inputs come in several variables.
    let parts = (1..).map_while(|number| std::env::var(format!("ACOR_INPUTS_{number}")).ok());
    let json = std::env::var("ACOR_INPUTS").unwrap_or_else(|_| parts.collect());
    if json.is_empty() {
        fail("E_USAGE", "this run has no declared inputs")
    }
    object(&json)
}

/// The values of a JSON object: texts as they are, everything else as JSON.
pub fn object(json: &str) -> Args {
    let mut values = HashMap::new();
    let mut rest = json.chars().peekable();
    while rest.by_ref().find(|char| *char == '"').is_some() {
        let name = string(&mut rest);
        while rest.next_if(|char| *char == ':' || char.is_ascii_whitespace()).is_some() {}
        let value = if rest.next_if_eq(&'"').is_some() { string(&mut rest) } else { raw(&mut rest) };
        values.insert(name, value);
    }
    Args(values)
}

/// The rest of a JSON string.
fn string(rest: &mut Peekable<Chars>) -> String {
    let mut out = String::new();
    while let Some(char) = rest.next() {
        match char {
            '"' => break,
            '\\' => match rest.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('b') => out.push('\u{8}'),
                Some('f') => out.push('\u{c}'),
                Some('u') => out.push(escaped(rest)),
                Some(other) => out.push(other),
                None => break,
            },
            char => out.push(char),
        }
    }
    out
}

/// The character of a `\u` escape. Above U+FFFF it takes two of them.
fn escaped(rest: &mut Peekable<Chars>) -> char {
    let first = unit(rest);
    let is_pair = (0xd800..0xdc00).contains(&first) && rest.next_if_eq(&'\\').is_some() && rest.next_if_eq(&'u').is_some();
    let units = [first, if is_pair { unit(rest) } else { 0 }];
    char::decode_utf16(units).next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn unit(rest: &mut Peekable<Chars>) -> u16 {
    u16::from_str_radix(&rest.take(4).collect::<String>(), 16).unwrap_or_default()
}

/// A number, true, false, a list or an object, up to the next value.
fn raw(rest: &mut Peekable<Chars>) -> String {
    let (mut out, mut depth) = (String::new(), 0);
    while let Some(char) = rest.next_if(|char| depth > 0 || !matches!(char, ',' | '}')) {
        match char {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        out.push(char);
        if char == '"' {
            out += &text(&string(rest))[1..];
        }
    }
    out.truncate(out.trim_end().len());
    out
}

impl Args {
    pub fn get<T: FromStr>(&self, name: &str) -> T {
        let value = self.0.get(name).and_then(|value| value.parse().ok());
        value.unwrap_or_else(|| fail("E_USAGE", &format!("this run has no '{name}' of this type")))
    }
}

/// Reports an error and ends the tool.
pub fn fail(code: &str, message: &str) -> ! {
    emit("error", &[("code", text(code)), ("msg", text(message))]);
    std::process::exit(EXIT_FATAL);
}

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
