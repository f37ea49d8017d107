//! Where a request's head and body end in the bytes of a connection.
//!
//! This only says when the dispatcher gets to see the next bytes. What they mean, and whether they
//! are valid, is up to the dispatcher.

use std::slice;

use actix_web::{
    dev::RequestHead,
    http::{Version, header},
};

/// Finds the empty line that ends a request's head, wherever the reads cut it. A line ends with LF,
/// with or without CR before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadEnd {
    #[default]
    InLine,
    /// After the end of a line.
    LineBegins,
    /// After the end of a line and a CR.
    AfterCr,
}

impl HeadEnd {
    /// How many of these bytes belong to the head, if it ends in them.
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            *self = match (*self, byte) {
                (HeadEnd::LineBegins | HeadEnd::AfterCr, b'\n') => {
                    *self = HeadEnd::InLine;
                    return Some(at + 1);
                }
                (HeadEnd::LineBegins, b'\r') => HeadEnd::AfterCr,
                (_, b'\n') => HeadEnd::LineBegins,
                _ => HeadEnd::InLine,
            };
        }
        None
    }
}

/// `Connection:`, in lower case.
const CONNECTION: &[u8] = b"connection:";

/// The name of a field, and of an option of `Connection`.
const UPGRADE: &[u8] = b"upgrade";

/// Maximum bytes of the name of a field. The dispatcher panics at one of more than 64 KiB.
const MAX_NAME: usize = 32 * 1024;

/// What people type in an address, and the dispatcher refuses or takes as it is, besides letters
/// beyond ASCII.
const TYPED: &[u8] = b"\"<>`|";

/// Where in the first line of a head the next byte is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FirstLine {
    #[default]
    Method,
    Target,
    Ended,
}

/// A request's head, wherever the reads cut it. It finds the end, hides requests for another
/// protocol, and makes the dispatcher refuse a name that is too long.
///
/// The dispatcher answers a request with `Connection: upgrade` with the same field and closes the
/// connection, and takes all that follows `Upgrade: websocket` for the body. The server switches to
/// no other protocol, so it is to ignore both (RFC 9110, section 7.8).
#[derive(Debug, Default)]
pub struct HeadReader {
    end: HeadEnd,
    first_line: FirstLine,
    /// What must follow for the name or the option to be one that is sought; empty if it is
    /// another.
    rest: &'static [u8],
    /// Whether this is a line with options of the connection, after its name.
    in_options: bool,
    /// The bytes of the field's name so far; none after it, and in the first line.
    name: Option<usize>,
}

impl HeadReader {
    /// These bytes, if the request's target has some of [`TYPED`] or beyond ASCII in them, with
    /// these escaped. They are to be read in place of those; reading them twice does no harm.
    pub fn escape_target(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let (mut escaped, mut done) = (Vec::new(), 0);
        for (at, byte) in bytes.iter().enumerate() {
            self.first_line = match (self.first_line, byte) {
                (FirstLine::Ended, _) => break,
                (_, b'\n') => FirstLine::Ended,
                (FirstLine::Method, b' ') => FirstLine::Target,
                (part, _) => part,
            };
            let is_typed = !byte.is_ascii() || TYPED.contains(byte);
            if is_typed && self.first_line == FirstLine::Target {
                escaped.extend_from_slice(&bytes[done..at]);
                escaped.extend_from_slice(format!("%{byte:02X}").as_bytes());
                done = at + 1;
            }
        }
        if done == 0 {
            return None;
        }
        escaped.extend_from_slice(&bytes[done..]);
        Some(escaped)
    }

    /// How many of these bytes belong to the head, if it ends in them. A letter of each field and
    /// option `upgrade` is replaced, which makes it one that nobody knows. What exceeds a name is
    /// replaced by bytes that no name has.
    pub fn read(&mut self, bytes: &mut [u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            let seeks = self.in_options || !self.rest.is_empty();
            if self.end == HeadEnd::InLine && !seeks {
                // The rest of the line needs no look at each byte.
                let end = bytes[at..].iter().position(|&byte| byte == b'\n');
                let line = end.map_or(bytes.len(), |length| at + length);
                self.limit_name(&mut bytes[at..line]);
                at += end?;
            }
            let begins = self.end == HeadEnd::LineBegins;
            if self.end.find(&[bytes[at]]).is_some() {
                *self = HeadReader::default();
                return Some(at + 1);
            }
            self.replace(&mut bytes[at], begins);
            at += 1;
        }
        None
    }

