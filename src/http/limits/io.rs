//! The bytes of one connection, as the HTTP dispatcher reads and writes them.
//!
//! The dispatcher of actix-http decodes all requests in its read buffer of 128 KiB before it
//! answers the first of them, whether the client reads the answers or not. A pipelined request of
//! 18 bytes takes some 6 KB then. Therefore the dispatcher is given one request at a time here, and
//! none while the client leaves unread what was sent.

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
    connections::{Connection, Wanted},
    framing::{BodyFraming, HeadEnd},
};

/// Bytes of a body that are handed over at once.
const BODY: usize = 32 * 1024;

/// Bytes that are read ahead while a request is being answered, to see whether the client goes.
const AHEAD: usize = 1024;

/// The two directions of a connection.
pub struct ConnectionIo {
    socket: TcpStream,
    connection: Rc<Connection>,
    /// What was read and is not wanted yet.
    ahead: BytesMut,
    head: HeadEnd,
    /// Whether the dispatcher is to look at what it has before it reads on.
    pause: bool,
}

impl ConnectionIo {
    pub fn new(socket: TcpStream, connection: Rc<Connection>) -> ConnectionIo {
        ConnectionIo {
            socket,
            connection,
            ahead: BytesMut::new(),
            head: HeadEnd::default(),
            pause: false,
        }
    }

    pub fn connection(&self) -> &Rc<Connection> {
        &self.connection
    }

    /// Fills the buffer with what was read ahead, or else from the socket.
    fn poll_take(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            // A connection that has read nothing ahead keeps no memory for it.
            self.ahead = BytesMut::new();
            return Pin::new(&mut self.socket).poll_read(context, buffer);
        }
        let length = buffer.remaining().min(self.ahead.len());
        buffer.put_slice(&self.ahead[..length]);
        self.ahead.advance(length);
        Poll::Ready(Ok(()))
    }

    /// Reads up to the end of a request's head.
    fn poll_head(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(self.poll_take(context, buffer))?;
        if let Some(length) = self.head.find(&buffer.filled()[before..]) {
            self.keep_back(buffer, before + length);
            self.pause = true;
        }
        Poll::Ready(Ok(()))
    }

    /// Reads some of a request's body, and nothing after its end.
    fn poll_body(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
        mut body: BodyFraming,
    ) -> Poll<io::Result<()>> {
        let limit = buffer.remaining().min(BODY);
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(limit));
        ready!(self.poll_take(context, &mut part))?;
        let length = body.read(part.filled());
        self.keep_back(&mut part, length);
        buffer.advance(length);
        self.connection.set_body(body);
        self.pause = true;
        Poll::Ready(Ok(()))
    }

    /// Keeps what is in the buffer from there on for later.
    fn keep_back(&mut self, buffer: &mut ReadBuf<'_>, from: usize) {
        let back = &buffer.filled()[from..];
        if !back.is_empty() {
            let mut ahead = BytesMut::from(back);
            ahead.extend_from_slice(&self.ahead);
            self.ahead = ahead;
            buffer.set_filled(from);
        }
    }

    /// Sees whether the client has gone. What it sends instead waits.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            return Poll::Pending;
        }
        let mut bytes = [0; AHEAD];
        let mut buffer = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.socket).poll_read(context, &mut buffer))?;
        if buffer.filled().is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.ahead.extend_from_slice(buffer.filled());
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
        this.connection.wake_later(context.waker());
        match this.connection.wanted() {
            Wanted::Head => this.poll_head(context, buffer),
            Wanted::Body(body) => this.poll_body(context, buffer, body),
            Wanted::Nothing => this.poll_end(context),
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
