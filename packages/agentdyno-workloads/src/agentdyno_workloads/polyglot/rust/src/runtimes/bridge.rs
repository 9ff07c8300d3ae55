//! Streams of the `futures` world for a library that wants those of tokio. No runtime of tokio is involved.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub struct Bridge<S>(pub S);

impl<S: futures_io::AsyncRead + Unpin> AsyncRead for Bridge<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let room = buffer.initialize_unfilled();
        Pin::new(&mut self.0).poll_read(context, room).map_ok(|count| buffer.advance(count))
    }
}

impl<S: futures_io::AsyncWrite + Unpin> AsyncWrite for Bridge<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(context)
    }
}