    /// Replaces the byte if it ends an `upgrade`; `begins` is set for the first one of a line.
    fn replace(&mut self, byte: &mut u8, begins: bool) {
        if begins {
            self.in_options = false;
            self.rest = match byte.to_ascii_lowercase() {
                b'c' => CONNECTION,
                b'u' => UPGRADE,
                _ => &[],
            };
            self.name = Some(0);
        }
        if *byte != b'\n' {
            self.limit_name(slice::from_mut(byte));
        }
        match self.rest.split_first() {
            Some((next, rest)) if byte.eq_ignore_ascii_case(next) => {
                self.rest = rest;
                if rest.is_empty() && *next == b':' {
                    self.in_options = true;
                    self.rest = UPGRADE;
                } else if rest.is_empty() {
                    *byte = b'x';
                }
            }
            // Before an option.
            Some(_) if self.rest == UPGRADE && b" \t".contains(byte) => {}
            _ if self.in_options && *byte == b',' => self.rest = UPGRADE,
            _ => self.rest = &[],
        }
    }

    /// Replaces what exceeds a name in these bytes of a line.
    fn limit_name(&mut self, bytes: &mut [u8]) {
        let Some(before) = self.name else {
            return;
        };
        let end = bytes.iter().position(|&byte| byte == b':');
        let length = end.unwrap_or(bytes.len());
        let allowed = MAX_NAME.saturating_sub(before).min(length);
        bytes[allowed..length].fill(b'\0');
        self.name = end.is_none().then_some(before + length);
    }
}

/// What is left of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFraming {
    /// This many bytes.
    Length(u64),
    /// Chunks (RFC 9112, section 7.1).
    Chunked(Chunks),
}

/// Where in a chunked body the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunks {
    /// In the line that begins a chunk, with the size as far as it was read.
    Size(u64),
    /// In the same line, after the size.
    Extension(u64),
    /// In a chunk with this many bytes left.
    Data(u64),
    /// In the end of the line after a chunk's data.
    AfterData,
    /// In the lines after the last chunk.
    Trailer(HeadEnd),
}

impl BodyFraming {
    /// No body, or nothing left of it.
    pub const NONE: BodyFraming = BodyFraming::Length(0);

    /// The body of a request with this head, which the dispatcher has found valid. Like the
    /// dispatcher, this knows the transfer encoding `chunked` only, and none in HTTP/1.0.
    pub fn from_head(head: &RequestHead) -> BodyFraming {
        let encoding = head.headers.get(header::TRANSFER_ENCODING);
        if head.version == Version::HTTP_11
            && encoding.is_some_and(|encoding| {
                let encoding = encoding.as_bytes().trim_ascii();
                encoding.eq_ignore_ascii_case(b"chunked")
            })
        {
            return BodyFraming::Chunked(Chunks::Size(0));
        }
        let length = head.headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.trim().parse().ok());
        BodyFraming::Length(length.unwrap_or(0))
    }

    /// Consumes these bytes, and returns how many of them belong to the body.
    pub fn read(&mut self, bytes: &[u8]) -> usize {
        match self {
            BodyFraming::Length(left) => {
                let length = usize::try_from(*left).unwrap_or(usize::MAX);
                let length = length.min(bytes.len());
                *left -= length as u64;
                length
            }
            BodyFraming::Chunked(chunks) => match chunks.find(bytes) {
                Some(length) => {
                    *self = BodyFraming::NONE;
                    length
                }
                None => bytes.len(),
            },
        }
    }
}

