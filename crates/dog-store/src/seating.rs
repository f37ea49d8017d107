//! How people come to the seats of a game, and whose tokens are whose.

use dog_rules::{BySeat, Seat};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::tokens::{TokenHash, Tokens};

/// The largest number of revoked tokens that a game remembers, so that their holders can be told.
const MAX_REVOKED_TOKENS: usize = 32;

/// How long a game without a host waits for people before bots take their seats.
pub const WAIT_FOR_OTHERS: SignedDuration = SignedDuration::from_secs(60);

/// How long it waits at least for somebody who has just sat down to be present.
const WAIT_FOR_PRESENCE: SignedDuration = SignedDuration::from_secs(5);

/// How people come to the seats of a game, and whose tokens are whose. In a game that is created
/// with a player for each seat it stays at its default, until somebody renews a token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seating {
    pub join: JoinPolicy,
    pub start: StartPolicy,
    /// When bots take the seats of those who are missing: the seats that have been open since the
    /// creation, and those that a rematch keeps for people who had left; in a game without a host
    /// also those of people who are not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bots_at: Option<Timestamp>,
    /// The invitation to any seat that has been open since the creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invitation: Option<TokenHash>,
    pub seats: BySeat<SeatAccess>,
    /// Administrative changes by the host.
    pub host_changes: u32,
    /// Tokens that were replaced, removed or given up, the latest last.
    pub revoked_tokens: Vec<TokenHash>,
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
pub struct SeatAccess {
    /// The invitation to this seat. It is kept after somebody has joined with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invitation: Option<TokenHash>,
    pub opened_by: OpenedBy,
    /// Whether only its holder can have the seat's token.
    pub joined: bool,
    /// Whether its person was not there when the first round was dealt at a table without a host,
    /// and nobody has acted for the seat since.
    pub absent_at_start: bool,
    /// Whether the clock has acted for that person since. It goes with `absent_at_start`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked_in_vain: bool,
    /// Administrative changes by the person who has the seat, or had it last.
    pub changes: u32,
}

/// How a seat became open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenedBy {
    /// It has been open since the creation, if it is open.
    #[default]
    Creation,
    /// The host has opened it, for somebody with its new invitation.
    Host,
    /// Its person has given it up.
    Holder,
}

impl Seating {
    /// Whether anyone may take this seat without an invitation while it is open.
    pub fn lets_anyone_take(&self, seat: Seat) -> bool {
        self.join == JoinPolicy::Anyone && self.seats[seat].opened_by != OpenedBy::Host
    }

    /// Remembers a token that is no longer valid.
    fn revoke(&mut self, token: Option<TokenHash>) {
        self.revoked_tokens.extend(token);
        let excess = self.revoked_tokens.len().saturating_sub(MAX_REVOKED_TOKENS);
        self.revoked_tokens.drain(..excess);
    }

    /// Whether this token was valid once. All are compared, as those of [`Tokens::contains`].
    pub fn is_revoked(&self, token: &TokenHash) -> bool {
        let revoked = self.revoked_tokens.iter();
        revoked.fold(false, |found, revoked| found | (revoked == token))
    }

    /// Gives a seat another token, or none.
    pub fn replace_token(&mut self, tokens: &mut Tokens, seat: Seat, fresh: Option<TokenHash>) {
        let old = std::mem::replace(&mut tokens.seats[seat], fresh);
        self.revoke(old);
    }

    /// Gives the host another token.
    pub fn replace_host_token(&mut self, tokens: &mut Tokens, fresh: TokenHash) {
        let old = tokens.host.replace(fresh);
        self.revoke(old);
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
        access.opened_by = match invitation {
            Some(_) => OpenedBy::Host,
            None => OpenedBy::Holder,
        };
        (access.invitation, access.joined) = (invitation, false);
    }
}
