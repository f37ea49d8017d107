//! Who sends a request, the caller's role in a game, and why a caller may not do what is asked.

use dog_rules::{Game, Phase, Seat, Viewer};

use thiserror::Error;

use dog_store::{StoredGame, TokenHash};

/// Why a request is refused for reasons other than its content.
#[derive(Debug, Error)]
pub enum AccessError {
    #[error("the game has no such seat")]
    SeatNotFound,
    #[error("this needs a token of this game")]
    NoToken,
    #[error("send the token as `Authorization: Bearer TOKEN` or `Dog-Token: TOKEN`")]
    NoBearer,
    #[error("the token does not belong to this game")]
    UnknownToken,
    #[error("the token was replaced")]
    TokenReplaced,
    #[error("only the host may {0}")]
    HostOnly(&'static str),
    #[error("only the operator may {0}")]
    OperatorOnly(&'static str),
    /// A closed table of a match.
    #[error(
        "until both tables of its pair have ended, only its own seats see this table of a match, and \
         nobody else takes them"
    )]
    MatchRunning,
    #[error("only seats may do this; the host has no cards")]
    SeatOnly,
    #[error("only the seat itself and the host may reissue its token")]
    NotYourSeat,
    /// While a bot plays a seat, the holder of its token cannot act.
    #[error("a bot plays {0} until its person is back")]
    BotPlays(Seat),
    /// A person who took over a seat in the middle of a round does not have its hand.
    #[error("a bot plays {0} until the next deal, because this hand was dealt to somebody else")]
    StandInPlays(Seat),
    #[error("the host has switched reactions off")]
    ReactionsOff,
    /// The host has no power over the token and the name of a person who joined.
    #[error("only the person at {0} may do this")]
    SeatJoined(Seat),
    #[error("an invitation is needed to join this game")]
    InvitationNeeded,
    #[error("not an invitation for this seat, or it is no longer valid")]
    WrongInvitation,
    #[error("{0} is taken")]
    SeatTaken(Seat),
    #[error("no seat is open that this request can take")]
    NoOpenSeat,
    #[error("the game is not over")]
    GameNotOver,
    #[error("nobody has asked for a rematch of this game")]
    NoRematch,
    /// A seat of a bot gets no token, because its holder could see the bot's hand.
    #[error("a bot plays {0}: hand it to a human first")]
    SeatIsBot(Seat),
    #[error("the game is at version {0}")]
    StaleVersion(u64),
}

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
    /// `token_replaced`, if the presented token is no longer one of this game; `unauthorized`, if
    /// it never was, or came without `Bearer`; `match_running`, if it is a closed table of a match,
    /// which only its own seats see.
    pub fn role(self, stored: &StoredGame) -> Result<Role, AccessError> {
        let Some(presented) = self.0 else {
            return seen(stored, Role::Spectator);
        };
        if presented == NO_BEARER {
            return Err(AccessError::NoBearer);
        }
        // All hashes are compared, each in constant time, even after a match.
        let mut role = (stored.tokens.host == Some(presented)).then_some(Role::Host);
        for seat in stored.game.rules().ring().seats() {
            if stored.tokens.seats[seat] == Some(presented) {
                role = Some(Role::Seat(seat));
            }
        }
        let role = role.ok_or_else(|| {
            if stored.seating.is_revoked(&presented) {
                AccessError::TokenReplaced
            } else {
                AccessError::UnknownToken
            }
        })?;
        seen(stored, role)
    }

    /// The hash of the presented token, if any.
    pub fn token(self) -> Option<TokenHash> {
        self.0
    }

    /// Refuses a caller whose token is no longer among those of the game, or who must not see it.
    pub fn ensure_current(self, role: Role, stored: &StoredGame) -> Result<(), AccessError> {
        let token = match seen(stored, role)? {
            Role::Spectator => return Ok(()),
            Role::Host => stored.tokens.host,
            Role::Seat(seat) => stored.tokens.seats[seat],
        };
        if token == self.0 {
            Ok(())
        } else {
            Err(AccessError::TokenReplaced)
        }
    }

    /// The caller's role in this game, for routes that need a token.
    ///
    /// # Errors
    /// `unauthorized`, without a token of this game.
    pub fn known_role(self, stored: &StoredGame) -> Result<Role, AccessError> {
        if self.0.is_none() {
            return Err(AccessError::NoToken);
        }
        match self.role(stored)? {
            Role::Spectator => Err(AccessError::NoToken),
            role => Ok(role),
        }
    }

    /// The seat that calls, for routes that are for seats only.
    ///
    /// # Errors
    /// `unauthorized` without a token, `forbidden` for the host.
    pub fn seat(self, stored: &StoredGame) -> Result<Seat, AccessError> {
        match self.known_role(stored)? {
            Role::Seat(seat) => Ok(seat),
            Role::Host | Role::Spectator => Err(AccessError::SeatOnly),
        }
    }

    /// The seat that calls and may see the seat's hand, for routes about its moves.
    ///
    /// # Errors
    /// As [`Caller::seat`]; `forbidden` if the hand was dealt to somebody else.
    pub fn holder(self, stored: &StoredGame) -> Result<Seat, AccessError> {
        let seat = self.seat(stored)?;
        let game = &stored.game;
        let dealt = matches!(game.phase(), Phase::Exchange | Phase::Play);
        if game.has_stand_in(seat) {
            Err(AccessError::StandInPlays(seat))
        } else if dealt && !game.holds_own_hand(seat) {
            Err(AccessError::BotPlays(seat))
        } else {
            Ok(seat)
        }
    }
}

/// The role in which somebody with this one sees the game. The host of a match is not the host of
/// its tables.
///
/// # Errors
/// [`AccessError::MatchRunning`].
fn seen(stored: &StoredGame, role: Role) -> Result<Role, AccessError> {
    match role {
        Role::Seat(_) => Ok(role),
        _ if stored.is_match_closed() => Err(AccessError::MatchRunning),
        _ if stored.table.is_some() => Ok(Role::Spectator),
        _ => Ok(role),
    }
}

/// Checks that the seat's person plays it, not a bot.
///
/// # Errors
/// [`AccessError::BotPlays`], [`AccessError::StandInPlays`].
pub fn check_person_plays(game: &Game, seat: Seat) -> Result<(), AccessError> {
    if !game.bot_plays(seat) {
        return Ok(());
    }
    Err(match game.player(seat).is_human() {
        true => AccessError::StandInPlays(seat),
        false => AccessError::BotPlays(seat),
    })
}

/// The `ETag` of a game as this role sees it, without its quotes: the version and the viewer. In a
/// game that can have no other version, a renewed token is none, but may have its seat `joined`.
/// That of a closed table of a match says so.
pub fn state_tag(stored: &StoredGame, role: Role) -> String {
    let (version, role) = (stored.game.version(), role.tag());
    let closed = if stored.is_match_closed() {
        "-closed"
    } else {
        ""
    };
    match stored.admin_changes.renewals {
        renewals if renewals > 0 && stored.is_closed() => {
            format!("{version}-{role}-{renewals}{closed}")
        }
        _ => format!("{version}-{role}{closed}"),
    }
}

/// The game's seat with that number.
///
/// # Errors
/// [`AccessError::SeatNotFound`].
pub fn find_seat(stored: &StoredGame, number: &str) -> Result<Seat, AccessError> {
    number
        .parse()
        .ok()
        .and_then(|seat| Seat::new(seat, stored.game.rules().seats))
        .filter(|seat| seat.number().to_string() == number)
        .ok_or(AccessError::SeatNotFound)
}
