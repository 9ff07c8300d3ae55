//! What the agent needs of an asynchronous runtime, and the runtimes that are compared.

#[cfg(feature = "async-std-runtime")]
pub mod async_std_pool;
#[cfg(any(feature = "async-std-runtime", feature = "smol-runtime"))]
mod bridge;
#[cfg(feature = "smol-runtime")]
pub mod smol_executor;
#[cfg(feature = "tokio-runtime")]
pub mod tokio_pool;

use std::future::Future;
use std::io;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};

pub type Job = Pin<Box<dyn Future<Output = ()> + Send>>;
pub type Connecting<S> = Pin<Box<dyn Future<Output = io::Result<S>> + Send>>;

pub trait Runtime: Copy + Send + Sync + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The name by which the bench knows it.
    fn name(self) -> &'static str;

    /// Runs a job to its end on this thread.
    fn run(self, job: Job);

    /// Starts a job beside the others.
    fn spawn(self, job: Job);

    /// Opens a connection to `host:port`.
    fn connect(self, address: String) -> Connecting<Self::Stream>;

    /// Bytes that are read from a connection at a time; `None` lets the HTTP library choose.
    fn read_bytes(self) -> Option<usize> {
        None
    }
}
