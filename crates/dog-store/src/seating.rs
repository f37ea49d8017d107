//! How people come to the seats of a game, and whose tokens are whose.

use dog_rules::{BySeat, Seat};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::tokens::{TokenHash, Tokens};

/// The largest number of dead tokens that a game remembers, to tell their holders so.
const MAX_DEAD_TOKENS: usize = 32;

/// How long a game without a host waits for people before bots take their seats.
pub const WAIT_FOR_OTHERS: SignedDuration = SignedDuration::from_secs(60);

/// How long it waits at least for somebody who has just sat down to be present.
const WAIT_FOR_PRESENCE: SignedDuration = SignedDuration::from_secs(5);

/// How people come to the seats of a game, and whose tokens are whose. In a game that is created
/// with a player for each seat it stays at its default, until somebody renews a token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seating {
    pub join: JoinPolicy,
    pub start: StartPolicy,
    /// When bots take the seats of those who are missing: the seats that have been open since the
    /// creation; in a game without a host also those of people who are not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bots_at: Option<Timestamp>,
    /// The invitation to any seat that has been open since the creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invitation: Option<TokenHash>,
    pub seats: BySeat<SeatAccess>,
    /// Administrative changes by the host.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_changes: u32,
    /// Tokens that were replaced, removed or given up, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dead_tokens: Vec<TokenHash>,
}

/// Who may join a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JoinPolicy {
    /// Those who have an invitation.
    #[default]
    Invited,
    /// Anyone.
    Anyone,
}

/// Who has the rounds dealt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartPolicy {
    /// The dealer's seat or the host.
    #[default]
    Host,
    /// The server, as soon as nobody is missing.
    Full,
}

/// How a person comes to one seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeatAccess {
    /// The invitation to this seat. It is kept after somebody has joined with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invitation: Option<TokenHash>,
    pub opened: Opened,
    /// Whether only its holder can have the seat's token.
    pub joined: bool,
    /// Whether its person was not there when the first round was dealt at a table without a host,
    /// and nobody has acted for the seat since.
    pub absent_at_start: bool,
    /// Administrative changes by the person who has the seat, or had it last.
    pub changes: u32,
}

/// Since when a seat is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opened {
    /// Since the creation, if it is open.
    #[default]
    AtCreation,
    /// The host has opened it, for somebody with its new invitation.
    ByHost,
    /// Its person has given it up.
    ByHolder,
}

impl Seating {
    /// Whether anyone may take this seat without an invitation while it is open.
    pub fn lets_anyone_take(&self, seat: Seat) -> bool {
        self.join == JoinPolicy::Anyone && self.seats[seat].opened != Opened::ByHost
    }

    /// Remembers that a token is dead.
    fn bury(&mut self, token: Option<TokenHash>) {
        self.dead_tokens.extend(token);
        let excess = self.dead_tokens.len().saturating_sub(MAX_DEAD_TOKENS);
        self.dead_tokens.drain(..excess);
    }

    /// Whether this token was valid once. All are compared, as those of [`Tokens::contains`].
    pub fn is_dead(&self, token: &TokenHash) -> bool {
        let dead = self.dead_tokens.iter();
        dead.fold(false, |found, dead| found | (dead == token))
    }

    /// Gives a seat another token, or none.
    pub fn replace_token(&mut self, tokens: &mut Tokens, seat: Seat, fresh: Option<TokenHash>) {
        let old = std::mem::replace(&mut tokens.seats[seat], fresh);
        self.bury(old);
    }

    /// Gives the host another token.
    pub fn replace_host_token(&mut self, tokens: &mut Tokens, fresh: TokenHash) {
        let old = tokens.host.replace(fresh);
        self.bury(old);
        self.host_changes += 1;
    }

    /// Has bots wait for those who may still come to a game without a host, after somebody has sat
    /// down at `now`: for a while from the first person on, and until that person can be present.
    pub fn wait_for_others(&mut self, is_first: bool, now: Timestamp) {
        self.bots_at = Some(match self.bots_at {
            Some(at) if !is_first => at.max(now + WAIT_FOR_PRESENCE),
            _ => now + WAIT_FOR_OTHERS,
        });
    }

    /// Opens a seat that somebody had, or is open already: for those with this invitation or, if
    /// its person has given it up, for those whom the table lets in without one.
    pub fn open(&mut self, tokens: &mut Tokens, seat: Seat, invitation: Option<TokenHash>) {
        self.replace_token(tokens, seat, None);
        let access = &mut self.seats[seat];
        access.opened = match invitation {
            Some(_) => Opened::ByHost,
            None => Opened::ByHolder,
        };
        (access.invitation, access.joined) = (invitation, false);
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
