//! A game as a viewer may see it, and the responses that contain one.

use std::slice;

use dog_rules::{
    BySeat, Card, Cards, Event, ExchangeChoice, ExchangeState, Game, Level, Phase, Placement,
    Player, Seat, SeatKind,
    position::PositionText,
    view::{PendingAction, VisibleSeat},
};
use dog_store::{JoinPolicy, Reaction, StartPolicy, StoredGame};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{
    event::{EventView, level_of},
    message::message_type,
    moves::{PositionString, moves_or_null},
    rules::RulesView,
};
use crate::access::Role;

message_type!(GameType, Game);
message_type!(PresenceType, Presence);
message_type!(RematchType, Rematch);
message_type!(MatchType, Match);
message_type!(ReactionType, Reaction);
message_type!(ReviewType, Review);
message_type!(DoneStatus, Done, Failed);

/// A game as this viewer may see it.
#[derive(Serialize, ToSchema)]
#[schema(as = Game)]
pub struct GameView {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: GameType,
    #[schema(examples("06zgrb0wmrqk9y7ttx2vbkhq1r"))]
    id: String,
    /// Changes so far; creation is 1.
    #[schema(minimum = 1)]
    version: u64,
    rules: RulesView,
    phase: Phase,
    /// From 1; in the deal phase, the round to be dealt.
    #[schema(minimum = 1)]
    round: u32,
    /// Who deals this round; null in the seating if that is still to be drawn.
    #[schema(required)]
    dealer: Option<Seat>,
    /// Who begins this round; null in the seating if that is still to be drawn.
    #[schema(required)]
    beginner: Option<Seat>,
    /// The seat to move, in the play phase.
    #[schema(required)]
    turn: Option<Seat>,
    /// The seats that the game waits for, whoever plays them: the dealer's, unless the server
    /// deals; in the exchange every seat that has to answer; in play the seat to move. Empty in the
    /// seating and once the game is over.
    #[schema(max_items = 6)]
    to_act: Vec<Seat>,
    /// The board as text. A body of an analysis may have it in place of a board.
    #[schema(value_type = PositionString)]
    position: String,
    /// What this viewer may do now.
    actions: Vec<ActionView>,
    /// The first event of the last action. What a team says about giving up is left out until the
    /// game is over.
    last_action: EventView,
    /// One entry per seat, in turn order.
    seats: Vec<SeatJson>,
    /// One entry per seat, in turn order.
    board: Vec<Placement>,
    /// Cards left to deal before the discard pile is shuffled.
    stock: u8,
    /// The discard pile: how many of each card.
    #[schema(value_type = std::collections::BTreeMap<Card, u8>, example = json!({"A": 2, "joker": 1}))]
    discards: CardCounts,
    /// The winning team, once there is one.
    #[schema(required)]
    winner: Option<u8>,
    /// SHA-256 of the shuffle seed, as 64 hex digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shuffle_commitment: String,
    /// The shuffle seed as 64 hex digits, once the game is over; at a table of a match, once both
    /// tables of its pair have ended.
    #[schema(required, pattern = "^[0-9a-f]{64}$")]
    shuffle_seed: Option<String>,
    /// Whether the creator chose the seed, and so could know every card.
    shuffle_seed_given: bool,
    /// Minimum milliseconds between a change and a bot's next action.
    bot_pace_ms: u32,
    /// Seconds that a seat has to act; null without a turn clock.
    #[schema(required)]
    turn_seconds: Option<u32>,
    /// When the time to act is up and the server acts for the seat; null without a turn clock.
    #[schema(required, format = DateTime)]
    deadline: Option<String>,
    /// Who may join: those who are invited, or anyone.
    join: JoinPolicy,
    /// Who has the rounds dealt: the host or the dealer's seat, or the server as soon as nobody is
    /// missing.
    start: StartPolicy,
    /// When seats that are still open since the creation are given to bots and, in a rematch, those
    /// of people who had left, or of all who have not asked if there is no host; null if never.
    #[schema(required, format = DateTime)]
    bots_at: Option<String>,
    /// Whether the game is in the public list.
    listed: bool,
    /// Whether people may react.
    reactions: bool,
    /// Whether the game was imported from a record and not played on this server.
    imported: bool,
    /// The match that the game is a table of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    match_id: Option<String>,
    /// Which table of the match it is: twice the number of its pair, and one more for the second
    /// table of the pair, where the sides have changed seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, maximum = 63)]
    match_table: Option<u32>,
    /// Whether only the table's own seats see it: from its first deal until both tables of its pair
    /// have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    match_closed: Option<bool>,
    #[schema(format = DateTime)]
    created_at: String,
    /// Time of the last change.
    #[schema(format = DateTime)]
    updated_at: String,
    /// The legal moves, without boards; null if they take more than 256 KiB. Only in the first
    /// message of a stream with `include=game,moves`, and only if it is the viewer's turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = moves_or_null)]
    pub moves: Option<Box<RawValue>>,
    /// What was attached to the game when it was created. Only for the host and the seats, and only
    /// in the answer to a request for the game, a creation or a join.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    data: Option<Box<RawValue>>,
}

