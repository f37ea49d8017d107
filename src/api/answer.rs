//! Answers to writes: sent, and remembered so that a retry gets the same one again.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use dog_rules::seat::Seat;
use hmac::{Hmac, KeyInit, Mac};
use rand::{TryRng, rngs::SysRng};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::Sha256;

use super::{
    problem::{Code, Problem},
    request::{IdempotencyKey, WriteRequest},
    wire::game::{Created, FreshToken, Ticket},
};
use crate::store::{Reader, Recorded, Scope, StoreError, Transaction, now};

/// An answer to a write, ready to be sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: StatusCode,
    pub etag: Option<String>,
    pub location: Option<String>,
    /// JSON; nothing for 204.
    pub body: String,
}

impl From<Answer> for HttpResponse {
    fn from(answer: Answer) -> HttpResponse {
        let mut response = HttpResponse::build(answer.status);
        response.insert_header((header::CACHE_CONTROL, "no-store"));
        if let Some(etag) = answer.etag {
            response.insert_header((header::ETAG, etag));
        }
        if let Some(location) = answer.location {
            response.insert_header((header::LOCATION, location));
        }
        if answer.body.is_empty() {
            return response.finish();
        }
        response.content_type("application/json").body(answer.body)
    }
}

/// An answer as it is remembered. Tokens are left out: they are derived again from the client's
/// key, which is not kept.
#[derive(Serialize, Deserialize)]
pub enum Memory {
    Plain {
        status: u16,
        etag: Option<String>,
        body: String,
    },
    Created {
        id: String,
        seats: u8,
        /// Those that have no token.
        #[serde(default)]
        bots: Vec<Seat>,
        salt: [u8; 16],
        etag: String,
        /// The game's view, as JSON.
        game: String,
    },
    FreshToken {
        seat: Seat,
        version: u64,
        salt: [u8; 16],
    },
    Ticket {
        salt: [u8; 16],
        expires_at: String,
    },
}

/// Makes a write's tokens: from the client's key, so that a retry can be given them again, or
/// from the operating system's randomness if it sent none.
pub struct TokenMaker {
    key: [u8; 32],
}

impl TokenMaker {
    /// For this request; `salt` is drawn for each write and remembered with its answer.
    ///
    /// # Errors
    /// `weak_idempotency_key`, if the tokens could be guessed from the key.
    pub fn new(key: Option<&IdempotencyKey>, salt: &[u8; 16]) -> Result<TokenMaker, Problem> {
        let Some(key) = key else {
            return Ok(TokenMaker { key: random() });
        };
        if !key.is_strong() {
            let code = Code::WeakIdempotencyKey;
            return Err(Problem::new(code, code.meaning()));
        }
        let mut mac = hmac(key.as_bytes());
        mac.update(b"dog-token-1");
        mac.update(salt);
        Ok(TokenMaker {
            key: mac.finalize().into_bytes().into(),
        })
    }

    /// The token of that name: 256 bits, as hex digits.
    pub fn token(&self, name: &str) -> String {
        let mut mac = hmac(&self.key);
        mac.update(name.as_bytes());
        let bytes = mac.finalize().into_bytes();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A seat's token.
    pub fn seat(&self, seat: Seat) -> String {
        self.token(&seat.to_string())
    }

    /// The host's token.
    pub fn host(&self) -> String {
        self.token("host")
    }

    /// A ticket for a stream.
    pub fn ticket(&self) -> String {
        self.token("ticket")
    }
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of every length")
}

/// Bytes from the operating system's randomness.
///
/// # Panics
/// If the operating system has none to give.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SysRng
        .try_fill_bytes(&mut bytes)
        .expect("the operating system has randomness");
    bytes
}

impl Memory {
    /// The answer, with the tokens that the client's key leads to.
    ///
    /// # Errors
    /// `weak_idempotency_key`, if the answer holds tokens and the key is too weak for them.
    pub fn answer(&self, key: Option<&IdempotencyKey>) -> Result<Answer, Problem> {
        match self {
            Memory::Plain { status, etag, body } => Ok(Answer {
                status: StatusCode::from_u16(*status).map_err(Problem::internal)?,
                etag: etag.clone(),
                location: None,
                body: body.clone(),
            }),
            Memory::Created {
                id,
                seats,
                bots,
                salt,
                etag,
                game,
            } => {
                let tokens = TokenMaker::new(key, salt)?;
                self::created(id, *seats, bots, &tokens, etag, game)
            }
            Memory::FreshToken {
                seat,
                version,
                salt,
            } => {
                let tokens = TokenMaker::new(key, salt)?;
                self::fresh_token(*seat, *version, &tokens)
            }
            Memory::Ticket { salt, expires_at } => {
                let tokens = TokenMaker::new(key, salt)?;
                self::ticket(&tokens, expires_at)
            }
        }
    }
}

