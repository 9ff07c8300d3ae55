//! tokio, with a thread for each CPU (`TokioDefault`) and on one thread with a `LocalSet` (`TokioLocalSet`).

use super::{Connecting, Job, Runtime};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::{spawn_local, LocalSet};

#[derive(Clone, Copy)]
pub struct TokioDefault;

impl Runtime for TokioDefault {
    type Stream = TcpStream;

    fn name(self) -> &'static str {
        "tokio-default"
    }

    fn run(self, job: Job) {
        Builder::new_multi_thread().enable_all().build().expect("a runtime").block_on(job);
    }

    fn spawn(self, job: Job) {
        tokio::spawn(job);
    }

    fn connect(self, address: String) -> Connecting<TcpStream> {
        Box::pin(TcpStream::connect(address))
    }
}

#[derive(Clone, Copy)]
pub struct TokioLocalSet;

impl Runtime for TokioLocalSet {
    type Stream = TcpStream;

    fn name(self) -> &'static str {
        "tokio-localset"
    }

    fn run(self, job: Job) {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, job);
    }

    fn spawn(self, job: Job) {
        spawn_local(job);
    }

    fn connect(self, address: String) -> Connecting<TcpStream> {
        Box::pin(TcpStream::connect(address))
    }
}