/// Something that the viewer may do now.
#[derive(Serialize, ToSchema)]
#[schema(as = PossibleAction)]
pub struct ActionView {
    /// The last part of the path.
    route: PendingAction,
    method: RequestMethod,
    path: String,
    /// The seat that acts.
    seat: Seat,
    /// What the seat may do in the exchange now. Only with the route `swap`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_items = 1, example = json!(["card", "ask", "decline"]))]
    choices: Option<&'static [ExchangeChoice]>,
}

/// The method of a request.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub enum RequestMethod {
    #[serde(rename = "POST")]
    Post,
}

/// One seat as the viewer may see it.
#[derive(Serialize, ToSchema)]
#[schema(as = SeatInGame)]
pub struct SeatJson {
    seat: Seat,
    /// The seat's team: seats opposite each other play together.
    #[schema(maximum = 2)]
    team: u8,
    name: String,
    kind: SeatKind,
    /// How the server plays for the seat: for a bot always, for a human when the time is up. Null
    /// on a human's seat in a game without a turn clock.
    #[schema(required)]
    level: Option<Level>,
    /// Whether only the seat's person can have its token: the person has joined, or has renewed it.
    joined: bool,
    /// Whether the clock acted twice in a row, so that the server plays until the person is back.
    away: bool,
    /// Whether a bot plays for the person until the next deal, because the hand was dealt to
    /// somebody else.
    stand_in: bool,
    /// In the seating of a rematch, whether the person has asked for it; otherwise null.
    #[schema(required)]
    asked: Option<bool>,
    /// Cards in the hand, including one offered to the partner.
    cards: u8,
    /// Whether it has folded in this round.
    folded: bool,
    /// Its part in this round's exchange; null before the deal.
    #[schema(required)]
    exchange: Option<ExchangeState>,
    /// Whether its person gives up. Only on the seats of the viewer's own team, and only while that
    /// may give up: in a game of two teams, from the first deal to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    gives_up: Option<bool>,
    /// The viewer's own hand, sorted; null for the others.
    #[schema(required)]
    hand: Option<Vec<Card>>,
    /// The card that the viewer offered to its partner in this round; null for the others.
    #[schema(required)]
    gave: Option<Card>,
    /// The card that the viewer received from its partner in this round; null for the others.
    #[schema(required)]
    received: Option<Card>,
    /// What was attached to the seat. Only for the host and the seat itself, and only where the game
    /// has `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    data: Option<Box<RawValue>>,
}

/// How many of each card.
struct CardCounts(Cards);

impl Serialize for CardCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for card in self.0.ranks() {
            map.serialize_entry(card.name(), &self.0.count(card))?;
        }
        map.end()
    }
}

