//! smol, as it comes (one thread for all jobs, unless `SMOL_THREADS` says otherwise), and with small reads.

use super::bridge::Bridge;
use super::{Connecting, Job, Runtime};
use smol::net::TcpStream;

#[derive(Clone, Copy)]
pub struct Smol {
    name: &'static str,
    read_bytes: Option<usize>,
}

/// The HTTP library chooses how much it reads at a time.
pub const SMOL: Smol = Smol { name: "smol", read_bytes: None };

/// At most 1 KB of an answer is read at a time.
pub const SMOL_1KB: Smol = Smol { name: "smol-1kb", read_bytes: Some(1024) };

impl Runtime for Smol {
    type Stream = Bridge<TcpStream>;

    fn name(self) -> &'static str {
        self.name
    }

    fn run(self, job: Job) {
        smol::block_on(job);
    }

    fn spawn(self, job: Job) {
        smol::spawn(job).detach();
    }

    fn connect(self, address: String) -> Connecting<Self::Stream> {
        Box::pin(async { TcpStream::connect(address).await.map(Bridge) })
    }

    fn read_bytes(self) -> Option<usize> {
        self.read_bytes
    }
}