/// The answer to a creation.
///
/// # Errors
/// `internal`, if `game` is no JSON.
pub fn created(
    id: &str,
    seats: u8,
    bots: &[Seat],
    tokens: &TokenMaker,
    etag: &str,
    game: &str,
) -> Result<Answer, Problem> {
    let game: &RawValue = serde_json::from_str(game).map_err(Problem::internal)?;
    let seat_tokens = Seat::all(seats)
        .map(|seat| (!bots.contains(&seat)).then(|| tokens.seat(seat)))
        .collect();
    let body = Created {
        id: id.to_owned(),
        seat_tokens,
        host_token: tokens.host(),
        game,
    };
    Ok(Answer {
        status: StatusCode::CREATED,
        etag: Some(etag.to_owned()),
        location: Some(format!("/v1/games/{id}")),
        body: serde_json::to_string(&body).map_err(Problem::internal)?,
    })
}

/// The answer to a fresh token.
///
/// # Errors
/// None that can happen: the shape has a JSON form.
pub fn fresh_token(seat: Seat, version: u64, tokens: &TokenMaker) -> Result<Answer, Problem> {
    let body = FreshToken {
        seat,
        token: tokens.seat(seat),
        version,
    };
    Ok(Answer {
        status: StatusCode::OK,
        etag: None,
        location: None,
        body: serde_json::to_string(&body).map_err(Problem::internal)?,
    })
}

/// The answer to a request for a ticket.
///
/// # Errors
/// None that can happen: the shape has a JSON form.
pub fn ticket(tokens: &TokenMaker, expires_at: &str) -> Result<Answer, Problem> {
    let body = Ticket {
        ticket: tokens.ticket(),
        expires_at: expires_at.to_owned(),
    };
    Ok(Answer {
        status: StatusCode::OK,
        etag: None,
        location: None,
        body: serde_json::to_string(&body).map_err(Problem::internal)?,
    })
}

impl WriteRequest {
    /// The answer that this very request got before, if it did.
    ///
    /// # Errors
    /// `idempotency_key_reused`, if the key came before with another body.
    pub fn replay(&self, reader: &Reader<'_>) -> Result<Option<Answer>, Problem> {
        let Some(scope) = self.scope() else {
            return Ok(None);
        };
        let Some(recorded) = reader.replay(&scope, now())? else {
            return Ok(None);
        };
        if recorded.body_hash != self.body_hash() {
            let code = Code::IdempotencyKeyReused;
            return Err(Problem::new(code, code.meaning()));
        }
        let memory: Memory = serde_json::from_slice(&recorded.answer)
            .map_err(|_| Problem::internal("a remembered answer cannot be read"))?;
        memory.answer(self.key()).map(Some)
    }

    /// Remembers the answer under the request's key, in the transaction of its effect.
    ///
    /// # Errors
    /// If the store fails.
    pub fn remember(
        &self,
        transaction: &mut Transaction<'_>,
        memory: impl FnOnce() -> Memory,
    ) -> Result<(), Problem> {
        if self.key().is_some()
            && let Some(keepsake) = self.keepsake(&memory())?
        {
            keepsake.keep(transaction)?;
        }
        Ok(())
    }

    /// What is to be remembered of the answer, if the request has a key.
    ///
    /// # Errors
    /// None that can happen: an answer has a JSON form.
    pub fn keepsake(&self, memory: &Memory) -> Result<Option<Keepsake>, Problem> {
        let Some(scope) = self.scope() else {
            return Ok(None);
        };
        let recorded = Recorded {
            body_hash: self.body_hash(),
            answer: serde_json::to_vec(memory).map_err(Problem::internal)?,
        };
        Ok(Some(Keepsake { scope, recorded }))
    }
}

/// An answer, ready to be remembered.
pub struct Keepsake {
    scope: Scope,
    recorded: Recorded,
}

impl Keepsake {
    /// Remembers it, in the transaction of the answer's effect.
    ///
    /// # Errors
    /// If the store fails.
    pub fn keep(&self, transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
        transaction.remember(&self.scope, &self.recorded, now())
    }
}
