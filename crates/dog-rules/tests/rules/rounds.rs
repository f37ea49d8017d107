//! Actions in a game: single moves by id, those of an exchange, and whole rounds.

use std::cmp::Reverse;

use dog_rules::{
    Action, Card, Cards, Event, EventKind, Exchange, Game, Generator, LegalMove, Move, Phase,
    Preset, Rules, Seat,
};

use super::position::{PositionExt, read_move, seat};

/// One round's deal, from its event.
#[derive(Debug, PartialEq, Eq)]
pub struct Deal {
    pub round: u32,
    pub dealer: Seat,
    pub beginner: Seat,
    pub size: u8,
    pub reshuffled: bool,
    pub hands: Vec<Cards>,
    /// Cards left in the stock after the deal.
    pub stock: u8,
}

/// Deals and plays this many rounds. No seat comes near a goal, so the game never ends.
pub fn play_rounds(game: &mut Game, rounds: usize) -> Vec<Deal> {
    let play = |_| {
        let deal = play_round(game, &mut away_from_goals);
        assert_eq!(game.phase(), Phase::Deal, "the round ends without a winner");
        deal
    };
    (0..rounds).map(play).collect()
}

/// Deals a round and plays it to its end, or to the end of the game.
pub fn play_round(game: &mut Game, choose: &mut dyn FnMut(&Game, &[LegalMove]) -> Move) -> Deal {
    let deal = deal(game);
    exchange(game);
    while game.phase() == Phase::Play {
        let (seat, moves) = legal_moves(game);
        let mv = choose(game, &moves);
        game.apply(&Action::Play { seat, mv })
            .expect("a listed move");
    }
    deal
}

/// Deals the next round.
pub fn deal(game: &mut Game) -> Deal {
    let events = game
        .apply(&Action::Deal { by: None })
        .expect("a deal is due");
    let EventKind::CardsDealt {
        round,
        dealer,
        beginner,
        size,
        reshuffled,
        hands,
        ..
    } = &events[0].what
    else {
        panic!("a deal, not {events:?}")
    };
    Deal {
        round: *round,
        dealer: *dealer,
        beginner: *beginner,
        size: *size,
        reshuffled: *reshuffled,
        hands: hands
            .iter()
            .map(|hand| hand.expect("a hand dealt"))
            .collect(),
        stock: game.stock_size(),
    }
}

/// A dealt game; seat 0 has dealt.
pub fn dealt(rules: impl PositionExt) -> Game {
    let mut game = rules.game();
    deal(&mut game);
    game
}

/// Rules with an optional exchange, in which each seat deals in turn.
pub fn optional() -> Rules {
    Preset::Hausregeln.with(|options| options.exchange = Exchange::Optional)
}

/// Every seat offers its lowest card or, where it may, declines or passes.
pub fn exchange(game: &mut Game) {
    for seat in game.rules().ring().seats() {
        let answer = match game.rules().exchange {
            Exchange::Mandatory => "offers",
            Exchange::Optional => "declines",
            Exchange::OnRequest => "passes",
        };
        if game.check_exchange(seat).is_ok() {
            act(game, &format!("{} {answer}", seat.number()));
        }
    }
}

/// Carries out actions of an exchange, such as `"0 asks, 2 offers"`, which must be accepted. A seat
/// offers its lowest card. Returns the events of the last one.
#[track_caller]
pub fn act(game: &mut Game, actions: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for text in actions.split(", ") {
        let action = exchange_action(game, text);
        let result = game.apply(&action);
        events = result.unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    }
    events
}

/// Checks that each of these actions of an exchange is refused in these words.
#[track_caller]
pub fn act_refused(game: &mut Game, actions: &str, why: &str) {
    for text in actions.split(", ") {
        let action = exchange_action(game, text);
        refused(game, &action, why);
    }
}

/// An action such as `"0 asks"`.
pub fn exchange_action(game: &Game, text: &str) -> Action {
    let (by, what) = text.split_once(' ').expect("SEAT and what it does");
    let seat = seat(by.parse().expect("a seat's number"));
    let card = lowest(game, seat);
    match what {
        "asks" => Action::Ask { seat },
        "passes" => Action::Pass { seat },
        "declines" => Action::Decline { seat },
        "offers" => Action::Offer { seat, card },
        _ => panic!("{text} is not an action of an exchange"),
    }
}

/// The hands at a table of four.
pub fn hands(game: &Game) -> Vec<Cards> {
    Seat::all(4).map(|seat| game.hand(seat)).collect()
}

/// The first card of a seat's hand.
pub fn lowest(game: &Game, seat: Seat) -> Card {
    game.hand(seat).ranks().next().expect("a card in the hand")
}

/// The seat to move and its moves.
pub fn legal_moves(game: &Game) -> (Seat, Vec<LegalMove>) {
    let seat = game.turn().expect("a seat is to move");
    let hand = game.hand(seat);
    let moves = Generator::new().legal_moves(game.rules(), game.board(), seat, hand);
    (seat, moves)
}

/// The move that leaves the fewest pieces in goals, and then the most in kennels.
fn away_from_goals(game: &Game, moves: &[LegalMove]) -> Move {
    let worth = |legal: &&LegalMove| {
        let seats = || game.rules().ring().seats();
        let home: u32 = seats()
            .map(|seat| legal.outcome.board.goal(seat).count_ones())
            .sum();
        let kennel: u8 = seats().map(|seat| legal.outcome.board.kennel(seat)).sum();
        (home, Reverse(kennel))
    };
    let best = moves.iter().min_by_key(worth);
    best.expect("a list of moves is never empty").mv
}

/// Plays moves such as `"0 2:20>22, 1 fold"`, which must be legal in this order. Returns the events
/// of the last one.
#[track_caller]
pub fn play_all(game: &mut Game, moves: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for text in moves.split(", ") {
        let (by, id) = text.split_once(' ').expect("SEAT ID");
        let (seat, mv) = (seat(by.parse().expect("a seat's number")), read_move(id));
        let result = game.apply(&Action::Play { seat, mv });
        events = result.unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    }
    events
}

/// Plays the first move of the list. Returns the seat that played.
pub fn play_first(game: &mut Game) -> Seat {
    let (seat, moves) = legal_moves(game);
    let mv = moves[0].mv;
    game.apply(&Action::Play { seat, mv })
        .expect("a listed move");
    seat
}

/// Checks that the action is refused in these words and changes nothing.
#[track_caller]
pub fn refused(game: &mut Game, action: &Action, why: &str) {
    let before = game.clone();
    let refusal = game.apply(action).expect_err("an action that is refused");
    assert_eq!(refusal.to_string(), why);
    assert_eq!(*game, before, "a refused action changes nothing");
}

/// The same for a move.
#[track_caller]
pub fn play_refused(game: &mut Game, by: u8, id: &str, why: &str) {
    let mv = read_move(id);
    refused(game, &Action::Play { seat: seat(by), mv }, why);
}
