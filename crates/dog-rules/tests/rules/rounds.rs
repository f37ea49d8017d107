//! Actions in a game: single moves by id, and whole rounds.

use std::cmp::Reverse;

use dog_rules::{
    Action, ActionRefusal, Card, Cards, Event, EventKind, Exchange, Game, Generator, LegalMove,
    Move, Phase, Seat,
};

use super::position::{read_move, seat};

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

/// Every seat offers its lowest card or, where it may, declines or passes.
pub fn exchange(game: &mut Game) {
    for seat in game.rules().ring().seats() {
        let offer = Action::Offer {
            seat,
            card: lowest(game, seat),
        };
        let decline = Action::Decline { seat };
        let action = match game.rules().exchange {
            Exchange::Mandatory => offer,
            Exchange::Optional => decline,
            Exchange::OnRequest => Action::Pass { seat },
        };
        if game.check_exchange(seat).is_ok() {
            game.apply(&action).expect("an exchange");
        }
    }
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

/// The seat plays this move.
pub fn play(game: &mut Game, by: u8, id: &str) -> Result<Vec<Event>, ActionRefusal> {
    let mv = read_move(id);
    game.apply(&Action::Play { seat: seat(by), mv })
}

/// Plays these moves, which must be legal in this order.
#[track_caller]
pub fn play_all(game: &mut Game, moves: &[(u8, &str)]) {
    for &(by, id) in moves {
        if let Err(refusal) = play(game, by, id) {
            panic!("{id} of seat {by} is refused: {refusal}");
        }
    }
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
