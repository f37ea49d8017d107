//! The bytes of one connection, as the HTTP dispatcher reads and writes them.
//!
//! The dispatcher of actix-http decodes all requests in its read buffer of 128 KiB before it
//! answers the first one, even if the client does not read the responses. Each pipelined request of
//! 18 bytes then takes about 6 KB. Therefore the dispatcher gets one request at a time here, and
//! none while the client does not read.

use std::{
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
};

use actix_web::{
    rt::net::TcpStream,
    web::{Buf, BytesMut},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    connections::{Connection, NextRead},
    framing::{BodyFraming, HeadReader},
};

/// Bytes of a body that the dispatcher gets at once.
const MAX_BODY_READ: usize = 32 * 1024;

/// Bytes read ahead during a request, to notice when the client disconnects.
const MAX_READ_AHEAD: usize = 1024;

/// The reading and writing side of a connection.
pub struct ConnectionIo {
    socket: TcpStream,
    pub connection: Rc<Connection>,
    /// Bytes that were read before the dispatcher may have them.
    read_ahead: BytesMut,
    head: HeadReader,
    /// Whether the dispatcher must process what it has before it reads on.
    pause: bool,
}

impl ConnectionIo {
    pub fn new(socket: TcpStream, connection: Rc<Connection>) -> ConnectionIo {
        ConnectionIo {
            socket,
            connection,
            read_ahead: BytesMut::new(),
            head: HeadReader::default(),
            pause: false,
        }
    }

    /// Fills the buffer from the bytes read ahead, or else from the socket.
    fn poll_buffered(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read_ahead.is_empty() {
            // Frees the memory of an empty buffer.
            self.read_ahead = BytesMut::new();
            return Pin::new(&mut self.socket).poll_read(context, buffer);
        }
        let length = buffer.remaining().min(self.read_ahead.len());
        buffer.put_slice(&self.read_ahead[..length]);
        self.read_ahead.advance(length);
        Poll::Ready(Ok(()))
    }

    /// Reads a request's head, and nothing after its end.
    fn poll_head(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(self.poll_buffered(context, buffer))?;
        if let Some(escaped) = self.head.escape_target(&buffer.filled()[before..]) {
            buffer.set_filled(before);
            self.unread(&escaped);
            ready!(self.poll_buffered(context, buffer))?;
        }
        if let Some(length) = self.head.read(&mut buffer.filled_mut()[before..]) {
            self.put_back(buffer, before + length);
            self.pause = true;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads a part of a request's body, and nothing after its end.
    fn poll_body(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
        mut body: BodyFraming,
    ) -> Poll<io::Result<()>> {
        let limit = buffer.remaining().min(MAX_BODY_READ);
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(limit));
        ready!(self.poll_buffered(context, &mut part))?;
        let length = body.read(part.filled());
        self.put_back(&mut part, length);
        buffer.advance(length);
        self.connection.set_body(body);
        self.pause = true;
        Poll::Ready(Ok(()))
    }

    /// Moves the bytes of the buffer from this position on back to the bytes read ahead.
    fn put_back(&mut self, buffer: &mut ReadBuf<'_>, from: usize) {
        self.unread(&buffer.filled()[from..]);
        buffer.set_filled(from);
    }

    /// Puts bytes before those read ahead.
    fn unread(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            let mut read_ahead = BytesMut::from(bytes);
            read_ahead.extend_from_slice(&self.read_ahead);
            self.read_ahead = read_ahead;
        }
    }

    /// Checks whether the client has disconnected. What it sends instead is kept for later.
    fn poll_disconnect(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.read_ahead.is_empty() {
            return Poll::Pending;
        }
        let mut bytes = [0; MAX_READ_AHEAD];
        let mut buffer = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.socket).poll_read(context, &mut buffer))?;
        if buffer.filled().is_empty() {
            return Poll::Ready(if self.connection.waits.get() {
                Err(io::ErrorKind::BrokenPipe.into())
            } else {
                Ok(())
            });
        }
        self.read_ahead.extend_from_slice(buffer.filled());
        Poll::Pending
    }
}

impl AsyncRead for ConnectionIo {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.connection.ended.get() {
            return Poll::Ready(Ok(()));
        }
        if std::mem::take(&mut this.pause) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.connection.set_reader(context.waker());
        match this.connection.next_read() {
            NextRead::Head => this.poll_head(context, buffer),
            NextRead::Body(body) => this.poll_body(context, buffer, body),
            NextRead::Nothing => this.poll_disconnect(context),
        }
    }
}

impl AsyncWrite for ConnectionIo {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.connection.ended.get() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if let Some(refusal) = this.connection.describe_refusal(bytes) {
            // It is short and the last response, so that the socket has room for all of it.
            let written = Pin::new(&mut this.socket).poll_write(context, refusal.as_bytes());
            return written.map_ok(|_| bytes.len());
        }
        let written = Pin::new(&mut this.socket).poll_write(context, bytes);
        match &written {
            Poll::Pending => this.connection.set_stalled(true)?,
            Poll::Ready(Ok(length)) if *length == bytes.len() => {
                this.connection.set_stalled(false)?;
            }
            Poll::Ready(_) => {}
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}
