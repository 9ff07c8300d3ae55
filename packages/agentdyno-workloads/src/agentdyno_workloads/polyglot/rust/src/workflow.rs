//! Read documents, analyse them, report: what one agent does with one case.

use crate::model::{Dialect, Endpoint};
use crate::runtimes::Runtime;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A case: which documents, which model, with which options.
pub struct Task {
    notes: Notes,
    endpoint: Endpoint,
}

enum Notes {
    Folder(PathBuf),
    Text(String),
}

impl Task {
    /// An object says `documents` (a folder) or `text`, `url`, `dialect`, `model`, `options`; any other input is the
    /// text. What it leaves out is that of the agent's configuration, then of the environment.
    pub fn from_input(config: &Map<String, Value>, input: &Value) -> Result<Task, String> {
        let mut given = config.clone();
        match input {
            Value::Object(own) => given.extend(own.clone()),
            other => {
                let text = other.as_str().map_or_else(|| other.to_string(), str::to_string);
                given.remove("documents");
                given.insert("text".to_string(), Value::String(text));
            }
        };
        let word = |name: &str| given.get(name).and_then(Value::as_str).map(str::to_string);
        let notes = match (word("documents"), word("text")) {
            (Some(folder), _) => Notes::Folder(PathBuf::from(folder)),
            (None, Some(text)) => Notes::Text(text),
            (None, None) => return Err("the case names neither documents nor text".to_string()),
        };
        let environ = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (dialect, url) = match (word("url"), environ("OPENAI_BASE_URL"), environ("OLLAMA_HOST")) {
            (Some(url), _, _) => (word("dialect").unwrap_or_else(|| "openai".to_string()), url),
            (None, Some(url), _) => ("openai".to_string(), url),
            (None, None, Some(url)) => ("ollama".to_string(), url),
            (None, None, None) => {
                return Err("no model: give the case a url, or set OPENAI_BASE_URL or OLLAMA_HOST".to_string())
            }
        };
        let endpoint = Endpoint {
            dialect: Dialect::named(&dialect)?,
            url: url.trim_end_matches('/').to_string(),
            model: word("model").or_else(|| environ("MODEL")).unwrap_or_else(|| "default".to_string()),
            options: given.get("options").and_then(Value::as_object).cloned().unwrap_or_default(),
            key: environ("OPENAI_API_KEY"),
        };
        Ok(Task { notes, endpoint })
    }
}

/// The report. Both answers of the model are passed to `streamed` piece by piece, as they come.
pub async fn work<R: Runtime>(runtime: R, task: &Task, streamed: &(dyn Fn(&str) + Sync)) -> Result<String, String> {
    let notes = match &task.notes {
        Notes::Folder(folder) => read_documents(folder)?,
        Notes::Text(text) => text.clone(),
    };
    let analysis = format!("Name the two most urgent problems in these notes, one line each.\n\n{}", notes);
    let analysis = task.endpoint.ask(runtime, &analysis, streamed).await?;
    let report = format!("Write a report of three sentences for a manager from this analysis:\n\n{}", analysis);
    task.endpoint.ask(runtime, &report, streamed).await
}

/// Every text file of a folder, in the order of their names; none is an error.
fn read_documents(folder: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("{}: {}", folder.display(), error);
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().map_or(false, |ending| ending == "txt") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(format!("{}: there is no .txt file to read", folder.display()));
    }
    files.sort();
    let texts: Result<Vec<String>, _> = files.iter().map(std::fs::read_to_string).collect();
    Ok(texts.map_err(unreadable)?.join("\n"))
}