impl GameView {
    /// The game as this role may see it.
    pub fn new(stored: &StoredGame, role: Role) -> GameView {
        let game = &stored.game;
        let viewer = role.viewer(game);
        let seats = game.seats_visible_to(viewer).into_iter();
        let known = game.dealer_known();
        GameView {
            type_: GameType::Game,
            id: stored.id.to_string(),
            version: game.version(),
            rules: RulesView::from(game.rules().options()),
            phase: game.phase(),
            round: game.round(),
            dealer: known.then(|| game.dealer()),
            beginner: known.then(|| game.beginner()),
            turn: game.turn(),
            to_act: to_act(stored),
            position: PositionText {
                rules: game.rules(),
                board: game.board(),
            }
            .to_string(),
            actions: actions(stored, role),
            last_action: EventView::list(stored, slice::from_ref(game.last_event()), viewer)
                .pop()
                .expect("all may see the last event"),
            seats: seats.map(|seat| seat_view(stored, seat)).collect(),
            board: game.board().placements(game.rules()),
            stock: game.stock_size(),
            discards: CardCounts(game.discards()),
            winner: game.winner(),
            shuffle_commitment: game.commitment(),
            shuffle_seed: stored.published_seed(),
            shuffle_seed_given: game.seed_given(),
            bot_pace_ms: stored.timing.bot_pace_ms,
            turn_seconds: stored.timing.turn_seconds,
            deadline: stored.deadline.map(|deadline| deadline.to_string()),
            join: stored.seating.join,
            start: stored.seating.start,
            bots_at: stored.seating.bots_at.map(|at| at.to_string()),
            listed: stored.listed,
            reactions: stored.reactions,
            imported: stored.imported,
            match_id: stored.table.map(|table| table.match_id.to_string()),
            match_table: stored.table.map(|table| table.number),
            match_closed: stored.table.map(|table| table.closed),
            created_at: stored.created_at.to_string(),
            updated_at: stored.updated_at.to_string(),
            moves: None,
            data: None,
        }
    }

    /// The same with what was attached, as this role may see it.
    pub fn with_data(stored: &StoredGame, role: Role) -> GameView {
        let mut view = GameView::new(stored, role);
        if role != Role::Spectator {
            view.data = stored.data.game.as_deref().and_then(raw);
            for seat in &mut view.seats {
                if role == Role::Host || role == Role::Seat(seat.seat) {
                    seat.data = stored.data.of_seat(&stored.game, seat.seat).and_then(raw);
                }
            }
        }
        view
    }
}

/// Stored JSON as it is.
fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}

/// The seats that the game waits for; none while the server is to deal.
pub fn to_act(stored: &StoredGame) -> Vec<Seat> {
    if stored.server_deals() {
        return Vec::new();
    }
    stored.game.seats_to_act().collect()
}

fn seat_view(stored: &StoredGame, seat: VisibleSeat) -> SeatJson {
    let game = &stored.game;
    let player = &Player {
        kind: game.kind(seat.seat),
        ..game.player(seat.seat).clone()
    };
    let may_ask = game.phase() == Phase::Seating && game.needs_confirmations() && player.is_human();
    SeatJson {
        seat: seat.seat,
        team: seat.team,
        name: player.name.clone(),
        kind: player.kind,
        level: level_of(player, stored.timing),
        joined: stored.seating.seats[seat.seat].joined,
        away: game.is_away(seat.seat),
        stand_in: game.has_stand_in(seat.seat),
        asked: may_ask.then(|| !game.awaits_confirmation(seat.seat)),
        cards: seat.cards,
        folded: seat.folded,
        exchange: seat.exchange,
        gives_up: seat.gives_up,
        hand: seat.own.map(|own| own.hand.sorted().collect()),
        gave: seat.own.and_then(|own| own.offered),
        received: seat.own.and_then(|own| own.received),
        data: None,
    }
}

fn actions(stored: &StoredGame, role: Role) -> Vec<ActionView> {
    let game = &stored.game;
    let possible = match role {
        Role::Seat(seat) if game.bot_plays(seat) => None,
        Role::Seat(seat) => game.pending_action(seat).map(|possible| (possible, seat)),
        Role::Host => {
            let may_deal = game.check_deal(None).is_ok();
            may_deal.then(|| (PendingAction::Deal, game.dealer()))
        }
        Role::Spectator => None,
    };
    let possible = possible.filter(|_| !stored.server_deals());
    let action = |(route, seat): (PendingAction, Seat)| ActionView {
        route,
        method: RequestMethod::Post,
        path: format!("/v1/games/{}/{}", stored.id, route.name()),
        seat,
        choices: (route == PendingAction::Swap).then(|| game.exchange_choices(seat)),
    };
    let possible = possible.filter(|_| stored.check_limit().is_ok());
    possible.map(action).into_iter().collect()
}

/// The response to an accepted action.
#[derive(Serialize, ToSchema)]
#[schema(as = Changed)]
pub struct ActionResponse {
    /// The game's version after the action.
    pub version: u64,
    /// The events of the action, as the caller may see them.
    pub events: Vec<EventView>,
    /// The game after the action, as the caller may see it.
    pub game: GameView,
}

