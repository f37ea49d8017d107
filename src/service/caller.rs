//! Who sends a request, and the caller's role in a game.

use dog_rules::{Game, Phase, Seat, Viewer};

use super::ServiceError;
use crate::store::{StoredGame, TokenHash, Tokens};

/// A caller's role in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The holder of a seat's token.
    Seat(Seat),
    /// The holder of the host's token.
    Host,
    /// Anyone else.
    Spectator,
}

impl Role {
    /// What this role sees in this game: the host sees what a spectator sees.
    pub fn viewer(self, game: &Game) -> Viewer {
        match self {
            Role::Seat(seat) => Viewer::Seat(seat, game.person(seat)),
            Role::Host | Role::Spectator => Viewer::Spectator,
        }
    }

    /// The part of an ETag that stands for the role.
    pub fn tag(self) -> String {
        match self {
            Role::Seat(seat) => seat.number().to_string(),
            Role::Host => "host".to_owned(),
            Role::Spectator => "spectator".to_owned(),
        }
    }
}

/// Stands for a token that was not sent as a bearer token. No token has this hash.
pub const NO_BEARER: TokenHash = TokenHash([0; 32]);

/// Who sends a request: the hash of the presented token, if any.
#[derive(Clone, Copy, Debug)]
pub struct Caller(Option<TokenHash>);

impl Caller {
    /// The caller with the token of that hash, or without a token.
    pub fn new(token: Option<TokenHash>) -> Caller {
        Caller(token)
    }

    /// The caller's role in this game.
    ///
    /// # Errors
    /// `token_replaced` or `unauthorized`, if the presented token is not, or was never, one of this
    /// game, or came without `Bearer`.
    pub fn role(self, record: &StoredGame) -> Result<Role, ServiceError> {
        let Some(presented) = self.0 else {
            return Ok(Role::Spectator);
        };
        if presented == NO_BEARER {
            return Err(ServiceError::NoBearer);
        }
        // All hashes are compared, each in constant time, even after a match.
        let mut role = (record.tokens.host == Some(presented)).then_some(Role::Host);
        for seat in record.game.rules().ring().seats() {
            if record.tokens.seats[seat] == Some(presented) {
                role = Some(Role::Seat(seat));
            }
        }
        let is_dead = record.seating.is_dead(&presented);
        role.ok_or(match is_dead {
            true => ServiceError::TokenReplaced,
            false => ServiceError::UnknownToken,
        })
    }

    /// The hash of the presented token, if any.
    pub fn token(self) -> Option<TokenHash> {
        self.0
    }

    /// Refuses a caller whose token is no longer among these tokens.
    pub fn ensure_current(self, role: Role, tokens: &Tokens) -> Result<(), ServiceError> {
        let token = match role {
            Role::Spectator => return Ok(()),
            Role::Host => tokens.host,
            Role::Seat(seat) => tokens.seats[seat],
        };
        if token == self.0 {
            return Ok(());
        }
        Err(ServiceError::TokenReplaced)
    }

    /// The caller's role in this game, for routes that need a token.
    ///
    /// # Errors
    /// `unauthorized`, without a token of this game.
    pub fn known_role(self, record: &StoredGame) -> Result<Role, ServiceError> {
        match self.role(record)? {
            Role::Spectator => Err(ServiceError::NoToken),
            role => Ok(role),
        }
    }

    /// The seat that calls, for routes that are for seats only.
    ///
    /// # Errors
    /// `unauthorized` without a token, `forbidden` for the host.
    pub fn seat(self, record: &StoredGame) -> Result<Seat, ServiceError> {
        match self.known_role(record)? {
            Role::Seat(seat) => Ok(seat),
            Role::Host | Role::Spectator => Err(ServiceError::SeatOnly),
        }
    }

    /// The seat that calls and may see the seat's hand, for routes about its moves.
    ///
    /// # Errors
    /// As [`Caller::seat`]; `forbidden` if the hand was dealt to somebody else.
    pub fn holder(self, record: &StoredGame) -> Result<Seat, ServiceError> {
        let seat = self.seat(record)?;
        let game = &record.game;
        let dealt = matches!(game.phase(), Phase::Exchange | Phase::Play);
        if game.has_stand_in(seat) {
            Err(ServiceError::StandInPlays(seat))
        } else if dealt && !game.holds_own_hand(seat) {
            Err(ServiceError::BotPlays(seat))
        } else {
            Ok(seat)
        }
    }
}
