//! What a seat knows besides the board and its hand, as clients send it for advice.

use std::{collections::BTreeMap, fmt};

use dog_bot::player_model::{PlayerModels, PolicyName};
use dog_rules::{
    BySeat, Card, Cards, ExchangeState, Move, Rules, Seat, SeatView, judge,
    position::{self, PositionText},
    round_history::PastMove,
};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    api::{
        parameters::{card_of, read_cards, seat_of},
        play::advice::PlayerPolicies,
    },
    problem::{Code, Problem},
    view::moves::PositionString,
};

/// The most cards that are played in a round: all of the largest deck.
const MAX_PLAYED: usize = 116;

/// What a seat knows besides the board and its hand.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Known)]
pub struct KnownCards {
    /// Cards each seat holds. By default what follows from `played`. Without that as many as this
    /// seat; one less if `beginner` is given and the seat has had its turn before; none if it has
    /// folded.
    counts: Option<Vec<u8>>,
    /// Cards known to be in other seats' hands, by seat.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, Vec<Card>>)]
    hands: BTreeMap<String, Vec<String>>,
    /// Cards on the discard pile before this round, or before `played`: how many of each.
    #[serde(default)]
    #[schema(value_type = BTreeMap<Card, u8>)]
    gone: BTreeMap<String, u8>,
    /// Seats that have folded.
    #[serde(default)]
    folded: Vec<u8>,
    /// Seats that have said "help!" in this round.
    #[serde(default)]
    asked: Vec<u8>,
    /// The card that the seat gave its partner in this round, who still holds it unless `played` has
    /// it. Together with `received`.
    #[schema(value_type = Option<Card>)]
    gave: Option<String>,
    /// The card that it received.
    #[schema(value_type = Option<Card>)]
    received: Option<String>,
    /// The board at the beginning of the round. The moves of `played` lead from there to the board,
    /// and say something about the hands.
    #[schema(value_type = Option<PositionString>)]
    round_began: Option<String>,
    /// What was played in this round, in order.
    #[serde(default)]
    #[schema(max_items = 116)]
    played: Vec<PlayedCard>,
    /// The round, from 1.
    #[schema(minimum = 1, maximum = 1_000_000)]
    round: Option<u32>,
    /// How seats have played in the rounds before, as in advice inside a game. By default nothing is
    /// known of it.
    #[serde(default)]
    #[schema(max_items = 6)]
    players: Vec<PlayerPolicies>,
    /// Who began the round. By default the seat that played first, or this seat.
    #[schema(maximum = 5)]
    beginner: Option<u8>,
}

/// What a seat has played. With `round_began`: `move`, and for a fold also `cards`. Without: `card`
/// or `fold`.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"seat": 1, "move": "Q:17>29"}))]
pub struct PlayedCard {
    #[schema(maximum = 5)]
    seat: u8,
    /// The id of the move.
    #[serde(rename = "move")]
    #[schema(value_type = Option<Move>)]
    mv: Option<String>,
    /// The cards of a hand that was folded.
    #[schema(value_type = Option<Vec<Card>>)]
    cards: Option<Vec<String>>,
    /// The card that was played; a joker as `joker`.
    #[schema(value_type = Option<Card>)]
    card: Option<String>,
    /// The cards of a hand that was folded.
    #[schema(value_type = Option<Vec<Card>>)]
    fold: Option<Vec<String>>,
}

/// An entry of `played`: who, how if that is known, and the cards that were laid open.
struct Play {
    seat: Seat,
    mv: Option<Move>,
    is_fold: bool,
    revealed: Cards,
}

/// The last round that a position may be in.
const MAX_ROUND: u32 = 1_000_000;

/// `invalid_knowledge` about this member of `known`.
fn invalid(member: &str, detail: impl fmt::Display) -> Problem {
    Problem::new(Code::InvalidKnowledge, detail).at(format!("/known{member}"), None)
}

/// Refuses this member of `known` if it is wrong.
fn refuse_if(is_wrong: bool, member: &str, detail: impl fmt::Display) -> Result<(), Problem> {
    match is_wrong {
        true => Err(invalid(member, detail)),
        false => Ok(()),
    }
}

