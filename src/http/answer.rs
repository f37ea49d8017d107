//! Answers to writes: sent, and remembered so that a retry gets the same one again.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use dog_rules::Seat;
use hmac::{Hmac, KeyInit, Mac};
use rand::{TryRng, rngs::SysRng};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::Sha256;

use super::{
    problem::{Code, Problem},
    request::WriteRequest,
    wire::game::{Created, FreshToken, Ticket},
};
use crate::store::{Reader, Recorded, Scope, Transaction, now};

/// An answer to a write, ready to be sent.
pub struct Answer {
    status: StatusCode,
    etag: Option<String>,
    location: Option<String>,
    /// JSON; nothing for 204.
    body: String,
}

impl Answer {
    fn json(status: StatusCode, body: &impl Serialize) -> Result<Answer, Problem> {
        let body = serde_json::to_string(body).map_err(Problem::internal)?;
        Ok(Answer {
            status,
            etag: None,
            location: None,
            body,
        })
    }
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

impl Memory {
    /// The answer; `tokens` makes the tokens of that salt.
    pub fn answer(
        self,
        tokens: impl FnOnce(&[u8; 16]) -> Result<TokenMaker, Problem>,
    ) -> Result<Answer, Problem> {
        match self {
            Memory::Plain { status, etag, body } => Ok(Answer {
                status: StatusCode::from_u16(status).map_err(Problem::internal)?,
                etag,
                location: None,
                body,
            }),
            Memory::Created {
                id,
                seats,
                bots,
                salt,
                etag,
                game,
            } => {
                let tokens = tokens(&salt)?;
                let token = |seat| (!bots.contains(&seat)).then(|| tokens.seat(seat));
                let game: &RawValue = serde_json::from_str(&game).map_err(Problem::internal)?;
                let location = Some(format!("/v1/games/{id}"));
                let body = Created {
                    id,
                    seat_tokens: Seat::all(seats).map(token).collect(),
                    host_token: tokens.host(),
                    game,
                };
                Ok(Answer {
                    etag: Some(etag),
                    location,
                    ..Answer::json(StatusCode::CREATED, &body)?
                })
            }
            Memory::FreshToken {
                seat,
                version,
                salt,
            } => {
                let token = tokens(&salt)?.seat(seat);
                let body = FreshToken {
                    seat,
                    token,
                    version,
                };
                Answer::json(StatusCode::OK, &body)
            }
            Memory::Ticket { salt, expires_at } => {
                let ticket = tokens(&salt)?.ticket();
                Answer::json(StatusCode::OK, &Ticket { ticket, expires_at })
            }
        }
    }
}

/// Makes a write's tokens: from the client's key, so that a retry can be given them again, or
/// from the operating system's randomness if it sent none.
pub struct TokenMaker {
    key: [u8; 32],
}

impl TokenMaker {
    /// The token of that name: 256 bits, as hex digits.
    fn token(&self, name: &str) -> String {
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

impl WriteRequest {
    /// Makes the tokens of this write; `salt` is drawn for each and remembered with its answer.
    ///
    /// # Errors
    /// `weak_idempotency_key`, if the tokens could be guessed from the key.
    pub fn tokens(&self, salt: &[u8; 16]) -> Result<TokenMaker, Problem> {
        let Some(key) = &self.key else {
            return Ok(TokenMaker { key: random() });
        };
        if !key.is_strong() {
            return Err(Code::WeakIdempotencyKey.into());
        }
        let mut mac = hmac(key.as_bytes());
        mac.update(b"dog-token-1");
        mac.update(salt);
        let key = mac.finalize().into_bytes().into();
        Ok(TokenMaker { key })
    }

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
            return Err(Code::IdempotencyKeyReused.into());
        }
        let memory: Memory = serde_json::from_slice(&recorded.answer)
            .map_err(|_| Problem::internal("a remembered answer cannot be read"))?;
        memory.answer(|salt| self.tokens(salt)).map(Some)
    }

    /// Answers with these tokens, and remembers the answer.
    pub fn answer(
        &self,
        transaction: &mut Transaction<'_>,
        memory: Memory,
        tokens: TokenMaker,
    ) -> Result<Answer, Problem> {
        self.remember(transaction, &memory)?;
        memory.answer(|_| Ok(tokens))
    }

    /// Remembers the answer under the request's key, in the transaction of its effect.
    pub fn remember(
        &self,
        transaction: &mut Transaction<'_>,
        memory: &Memory,
    ) -> Result<(), Problem> {
        if let Some((scope, recorded)) = self.recorded(memory)? {
            transaction.remember(&scope, &recorded, now())?;
        }
        Ok(())
    }

    /// What is to be remembered of the answer, if the request has a key.
    pub fn recorded(&self, memory: &Memory) -> Result<Option<(Scope, Recorded)>, Problem> {
        let Some(scope) = self.scope() else {
            return Ok(None);
        };
        let recorded = Recorded {
            body_hash: self.body_hash(),
            answer: serde_json::to_vec(memory).map_err(Problem::internal)?,
        };
        Ok(Some((scope, recorded)))
    }
}
