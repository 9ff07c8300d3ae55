//! Questions to a model, in OpenAI's or Ollama's dialect, with the answer as a stream.

use crate::http;
use crate::runtimes::Runtime;
use serde_json::{json, Map, Value};

pub enum Dialect {
    OpenAi,
    Ollama,
}

impl Dialect {
    pub fn named(name: &str) -> Result<Dialect, String> {
        match name {
            "openai" => Ok(Dialect::OpenAi),
            "ollama" => Ok(Dialect::Ollama),
            other => Err(format!("{:?} is no dialect; known are openai and ollama", other)),
        }
    }
}

/// Where a model is asked, and with which options; `max_tokens` is among them for both dialects.
pub struct Endpoint {
    pub dialect: Dialect,
    pub url: String,
    pub model: String,
    pub options: Map<String, Value>,
    pub key: Option<String>,
}

impl Endpoint {
    /// The whole answer; its pieces are passed to `streamed` as they come. An answer of nothing is an error.
    pub async fn ask<R: Runtime>(
        &self,
        runtime: R,
        prompt: &str,
        streamed: &(dyn Fn(&str) + Sync),
    ) -> Result<String, String> {
        let (path, body) = self.request(prompt);
        let mut answer = http::post(runtime, &self.url, path, body.to_string(), self.key.as_deref()).await?;
        let mut text = String::new();
        while let Some(line) = answer.next_line().await? {
            if let Some(piece) = self.piece_of(&line)? {
                streamed(&piece);
                text.push_str(&piece);
            }
        }
        if text.is_empty() {
            return Err("the model answered nothing".to_string());
        }
        Ok(text)
    }

    fn request(&self, prompt: &str) -> (&'static str, Value) {
        let messages = json!([{"role": "user", "content": prompt}]);
        let mut options = self.options.clone();
        match self.dialect {
            Dialect::OpenAi => {
                let mut body = json!({"model": self.model, "messages": messages, "stream": true,
                                      "stream_options": {"include_usage": true}});
                body.as_object_mut().expect("an object").append(&mut options);
                ("/chat/completions", body)
            }
            Dialect::Ollama => {
                if let Some(most) = options.remove("max_tokens") {
                    options.insert("num_predict".to_string(), most);
                }
                let body = json!({"model": self.model, "messages": messages, "stream": true, "options": options});
                ("/api/chat", body)
            }
        }
    }

    /// The content in one line of the stream; none in lines about other things.
    fn piece_of(&self, line: &str) -> Result<Option<String>, String> {
        let data = match self.dialect {
            Dialect::OpenAi => match line.strip_prefix("data:") {
                Some(data) => data.trim(),
                None => return Ok(None),
            },
            Dialect::Ollama => line.trim(),
        };
        if data.is_empty() || data == "[DONE]" {
            return Ok(None);
        }
        let event: Value = serde_json::from_str(data).map_err(|error| format!("a broken answer: {}", error))?;
        if let Some(problem) = event.get("error") {
            return Err(format!("the model's server says: {}", problem));
        }
        let content = match self.dialect {
            Dialect::OpenAi => &event["choices"][0]["delta"]["content"],
            Dialect::Ollama => &event["message"]["content"],
        };
        Ok(content.as_str().filter(|piece| !piece.is_empty()).map(str::to_string))
    }
}
