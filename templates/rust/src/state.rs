//! What survives a kill, questions, and signs of life. A tool that uses none of them may remove this file.
#![allow(dead_code)]

use crate::acor::{check_cancel, emit, fail, object, text, Args};
use std::fs::{create_dir_all, read_to_string, rename, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread::{sleep, spawn, JoinHandle};
use std::time::Duration;

const POLL_EVERY: Duration = Duration::from_millis(100);

/// How many questions this process has asked.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Keeps the state of a stage, a JSON object: `acor resume` starts the tool again with it. It is on the disk when this returns.
pub fn save_checkpoint(stage: &str, data: &str) {
    let version = read_checkpoint(stage).map_or(0, |saved| saved.get::<u64>("version")) + 1;
    let json = format!("{{\"stage\":{},\"version\":{version},\"data\":{data}}}\n", text(stage));
    if let Err(error) = write_all(&checkpoint_file(stage), &json) {
        fail("E_STORAGE", &format!("the checkpoint cannot be saved: {error}"));
    }
}

/// The state that was saved last; none when this stage has none yet.
pub fn load_checkpoint(stage: &str) -> Option<Args> {
    read_checkpoint(stage).map(|saved| object(&saved.get::<String>("data")))
}

fn read_checkpoint(stage: &str) -> Option<Args> {
    let path = checkpoint_file(stage);
    match read_to_string(&path) {
        Ok(json) if json.ends_with("}\n") => Some(object(&json)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        _ => fail("E_STORAGE", &format!("{} is not a checkpoint", path.display())),
    }
}

/// A kill leaves no part of a file.
fn write_all(path: &Path, content: &str) -> std::io::Result<()> {
    create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let draft = path.with_extension("tmp");
    let mut file = File::create(&draft)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    rename(draft, path)
}

fn checkpoint_file(stage: &str) -> PathBuf {
    let folder = std::env::var("CHECKPOINT_DIR").unwrap_or(".checkpoints".into());
    Path::new(&folder).join(format!("{stage}.json"))
}

/// Asks a question and waits for the answer, which may be there from an earlier attempt. List the action under `actions` in tool.yaml.
pub fn ask(action: &str, msg: &str, options: &[&str]) -> String {
    let (id, path) = next_question(action);
    let mut is_asked = false;
    loop {
        if let Ok(json) = read_to_string(&path) {
            return object(&json).get("answer");
        }
        if !is_asked {
            let ids: Vec<String> = options.iter().map(|id| format!("{{\"id\":{}}}", text(id))).collect();
            let mut question = vec![
                ("action", text(action)),
                ("action_id", text(&id)),
                ("msg", text(msg)),
                ("blocking", "true".to_string()),
                ("context", "{}".to_string()),
            ];
            if !ids.is_empty() {
                question.push(("options", format!("[{}]", ids.join(","))));
            }
            emit("action_required", &question);
            is_asked = true;
        }
        check_cancel();
        sleep(POLL_EVERY);
    }
}

/// The next question's id, a-1, a-2 … in the order of asking, and the file of its answer. A number whose answer belongs to another action is
/// left out: an attempt that resumes may not ask everything again.
fn next_question(action: &str) -> (String, PathBuf) {
    let folder = std::env::var("ANSWERS_DIR").unwrap_or_default();
    loop {
        let id = format!("a-{}", ASKED.fetch_add(1, Ordering::Relaxed) + 1);
        let path = Path::new(&folder).join(format!("{id}.json"));
        match read_to_string(&path) {
            Ok(json) if object(&json).get::<String>("action") != action => continue,
            _ => return (id, path),
        }
    }
}

/// Shows that a long step without messages is at work, until it is dropped.
pub struct Heartbeat(Option<Sender<()>>, Option<JoinHandle<()>>);

pub fn heartbeat(step: &str, every: Duration) -> Heartbeat {
    let step = text(step);
    let (stop, stopped) = channel::<()>();
    let beats = spawn(move || {
        while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            emit("heartbeat", &[("step", step.clone())]);
        }
    });
    Heartbeat(Some(stop), Some(beats))
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.take();
        self.1.take().map(JoinHandle::join);
    }
}
