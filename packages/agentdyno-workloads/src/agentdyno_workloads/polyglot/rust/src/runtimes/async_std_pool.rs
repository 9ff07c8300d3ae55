//! async-std, as it comes: a pool with a thread for each CPU.

use super::bridge::Bridge;
use super::{Connecting, Job, Runtime};
use async_std::net::TcpStream;
use async_std::task;

#[derive(Clone, Copy)]
pub struct AsyncStd;

impl Runtime for AsyncStd {
    type Stream = Bridge<TcpStream>;

    fn name(self) -> &'static str {
        "async-std"
    }

    fn run(self, job: Job) {
        task::block_on(job);
    }

    fn spawn(self, job: Job) {
        task::spawn(job);
    }

    fn connect(self, address: String) -> Connecting<Self::Stream> {
        Box::pin(async { TcpStream::connect(address).await.map(Bridge) })
    }
}