impl KnownCards {
    /// Adds it to what the seat sees.
    ///
    /// # Errors
    /// `invalid_knowledge`, if it contradicts itself, the hand or the deck; `unknown_card`;
    /// `invalid_board`.
    pub fn add_to(&self, view: &mut SeatView) -> Result<(), Problem> {
        let (rules, seat) = (view.rules, view.seat);
        let plays = self.plays(view)?;
        if let Some(first) = plays.first() {
            view.beginner = first.seat;
        }
        if let Some(number) = self.beginner {
            view.beginner = seat_of(number, rules, "known/beginner")?;
        }
        if let Some(&Play { seat: first, .. }) = plays.first() {
            let beginner = view.beginner;
            let detail = format!("{beginner} began, and {first} played first");
            refuse_if(first != beginner, "/beginner", detail)?;
        }
        self.set_counts(view, &plays)?;
        self.add_hands(view)?;
        for (name, &count) in &self.gone {
            let card = card_of(name, "/known/gone".to_owned())?;
            let detail = format!("more {card} are gone than the deck has");
            refuse_if(count > rules.deck().count(card), "/gone", detail)?;
            (0..count).for_each(|_| view.discards.add(card));
        }
        for play in &plays {
            add_to_pile(view, play.revealed)?;
        }
        for &number in &self.folded {
            view.folded[self.seat(rules, "folded", number)?] = true;
        }
        let is_wrong = view.folded[seat] || view.exchanging && !self.folded.is_empty();
        let detail = "whoever is to act has not folded, and in the exchange nobody has";
        refuse_if(is_wrong, "/folded", detail)?;
        for other in rules.ring().seats() {
            let has_none = view.counts[other] == 0;
            let detail = format!("{other} holds cards in the exchange");
            refuse_if(view.exchanging && has_none, "/counts", detail)?;
            let detail = format!("{other} has folded and cannot hold cards");
            refuse_if(view.folded[other] && !has_none, "/folded", detail)?;
        }
        for &number in &self.asked {
            view.asked[self.seat(rules, "asked", number)?] = true;
        }
        self.add_swap(view, &plays)?;
        check_deck(view)?;
        view.round = self.round.unwrap_or(1);
        let detail = format!("rounds are counted from 1 to {MAX_ROUND}");
        refuse_if(!(1..=MAX_ROUND).contains(&view.round), "/round", detail)?;
        if let Some(text) = &self.round_began {
            view.past_moves = self.past_moves(view, text, &plays)?;
        }
        debug_assert_eq!(view.counts[seat], view.hand.len());
        Ok(())
    }

    /// How the seats are taken to play.
    ///
    /// # Errors
    /// `invalid_knowledge`.
    pub fn models(&self, rules: &Rules) -> Result<PlayerModels, Problem> {
        let unknown = PlayerModels::default().shares(Seat::default());
        let mut shares = BySeat::from_fn(|_| unknown);
        for PlayerPolicies { seat, policies } in &self.players {
            let seat = self.seat(rules, "players", *seat)?;
            let most = PolicyName::ALL.len();
            let detail = format!("there are {most} policies");
            refuse_if(policies.len() > most, "/players", detail)?;
            let chance = |policy| {
                let found = policies.iter().filter(|share| share.policy == policy);
                found.map(|share| u32::from(share.permille)).sum::<u32>()
            };
            let chances = PolicyName::ALL.map(chance);
            let is_wrong = chances.iter().sum::<u32>() != 1_000;
            let detail = format!("the policies of {seat} must sum to 1000 permille");
            refuse_if(is_wrong, "/players", detail)?;
            shares[seat] = chances.map(|chance| chance as u16);
        }
        Ok(PlayerModels::with_shares(shares))
    }

    /// The seat with this number, in a list of this name.
    fn seat(&self, rules: &Rules, name: &str, number: u8) -> Result<Seat, Problem> {
        Seat::new(number, rules.seats)
            .ok_or_else(|| invalid(&format!("/{name}"), format!("{name} has no seat {number}")))
    }

    /// The entries of `played`, each in its form with or without `round_began`.
    fn plays(&self, view: &SeatView) -> Result<Vec<Play>, Problem> {
        let is_early = view.exchanging && !self.played.is_empty();
        let detail = "nothing is played before the exchange is over";
        refuse_if(is_early, "/played", detail)?;
        let detail = format!("no round has more than {MAX_PLAYED} plays");
        refuse_if(self.played.len() > MAX_PLAYED, "/played", detail)?;
        let plays = self.played.iter().enumerate();
        plays
            .map(|(index, played)| {
                let place = format!("/played/{index}");
                let seat = Seat::new(played.seat, view.rules.seats)
                    .ok_or_else(|| invalid(&place, format!("there is no seat {}", played.seat)))?;
                played.read(seat, &place, self.round_began.is_some())
            })
            .collect()
    }