impl Chunks {
    /// How many of these bytes belong to the body, if it ends in them.
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            *self = match *self {
                Chunks::Size(0) | Chunks::Extension(0) if byte == b'\n' => {
                    Chunks::Trailer(HeadEnd::LineBegins)
                }
                Chunks::Size(size) | Chunks::Extension(size) if byte == b'\n' => Chunks::Data(size),
                Chunks::Size(size) => match char::from(byte).to_digit(16) {
                    Some(digit) => {
                        let size = size.saturating_mul(16);
                        Chunks::Size(size.saturating_add(digit.into()))
                    }
                    None => Chunks::Extension(size),
                },
                Chunks::Extension(size) => Chunks::Extension(size),
                Chunks::Data(left) => {
                    let more = usize::try_from(left - 1).unwrap_or(usize::MAX);
                    let more = more.min(bytes.len() - at);
                    at += more;
                    match left - 1 - more as u64 {
                        0 => Chunks::AfterData,
                        left => Chunks::Data(left),
                    }
                }
                Chunks::AfterData if byte == b'\n' => Chunks::Size(0),
                Chunks::AfterData => Chunks::AfterData,
                Chunks::Trailer(mut end) => {
                    if end.find(&[byte]).is_some() {
                        return Some(at);
                    }
                    Chunks::Trailer(end)
                }
            };
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_head_is_found_wherever_it_is_cut() {
        for (head, rest) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET"),
            ("GET / HTTP/1.1\nHost: a\n\n", "\r\n\r\n"),
            ("GET / HTTP/1.1\nHost: a\n\r\n", ""),
            ("GET / HTTP/1.1\r\nHost:\r a\r\n\n", "x"),
        ] {
            let text = [head, rest].concat();
            for cut in 0..=text.len() {
                let (first, second) = text.as_bytes().split_at(cut);
                let mut end = HeadEnd::default();
                let found = end.find(first).or_else(|| Some(cut + end.find(second)?));
                assert_eq!(found, Some(head.len()), "{text:?} cut at {cut}");
            }
        }
        let unfinished = b"GET / HTTP/1.1\r\nHost: a\r\n";
        assert_eq!(HeadEnd::default().find(unfinished), None);
    }

    #[test]
    fn no_head_asks_for_another_protocol() {
        for (sent, read) in [
            ("Connection: Upgrade", "Connection: Upgradx"),
            ("CONNECTION:a,\tupGRADE , H", "CONNECTION:a,\tupGRADx , H"),
            (
                "connection: , upgrade,upgrade",
                "connection: , upgradx,upgradx",
            ),
            ("Upgrade: websocket", "Upgradx: websocket"),
            ("Connection: a, to upgrade", "Connection: a, to upgrade"),
            ("X-Upgrade: upgrade", "X-Upgrade: upgrade"),
            ("Connectio: upgrade", "Connectio: upgrade"),
            ("X: connection: upgrade", "X: connection: upgrade"),
        ] {
            let text =
                |field: &str| format!("GET /upgrade HTTP/1.1\r\n{field}\r\nc: ,upgrade\r\n\r\n");
            let (sent, read) = (text(sent), text(read));
            let rest = "connection: upgrade";
            for cut in 0..=sent.len() {
                let mut bytes = [sent.as_str(), rest].concat().into_bytes();
                let (first, second) = bytes.split_at_mut(cut);
                let mut head = HeadReader::default();
                let found = head.read(first).or_else(|| Some(cut + head.read(second)?));
                assert_eq!(found, Some(sent.len()), "{sent:?} cut at {cut}");
                assert_eq!(bytes, [read.as_str(), rest].concat().into_bytes());
            }
        }
    }

    #[test]
    fn a_target_is_read_as_if_it_were_escaped() {
        let sent = "GET /a|b?q=<\u{f6}>&x=\"%20` HTTP/1.1\r\nA: <\u{f6}>\r\n\r\nGET /<";
        let read = "GET /a%7Cb?q=%3C%C3%B6%3E&x=%22%20%60 HTTP/1.1\r\nA: <\u{f6}>\r\n\r\nGET /<";
        for cut in 0..=sent.len() {
            let (first, second) = sent.as_bytes().split_at(cut);
            let mut head = HeadReader::default();
            let read_all = [first, second].map(|part| {
                let escaped = head.escape_target(part).unwrap_or(part.to_vec());
                assert_eq!(head.escape_target(&escaped), None);
                escaped
            });
            let text = String::from_utf8(read_all.concat());
            assert_eq!(text.as_deref(), Ok(read), "cut at {cut}");
        }
        for method in ["G<T / HTTP/1.1\r\n", "\u{16}\u{3}|\u{fc}"] {
            assert_eq!(HeadReader::default().escape_target(method.as_bytes()), None);
        }
    }

    #[test]
    fn a_name_has_a_length() {
        for (length, is_valid) in [(1, true), (MAX_NAME, true), (MAX_NAME + 1, false)] {
            let (name, value) = ("x".repeat(length), "y".repeat(2 * MAX_NAME));
            let sent = format!("GET / HTTP/1.1\r\na: {value}\r\n{name}: {value}\r\n\r\n");
            for cut in [0, 20, sent.len() - value.len() - 10] {
                let mut bytes = sent.clone().into_bytes();
                let (first, second) = bytes.split_at_mut(cut);
                let mut head = HeadReader::default();
                assert_eq!(head.read(first), None);
                assert_eq!(head.read(second), Some(second.len()));
                assert_eq!(bytes == sent.as_bytes(), is_valid, "{length} cut at {cut}");
            }
        }
    }

    #[test]
    fn the_end_of_a_body_is_found_wherever_it_is_cut() {
        let chunked = BodyFraming::Chunked(Chunks::Size(0));
        for (body, text, rest) in [
            (BodyFraming::Length(5), "12345", "GET"),
            (BodyFraming::NONE, "", "GET"),
            (chunked, "0\r\n\r\n", "GET"),
            (chunked, "1\r\na\r\n0\r\n\r\n", "0\r\n\r\n"),
            (
                chunked,
                "00f;a=0\r\n0\r\n\r\n0\r\n\r\n01234\r\n0;b\r\nc: d\r\n\r\n",
                "GET",
            ),
            (chunked, "a\n0123456789\n2\n01\n0\n\n", "\n\n"),
        ] {
            let all = [text, rest].concat();
            for cut in 0..=all.len() {
                let (first, second) = all.as_bytes().split_at(cut);
                let mut body = body;
                let length = body.read(first) + body.read(second);
                assert_eq!(length, text.len(), "{text:?} cut at {cut}");
                assert_eq!(body, BodyFraming::NONE);
            }
        }
        let mut endless = BodyFraming::Chunked(Chunks::Size(0));
        assert_eq!(endless.read(b"ffffffffffffffffffff\r\nxyz"), 25);
    }
}
