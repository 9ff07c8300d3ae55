//! Lines of JSON with the bench: descriptor 3 in, descriptor 4 out.

use crate::runtimes::Runtime;
use crate::workflow::{self, Task};
use futures_channel::mpsc::{unbounded, UnboundedReceiver};
use futures_util::StreamExt;
use serde_json::{json, Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::io::FromRawFd;
use std::sync::{Arc, Mutex};

const PROTOCOL: u64 = 1;

/// The end that answers are written to; a line at a time, whoever writes.
#[derive(Clone)]
pub struct Replies(Arc<Mutex<File>>);

impl Replies {
    pub fn say(&self, message: &Value) {
        let line = format!("{}\n", message);
        // A bench that has gone away reads nothing any more: there is nobody left to tell.
        let _ = self.0.lock().expect("nobody panics while it writes").write_all(line.as_bytes());
    }
}

/// Answers lines until the bench says close or goes away.
pub async fn serve<R: Runtime>(runtime: R, agents: usize) {
    let mut lines = incoming();
    let replies = Replies(Arc::new(Mutex::new(unsafe { File::from_raw_fd(4) })));
    let mut config = Map::new();
    while let Some(line) = lines.next().await {
        let message: Value = match serde_json::from_str(&line) {
            Ok(message) => message,
            Err(_) => continue,
        };
        if let Some(hello) = message.get("hello") {
            config = hello["config"].as_object().cloned().unwrap_or_default();
            replies.say(&json!({"ok": {"protocol": PROTOCOL, "in_flight": agents}}));
        } else if let Some(case) = message.get("run") {
            let task = Task::from_input(&config, &case["input"]);
            runtime.spawn(Box::pin(answer(runtime, task, message["id"].clone(), replies.clone())));
        } else if message.get("close").is_some() {
            return;
        }
    }
}

async fn answer<R: Runtime>(runtime: R, task: Result<Task, String>, id: Value, replies: Replies) {
    let streamed = |text: &str| replies.say(&json!({"chunk": text, "id": id}));
    let done = match task {
        Ok(task) => workflow::work(runtime, &task, &streamed).await,
        Err(problem) => Err(problem),
    };
    match done {
        Ok(report) => replies.say(&json!({"ok": {"output": report, "observed": {"runtime": runtime.name()}}, "id": id})),
        Err(problem) => replies.say(&json!({"error": problem, "id": id})),
    }
}

/// Lines of descriptor 3, read by a thread of their own: no runtime here reads pipes without one.
fn incoming() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded();
    std::thread::spawn(move || {
        let lines = BufReader::new(unsafe { File::from_raw_fd(3) }).lines();
        for line in lines.map_while(Result::ok) {
            if sender.unbounded_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