    /// Sets how many cards each seat holds, and who has folded.
    fn set_counts(&self, view: &mut SeatView, plays: &[Play]) -> Result<(), Problem> {
        let (rules, seat, hand) = (view.rules, view.seat, view.hand);
        view.counts = if plays.is_empty() {
            default_counts(view, &self.folded)
        } else {
            self.remaining_counts(view, plays)?
        };
        let Some(counts) = &self.counts else {
            return Ok(());
        };
        let seats = usize::from(rules.seats);
        let detail = format!("counts must have {seats} entries");
        refuse_if(counts.len() != seats, "/counts", detail)?;
        for (other, &count) in rules.ring().seats().zip(counts) {
            let differ = !plays.is_empty() && view.counts[other] != count;
            let detail = format!("counts and played disagree on {other}");
            refuse_if(differ, "/counts", detail)?;
            view.counts[other] = count;
        }
        let detail = format!("counts and hand disagree on {seat}");
        refuse_if(view.counts[seat] != hand.len(), "/counts", detail)
    }

    /// How many cards each seat holds after these plays, each of which was in its turn. At first
    /// all had as many as this seat.
    fn remaining_counts(&self, view: &mut SeatView, plays: &[Play]) -> Result<BySeat<u8>, Problem> {
        let (seats, seat) = (view.rules.seats, view.seat);
        let own = plays.iter().filter(|play| play.seat == seat);
        let played: usize = own.map(|play| usize::from(play.revealed.len())).sum();
        let too_many = format!("{seat} cannot have played so many cards");
        let dealt = u8::try_from(played + usize::from(view.hand.len()))
            .map_err(|_| invalid("/played", too_many))?;
        let mut counts = BySeat::default();
        for other in view.rules.ring().seats() {
            counts[other] = dealt;
        }
        let mut turn = plays[0].seat;
        for (index, play) in plays.iter().enumerate() {
            let place = format!("/played/{index}");
            let detail = format!("{turn} is to play here, not {}", play.seat);
            refuse_if(play.seat != turn, &place, detail)?;
            let left = counts[turn].checked_sub(play.revealed.len());
            let left = left.filter(|&left| left == 0 || !play.is_fold);
            counts[turn] = left.ok_or_else(|| {
                let detail = format!("{turn} holds so many cards here: {}", counts[turn]);
                invalid(&place, detail)
            })?;
            view.folded[turn] = play.is_fold;
            turn = turn
                .next_of(seats, |seat| counts[seat] > 0)
                .ok_or_else(|| invalid(&place, "the round is over after this"))?;
        }
        let detail = format!("{turn} is to move after this, not {seat}");
        refuse_if(turn != seat, "/played", detail)?;
        Ok(counts)
    }

    /// Adds the cards that are known to be in other hands.
    fn add_hands(&self, view: &mut SeatView) -> Result<(), Problem> {
        for (number, names) in &self.hands {
            let mut seats = view.rules.ring().seats();
            let other = seats
                .find(|seat| seat.number().to_string() == *number)
                .ok_or_else(|| invalid("/hands", format!("hands has no seat {number:?}")))?;
            let place = format!("/known/hands/{}", other.number());
            let cards = read_cards(names, &place)?;
            let differ = other == view.seat && cards != view.hand;
            let detail = format!("hands and counts or hand disagree on {other}");
            refuse_if(differ || cards.len() > view.counts[other], "/hands", detail)?;
            if other != view.seat {
                view.known[other] = cards;
            }
        }
        Ok(())
    }

    /// Adds the cards that the seat and its partner swapped, as far as they are still held.
    fn add_swap(&self, view: &mut SeatView, plays: &[Play]) -> Result<(), Problem> {
        let (seat, partner) = (view.seat, view.seat.partner(view.rules.seats));
        let (gave, received) = match (&self.gave, &self.received) {
            (Some(gave), Some(received)) => (
                card_of(gave, "/known/gave".to_owned())?,
                card_of(received, "/known/received".to_owned())?,
            ),
            (None, None) => return Ok(()),
            _ => return Err(invalid("/gave", "gave and received belong together")),
        };
        let detail = "no cards are swapped before the exchange is over";
        refuse_if(view.exchanging, "/gave", detail)?;
        let has_played = |seat: Seat, card: Card| {
            plays
                .iter()
                .any(|play| play.seat == seat && play.revealed.contains(card))
        };
        view.offered = Some(gave);
        view.received = Some(received);
        view.exchange[seat] = ExchangeState::Swapped;
        view.exchange[partner] = ExchangeState::Swapped;
        view.holds_received = !has_played(seat, received);
        let is_lost = view.holds_received && !view.hand.contains(received);
        let detail = format!("{received} was received, and is neither in the hand nor played");
        refuse_if(is_lost, "/received", detail)?;
        if has_played(partner, gave) {
            return Ok(());
        }
        let left = view.counts[partner];
        let detail = format!("{partner} has no cards left, and never showed {gave}");
        refuse_if(!plays.is_empty() && left == 0, "/gave", detail)?;
        let known = &mut view.known[partner];
        if left > 0 && !known.contains(gave) {
            let detail = format!("{gave} was given, and {partner} no longer holds it");
            refuse_if(known.len() == left, "/gave", detail)?;
            known.add(gave);
        }
        Ok(())
    }

