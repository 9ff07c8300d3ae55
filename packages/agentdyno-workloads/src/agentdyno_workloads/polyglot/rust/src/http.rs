//! Requests to a model's server, each on a connection of its own: some servers close it after a streamed answer.

use crate::runtimes::Runtime;
use hyper::body::HttpBody;
use hyper::client::conn::{Builder, SendRequest};
use hyper::{Body, Request, StatusCode};

/// Sends a request to `http://host[:port]/base` + `path`; its answer is read line by line.
pub async fn post<R: Runtime>(
    runtime: R,
    url: &str,
    path: &str,
    body: String,
    key: Option<&str>,
) -> Result<Answer, String> {
    let mut connection = Connection::open(runtime, url).await?;
    connection.post(path, body, key).await
}

struct Connection {
    requests: SendRequest<Body>,
    host: String,
    base: String,
}

impl Connection {
    async fn open<R: Runtime>(runtime: R, url: &str) -> Result<Connection, String> {
        let rest = url.strip_prefix("http://").ok_or_else(|| format!("{}: only http:// is spoken here", url))?;
        let (host, base) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let address = if host.contains(':') { host.to_string() } else { format!("{}:80", host) };
        let stream = runtime.connect(address).await.map_err(|error| format!("{}: {}", url, error))?;
        let mut builder = Builder::new();
        if let Some(count) = runtime.read_bytes() {
            builder.http1_read_buf_exact_size(Some(count));
        }
        let (requests, connection) = builder.handshake(stream).await.map_err(|error| error.to_string())?;
        runtime.spawn(Box::pin(async {
            let _ = connection.await; // what goes wrong is told to the request that is under way
        }));
        Ok(Connection { requests, host: host.to_string(), base: base.to_string() })
    }

    async fn post(&mut self, path: &str, body: String, key: Option<&str>) -> Result<Answer, String> {
        let mut request = Request::post(format!("{}{}", self.base, path))
            .header("host", &self.host)
            .header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {}", key));
        }
        let request = request.body(Body::from(body)).map_err(|error| error.to_string())?;
        let response = self.requests.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        let mut answer = Answer { body: response.into_body(), held: Vec::new(), read: 0, ended: false };
        if status != StatusCode::OK {
            let said = answer.next_line().await.ok().flatten().unwrap_or_default();
            return Err(format!("the model's server answers {}: {}", status.as_u16(), said));
        }
        Ok(answer)
    }
}

pub struct Answer {
    body: Body,
    held: Vec<u8>,
    read: usize,
    ended: bool,
}

impl Answer {
    /// The next line without its line break; `None` at the end.
    pub async fn next_line(&mut self) -> Result<Option<String>, String> {
        loop {
            if let Some(length) = self.held[self.read..].iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&self.held[self.read..self.read + length]).into_owned();
                self.read += length + 1;
                return Ok(Some(line));
            }
            self.held.drain(..self.read);
            self.read = 0;
            if self.ended {
                let rest = std::mem::take(&mut self.held);
                return Ok(if rest.is_empty() { None } else { Some(String::from_utf8_lossy(&rest).into_owned()) });
            }
            match self.body.data().await {
                Some(Ok(data)) => self.held.extend_from_slice(&data),
                Some(Err(error)) => return Err(format!("the answer broke off: {}", error)),
                None => self.ended = true,
            }
        }
    }
}
