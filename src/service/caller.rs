//! Who calls, and what a caller is in a game.

use dog_rules::{Seat, Viewer};

use super::ServiceError;
use crate::store::{StoredGame, TokenHash, Tokens};

/// What a caller is in a game.
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
    /// What this role sees: the host sees what a spectator sees.
    pub fn viewer(self) -> Viewer {
        match self {
            Role::Seat(seat) => Viewer::Seat(seat),
            Role::Host | Role::Spectator => Viewer::Spectator,
        }
    }

    /// The role's part of an ETag.
    pub fn tag(self) -> String {
        match self {
            Role::Seat(seat) => seat.number().to_string(),
            Role::Host => "host".to_owned(),
            Role::Spectator => "spectator".to_owned(),
        }
    }
}

/// Who calls: the hash of the token presented, if one is.
#[derive(Clone, Copy, Debug)]
pub struct Caller(Option<TokenHash>);

impl Caller {
    /// Whoever presents the token of that hash, or none.
    pub fn new(token: Option<TokenHash>) -> Caller {
        Caller(token)
    }

    /// What the caller is in this game.
    ///
    /// # Errors
    /// `unauthorized`, if a token was presented that is none of this game's.
    pub fn role(self, record: &StoredGame) -> Result<Role, ServiceError> {
        let Some(presented) = self.0 else {
            return Ok(Role::Spectator);
        };
        // Every hash is compared, each in constant time, whichever fits.
        let mut role = (record.tokens.host == presented).then_some(Role::Host);
        for seat in record.game.rules().ring().seats() {
            if record.tokens.seats[seat] == Some(presented) {
                role = Some(Role::Seat(seat));
            }
        }
        role.ok_or(ServiceError::Unauthorized(
            "the token is none of this game's",
        ))
    }

    /// The hash of the token presented, if one is.
    pub fn token(self) -> Option<TokenHash> {
        self.0
    }

    /// Refuses a caller that is no longer what it was, by these tokens.
    pub fn ensure_current(self, role: Role, tokens: &Tokens) -> Result<(), ServiceError> {
        let token = match role {
            Role::Spectator => return Ok(()),
            Role::Host => Some(tokens.host),
            Role::Seat(seat) => tokens.seats[seat],
        };
        if token == self.0 {
            return Ok(());
        }
        Err(ServiceError::Unauthorized("the token was replaced"))
    }

    /// What the caller is in this game, for routes that are not for everyone.
    ///
    /// # Errors
    /// `unauthorized`, without a token of this game's.
    pub fn known_role(self, record: &StoredGame) -> Result<Role, ServiceError> {
        match self.role(record)? {
            Role::Spectator => Err(ServiceError::Unauthorized(
                "this needs a token of this game's",
            )),
            role => Ok(role),
        }
    }

    /// The seat that calls, for routes that are for seats only.
    ///
    /// # Errors
    /// `unauthorized` without a token, `forbidden` for the host.
    pub fn seat(self, record: &StoredGame) -> Result<Seat, ServiceError> {
        match self.known_role(record)?.viewer() {
            Viewer::Seat(seat) => Ok(seat),
            Viewer::Spectator => Err(ServiceError::Forbidden(
                "this is for seats, the host has no cards",
            )),
        }
    }
}