    /// The moves of the round, which lead from this position to the board.
    fn past_moves(
        &self,
        view: &SeatView,
        began: &str,
        plays: &[Play],
    ) -> Result<Vec<PastMove>, Problem> {
        let rules = view.rules;
        let mut board = position::read(rules, began)?;
        let mut moves = Vec::new();
        for (index, play) in plays.iter().enumerate() {
            let Some(mv) = play.mv else { continue };
            let outcome = judge::judge(rules, &board, play.seat, play.revealed, &mv)
                .map_err(|refusal| invalid(&format!("/played/{index}"), refusal))?;
            moves.push(PastMove {
                seat: play.seat,
                before: board,
                card: mv.card(),
                revealed: play.revealed,
                after: outcome.board,
            });
            board = outcome.board;
        }
        let reached = PositionText {
            rules,
            board: &board,
        };
        let detail = format!("the moves lead to another board: {reached}");
        refuse_if(board != view.board, "/played", detail)?;
        Ok(moves)
    }
}

impl PlayedCard {
    /// The play, which is a move if the board at the beginning of the round is known.
    fn read(&self, seat: Seat, place: &str, has_board: bool) -> Result<Play, Problem> {
        let known = |member: &str| format!("/known{place}/{member}");
        let PlayedCard {
            mv,
            cards: folded,
            card,
            fold,
            ..
        } = self;
        let (mv, revealed) = match (has_board, mv, folded, card, fold) {
            (true, Some(id), folded, None, None) => {
                let mv: Move = id
                    .parse()
                    .map_err(|error| invalid(&format!("{place}/move"), error))?;
                match (mv.card(), folded) {
                    (Some(card), None) => (Some(mv), Cards::one(card)),
                    (None, Some(names)) => (Some(mv), read_cards(names, &known("cards"))?),
                    _ => {
                        let detail = "cards are for a fold, and a fold needs them";
                        return Err(invalid(place, detail));
                    }
                }
            }
            (false, None, None, Some(name), None) => {
                (None, Cards::one(card_of(name, known("card"))?))
            }
            (false, None, None, None, Some(names)) => (None, read_cards(names, &known("fold"))?),
            (true, ..) => {
                let detail = "with round_began an entry has a move, and a fold its cards";
                return Err(invalid(place, detail));
            }
            (false, ..) => {
                let detail = "without round_began an entry has a card or a fold";
                return Err(invalid(place, detail));
            }
        };
        let is_fold = fold.is_some() || mv == Some(Move::Fold);
        let is_wrong = is_fold && revealed.is_empty();
        refuse_if(is_wrong, place, "nobody folds without cards")?;
        Ok(Play {
            seat,
            mv,
            is_fold,
            revealed,
        })
    }
}

/// Lays these cards on the discard pile, which never has more of a card than the deck.
fn add_to_pile(view: &mut SeatView, cards: Cards) -> Result<(), Problem> {
    let deck = view.rules.deck();
    for card in cards.sorted() {
        let most = deck.count(card);
        let detail = format!("the deck has only {most} {card}");
        refuse_if(view.discards.count(card) >= most, "/played", detail)?;
        view.discards.add(card);
    }
    Ok(())
}

/// How many cards each seat holds, if the client does not say.
fn default_counts(view: &SeatView, folded: &[u8]) -> BySeat<u8> {
    let SeatView { rules, seat, .. } = *view;
    let mut counts = view.counts;
    let mut other = view.beginner;
    while !view.exchanging && other != seat {
        counts[other] = counts[other].saturating_sub(1);
        other = other.next(rules.seats);
    }
    for &number in folded {
        if let Some(other) = Seat::new(number, rules.seats) {
            counts[other] = 0;
        }
    }
    counts
}

/// Checks that no more cards are named or counted than the deck has.
fn check_deck(view: &SeatView) -> Result<(), Problem> {
    let (deck, seats) = (view.rules.deck(), view.rules.ring().seats());
    for card in Card::ALL {
        let known = seats.clone().map(|seat| view.known[seat].count(card));
        let count = view.hand.count(card) + view.discards.count(card) + known.sum::<u8>();
        let most = deck.count(card);
        refuse_if(count > most, "", format!("the deck has only {most} {card}"))?;
    }
    let in_hands: u32 = seats.map(|seat| u32::from(view.counts[seat])).sum();
    let is_wrong = in_hands + u32::from(view.discards.len()) > u32::from(deck.len());
    let detail = format!("the deck has only {} cards", deck.len());
    refuse_if(is_wrong, "", detail)
}