impl ActionResponse {
    /// The game after an action, and the action's events, as this role may see them.
    pub fn new(stored: &StoredGame, events: &[Event], role: Role) -> ActionResponse {
        let game = &stored.game;
        ActionResponse {
            version: game.version(),
            events: EventView::list(stored, events, role.viewer(game)),
            game: GameView::new(stored, role),
        }
    }
}

/// Which people are present at a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Presence)]
pub struct PresenceView {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: PresenceType,
    /// One entry per seat: whether its person is connected. Null for bots and for open seats.
    #[schema(required)]
    present: Vec<Option<bool>>,
}

impl PresenceView {
    /// The view of a game, with somebody connected as these seats.
    pub fn new(game: &Game, connected: &BySeat<bool>) -> PresenceView {
        let seats = Seat::all(game.rules().seats);
        let present = seats.map(|seat| match game.kind(seat) {
            SeatKind::Human => Some(connected[seat]),
            SeatKind::Bot | SeatKind::Open => None,
        });
        PresenceView {
            type_: PresenceType::Presence,
            present: present.collect(),
        }
    }

    /// Whether any person has a seat.
    pub fn has_people(&self) -> bool {
        self.present.iter().any(Option::is_some)
    }
}

/// A person has reacted.
#[derive(Serialize, ToSchema)]
#[schema(as = SeatReaction, example = json!({"type": "reaction", "seat": 2, "reaction": "well_played"}))]
pub struct ReactionView {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: ReactionType,
    seat: Seat,
    reaction: Reaction,
}

impl ReactionView {
    /// The reaction of this seat's person.
    pub fn new(seat: Seat, reaction: Reaction) -> ReactionView {
        ReactionView {
            type_: ReactionType::Reaction,
            seat,
            reaction,
        }
    }
}

/// The review of the game is done, or has failed.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"type": "review", "status": "done"}))]
pub struct ReviewDone {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: ReviewType,
    #[schema(inline)]
    status: DoneStatus,
}

impl ReviewDone {
    pub fn new(is_done: bool) -> ReviewDone {
        ReviewDone {
            type_: ReviewType::Review,
            status: if is_done {
                DoneStatus::Done
            } else {
                DoneStatus::Failed
            },
        }
    }
}

/// The pair of a table of a match has ended: the table is laid open.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "type": "match", "match_id": "06zgrb0wmrqk9y7ttx2vbkhq1r",
    "shuffle_seed": "19b25856e1c150ca834cffc8b59b23adbd0ec0389e58eb22b3b64768098d002b"
}))]
pub struct MatchOpened {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: MatchType,
    match_id: String,
    /// The shuffle seed of both tables, as 64 hex digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shuffle_seed: String,
}

impl MatchOpened {
    /// That of a game; none if it is no such table, or not laid open.
    pub fn new(stored: &StoredGame) -> Option<MatchOpened> {
        Some(MatchOpened {
            type_: MatchType::Match,
            match_id: stored.table?.match_id.to_string(),
            shuffle_seed: stored.published_seed()?,
        })
    }
}

/// The next game of the same people.
#[derive(Serialize, ToSchema)]
pub struct Rematch {
    #[serde(rename = "type")]
    #[schema(inline)]
    type_: RematchType,
    id: String,
    /// The caller's seat in it; null for the host and for others.
    #[schema(required)]
    seat: Option<Seat>,
    /// The game as the caller may see it.
    game: GameView,
}

impl Rematch {
    /// The next game as this role may see it.
    pub fn new(stored: &StoredGame, role: Role) -> Rematch {
        Rematch {
            type_: RematchType::Rematch,
            id: stored.id.to_string(),
            seat: match role {
                Role::Seat(seat) => Some(seat),
                Role::Host | Role::Spectator => None,
            },
            game: GameView::new(stored, role),
        }
    }
}

#[cfg(test)]
mod tests {
    use dog_store::Seating;

    use super::*;
    use crate::testing::new_game;

    #[test]
    fn nobody_is_to_act_while_the_server_is_to_deal() {
        let mut stored = new_game();
        assert_eq!(to_act(&stored), [stored.game.dealer()]);
        stored.seating = Seating {
            start: StartPolicy::Full,
            ..(*stored.seating).clone()
        }
        .into();
        assert_eq!(to_act(&stored), []);
    }
}
