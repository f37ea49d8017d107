//! Invariants of every game (RULES §7), checked through many random actions, legal and not.

use std::{
    collections::HashSet,
    mem::{Discriminant, discriminant},
};

use dog_rules::{
    Action, ActionRefusal, Card, Cards, Event, EventKind, Game, Generator, LegalMove, Level, Move,
    Person, Phase, Player, Seat, Seed, Viewer, view::OwnCards,
};
use rand::{
    Rng, RngExt,
    rngs::ChaCha8Rng,
    seq::{IndexedRandom, SliceRandom},
};
use serde_json::{Value, json};

use super::{
    position::{PositionExt, seat},
    properties::{check_board, rng},
    random, rounds,
};

/// The number of random actions in all.
const ACTIONS: usize = 100_000;
/// A game is abandoned after this many actions.
const ACTIONS_A_GAME: usize = 1_500;

#[test]
fn random_actions_keep_every_invariant() {
    let mut rng = rng(6);
    let mut tally = ActionCounts::default();
    while tally.accepted + tally.refused < ACTIONS {
        random_game(&mut rng, &mut tally);
    }
    // The actions were a good mix.
    assert!(tally.accepted > ACTIONS / 3 && tally.refused > ACTIONS / 3);
    assert_eq!(
        tally.reasons.len(),
        15,
        "every ActionRefusal: {:?}",
        tally.reasons
    );
    assert!(tally.won > 20, "{} games came to an end", tally.won);
}

#[derive(Default)]
struct ActionCounts {
    accepted: usize,
    refused: usize,
    won: usize,
    reasons: HashSet<Discriminant<ActionRefusal>>,
}

fn random_game(rng: &mut ChaCha8Rng, tally: &mut ActionCounts) {
    let rules = random::rules(rng);
    let seed = Seed::new(rng.random());
    let set_up = || rules.game_of(seed.clone(), None);
    let mut game = set_up();
    let mut log = Vec::new();
    let mut holders = vec![None; usize::from(rules.seats)];
    let mut proposer = Proposer::new(rng.random_bool(0.7));
    // Some more actions, which are refused once the game is over.
    let mut after_the_end = 10;
    for _ in 0..ACTIONS_A_GAME {
        if game.phase() == Phase::Finished {
            after_the_end -= 1;
            if after_the_end == 0 {
                tally.won += 1;
                break;
            }
        }
        let action = proposer.propose(rng, &game);
        let before = game.clone();
        match game.apply(&action) {
            Ok(events) => {
                tally.accepted += 1;
                assert_eq!(game.version(), before.version() + 1);
                if let Action::Deal { .. } = action {
                    holders = people(&before);
                }
                check_events(&game, &holders, &events);
                check_game(&game);
                check_change(&before, &game, &action);
                log.push(action);
            }
            Err(refusal) => {
                tally.refused += 1;
                assert_eq!(game, before, "{refusal}, but the game has changed");
                tally.reasons.insert(discriminant(&refusal));
            }
        }
        if rng.random_ratio(1, 40) {
            let stored = serde_json::to_string(&game).expect("a game is stored");
            let restored: Game = serde_json::from_str(&stored).expect("a game is restored");
            assert_eq!(restored, game);
            check_damages(&game);
            check_secrets(rng, &game, &holders);
        }
    }
    let mut replayed = set_up();
    for action in &log {
        let action = serde_json::to_value(action).expect("an action is stored");
        let action: Action = serde_json::from_value(action).expect("an action is restored");
        replayed.apply(&action).expect("it was accepted before");
    }
    assert_eq!(replayed, game);
}

/// Proposes actions: about half are legal, the others are arbitrary.
pub struct Proposer {
    generator: Generator,
    /// Whether it brings pieces home where possible, so that games end.
    hurried: bool,
}

impl Proposer {
    pub fn new(hurried: bool) -> Proposer {
        Proposer {
            generator: Generator::new(),
            hurried,
        }
    }

    fn propose(&mut self, rng: &mut impl Rng, game: &Game) -> Action {
        if rng.random_bool(0.5) && game.phase() != Phase::Finished {
            return self.in_order(rng, game);
        }
        let seat = seat(rng.random_range(0..game.rules().seats));
        match rng.random_range(0..11) {
            0 => Action::Deal {
                by: rng.random_bool(0.7).then_some(seat),
            },
            1 | 2 => Action::Offer {
                seat,
                card: *Card::ALL.choose(rng).expect("a card"),
            },
            3 => Action::Decline { seat },
            4 => Action::Ask { seat },
            10 => Action::Pass { seat },
            5 if rng.random_bool(0.2) => Action::ReissueToken { seat },
            5 if rng.random_bool(0.2) => Action::HandOver {
                seat,
                player: Player::bot("Bot", Level::Greedy),
            },
            _ => {
                let seat = game.turn().filter(|_| rng.random_bool(0.8)).unwrap_or(seat);
                Action::Play {
                    seat,
                    mv: self.altered(rng, game, seat),
                }
            }
        }
    }

    pub fn in_order(&mut self, rng: &mut impl Rng, game: &Game) -> Action {
        if let Some(seat) = game.turn() {
            let mv = self.listed(rng, game, seat);
            return Action::Play { seat, mv };
        }
        let seats: Vec<Seat> = game.seats_to_act().collect();
        let seat = *seats.choose(rng).expect("a game in progress");
        let actions = game.legal_actions(seat);
        actions.choose(rng).expect("an action").clone()
    }

    /// A move of the list.
    fn listed(&mut self, rng: &mut impl Rng, game: &Game, seat: Seat) -> Move {
        let (rules, board, hand) = (game.rules(), game.board(), game.hand(seat));
        let mut moves = Vec::new();
        if !self.hurried && !hand.is_empty() {
            let card = random_card(rng, hand);
            self.generator
                .each_of_card(rules, board, seat, card, |found| {
                    moves.push(found.legal_move());
                });
        }
        if moves.is_empty() {
            moves = self.generator.legal_moves(rules, board, seat, hand);
        }
        let home = |legal: &&LegalMove| {
            let partner = seat.partner(rules.seats);
            let fields = |seat| u32::from(legal.outcome.board.goal(seat));
            let near = legal.outcome.board.goal(seat).count_ones()
                + legal.outcome.board.goal(partner).count_ones();
            (near, fields(seat) + fields(partner))
        };
        if self.hurried && rng.random_bool(0.8) {
            moves.iter().max_by_key(home).expect("a move").mv
        } else {
            moves.choose(rng).expect("a move").mv
        }
    }

    /// A move that may be illegal: of another hand, with another card, or with another field.
    fn altered(&mut self, rng: &mut impl Rng, game: &Game, seat: Seat) -> Move {
        let mv = self.listed(rng, game, seat);
        if rng.random_bool(0.1) {
            return Move::Fold;
        }
        let mut id = mv.to_string().into_bytes();
        for _ in 0..rng.random_range(1..3) {
            let place = rng.random_range(0..id.len());
            id[place] = *b"0123456789AJQKgp".choose(rng).expect("a letter");
        }
        let id = String::from_utf8(id).expect("ASCII");
        id.parse().unwrap_or(mv)
    }
}

fn random_card(rng: &mut impl Rng, hand: Cards) -> Card {
    let cards: Vec<Card> = hand.sorted().collect();
    *cards.choose(rng).expect("a card in the hand")
}

pub fn check_game(game: &Game) {
    let rules = game.rules();
    check_board(rules, game.board());
    // Every card is in exactly one place.
    let stored = json!(game);
    let stock = read_stored(&stored["stock"]);
    assert_eq!(stock.len(), game.stock_size());
    let mut all = game.discards();
    all.add_all(stock);
    for seat in Seat::all(rules.seats) {
        all.add_all(game.hand(seat));
    }
    assert_eq!(all, rules.deck());
    let holds = |seat: Seat| game.cards(seat) > 0;
    let mut seats = Seat::all(rules.seats);
    match game.phase() {
        Phase::Seating | Phase::Deal => {
            assert!(!seats.any(holds) && game.turn().is_none());
        }
        Phase::Exchange => {
            assert!(
                seats
                    .clone()
                    .all(|seat| game.cards(seat) == game.deal_size())
            );
            assert!(game.turn().is_none());
            assert!(
                seats.any(|seat| game.check_exchange(seat).is_ok()),
                "somebody can answer"
            );
        }
        Phase::Play => assert!(game.turn().is_some_and(holds)),
        Phase::Finished => assert!(game.turn().is_none()),
    }
    let (winner, finished) = (game.board().winner(rules), game.phase() == Phase::Finished);
    assert_eq!(game.winner().is_some(), finished);
    // A team that gives up is not beaten on the board.
    assert!(winner.is_none() || winner == game.winner());
    assert_eq!(game.seed_at_end().is_some(), finished);
    for seat in Seat::all(rules.seats).filter(|&seat| game.folded(seat)) {
        assert!(!holds(seat), "a seat that has folded sits out");
    }
}

/// What an accepted action changed in the game, besides the version.
fn check_change(before: &Game, game: &Game, action: &Action) {
    match *action {
        Action::Play { seat, mv } => {
            assert_eq!(before.turn(), Some(seat));
            let played = match mv {
                Move::Fold => before.hand(seat),
                Move::Play { card, .. } => [card].into_iter().collect(),
            };
            assert_eq!(game.hand(seat), before.hand(seat).without(played));
            assert_eq!(game.discards().without(played), before.discards());
            assert_eq!(
                game.folded(seat),
                mv == Move::Fold && game.phase() == Phase::Play
            );
        }
        _ => assert_eq!(game.board(), before.board()),
    }
}

/// The person at each seat; none where a bot plays.
pub fn people(game: &Game) -> Vec<Option<Person>> {
    let person = |seat| game.player(seat).is_human().then(|| game.person(seat));
    Seat::all(game.rules().seats).map(person).collect()
}

/// Everybody who has, had or could have a seat, and a spectator.
pub fn viewers(game: &Game) -> Vec<Viewer> {
    let of_seat = |seat| (0..=game.person(seat)).map(move |person| Viewer::Seat(seat, person));
    let seats = Seat::all(game.rules().seats).flat_map(of_seat);
    seats.chain([Viewer::Spectator]).collect()
}

/// Whether the hand of this seat was dealt to the viewer.
fn owns(viewer: Viewer, holders: &[Option<Person>], seat: Seat) -> bool {
    let holder = holders[usize::from(seat.number())];
    holder.is_some_and(|person| viewer == Viewer::Seat(seat, person))
}

/// Each viewer sees of an event what everybody may see and its own secrets, and no more. `holders`
/// are the people to whom the hands of this round were dealt.
pub fn check_events(game: &Game, holders: &[Option<Person>], events: &[Event]) {
    let is_secret = matches!(events[0].what, EventKind::ForfeitOffered { .. });
    if !is_secret || game.phase() == Phase::Finished {
        assert_eq!(game.last_event(), &events[0]);
    } else {
        assert_ne!(game.last_event(), &events[0]);
    }
    check_redaction(game, holders, events);
}

/// The same for events of the past.
pub fn check_redaction(game: &Game, holders: &[Option<Person>], events: &[Event]) {
    for event in events {
        for viewer in viewers(game) {
            let is = |seat| owns(viewer, holders, seat);
            let Some(seen) = event.clone().redacted_for(viewer) else {
                let EventKind::ForfeitOffered { seat, .. } = event.what else {
                    panic!("nobody sees {event:?}");
                };
                assert!(!matches!(viewer, Viewer::Seat(own, _) if own.team(4) == seat.team(4)));
                continue;
            };
            match (&seen.what, &event.what) {
                (
                    EventKind::CardsDealt { hands: seen, .. },
                    EventKind::CardsDealt { hands, .. },
                ) => {
                    for ((seat, seen), hand) in Seat::all(6).zip(seen).zip(hands) {
                        assert_eq!(*seen, hand.filter(|_| is(seat)));
                    }
                }
                (
                    EventKind::CardOffered { card: seen, .. },
                    EventKind::CardOffered { seat, card, .. },
                ) => {
                    assert_eq!(*seen, card.filter(|_| is(*seat)));
                }
                (EventKind::CardsSwapped { given: seen }, EventKind::CardsSwapped { given }) => {
                    let of_the_pair = given.iter().any(|given| is(given.seat));
                    for (seen, given) in seen.iter().zip(given) {
                        assert_eq!(seen.card, given.card.filter(|_| of_the_pair));
                    }
                }
                _ => assert_eq!(seen, *event),
            }
        }
    }
}

/// Cards that a viewer may not see can be replaced, and its view stays the same.
pub fn check_secrets(rng: &mut impl Rng, game: &Game, holders: &[Option<Person>]) {
    let mut hands = Seat::all(game.rules().seats).map(|seat| game.hand(seat));
    let between_rounds = match game.phase() {
        Phase::Seating | Phase::Deal => true,
        // A team may give up between rounds.
        Phase::Finished if hands.all(|hand| hand.is_empty()) => return,
        _ => false,
    };
    for viewer in viewers(game) {
        let other = with_other_secrets(rng, game, viewer, holders);
        let seats = game.seats_visible_to(viewer);
        assert_eq!(seats, other.seats_visible_to(viewer));
        for seen in seats {
            let is_own = owns(viewer, holders, seen.seat);
            if between_rounds {
                assert!(seen.own.is_none_or(|own| own == OwnCards::default()));
            } else {
                assert_eq!(seen.own.is_some(), is_own, "{viewer:?}");
            }
            if is_own {
                let seen = |game: &Game| format!("{:?}", game.seen_from(seen.seat));
                assert_eq!(seen(game), seen(&other));
            }
        }
        for seat in Seat::all(game.rules().seats) {
            assert_eq!(game.pending_action(seat), other.pending_action(seat));
        }
    }
}

/// A game that differs in what the viewer may not see: the stock, the others' hands, and the cards
/// that they offered and received.
fn with_other_secrets(
    rng: &mut impl Rng,
    game: &Game,
    viewer: Viewer,
    holders: &[Option<Person>],
) -> Game {
    let rules = game.rules();
    let mut stored = json!(game);
    let mut hidden: Vec<Card> = read_stored(&stored["stock"]).sorted().collect();
    let others = || Seat::all(rules.seats).filter(|&seat| !owns(viewer, holders, seat));
    // What the viewer's partner received from it and still holds is no secret.
    let known = |seat: Seat| -> Cards {
        let of_the_partner = owns(viewer, holders, seat.partner(rules.seats));
        let known = game.known_to_partner(seat).filter(|_| of_the_partner);
        known.into_iter().collect()
    };
    for seat in others() {
        hidden.extend(game.hand(seat).without(known(seat)).sorted());
    }
    hidden.shuffle(rng);
    for seat in others() {
        let pinned = known(seat);
        let mut hand = pinned;
        let rest = hidden.split_off(hidden.len() - usize::from(game.cards(seat) - pinned.len()));
        hand.add_all(rest.into_iter().collect());
        let state = &mut stored["seats"][usize::from(seat.number())];
        state["hand"] = json!(hand);
        let any = *Card::ALL.choose(rng).expect("a card");
        if !state["answer"]["offered"].is_null() {
            // Until the pair swaps, the card is in the hand.
            let laid_down = hand
                .ranks()
                .next()
                .filter(|_| game.phase() == Phase::Exchange);
            state["answer"]["offered"] = json!(laid_down.unwrap_or(any));
        }
        if pinned.is_empty() && !state["received"].is_null() {
            state["received"] = json!(any);
        }
    }
    stored["stock"] = json!(hidden.into_iter().collect::<Cards>());
    stored["seed"] = json!(Seed::new(rng.random()));
    serde_json::from_value(stored).expect("a stored game")
}

/// A stored game with a card less, a card more, another card, or a card laid down that is not in the
/// hand is not read.
fn check_damages(game: &Game) {
    let stored = json!(game);
    let is_read = |place: &str, value: String| {
        let mut damaged = stored.clone();
        *damaged.pointer_mut(place).expect("a place") = json!(value);
        serde_json::from_value::<Game>(damaged).is_ok()
    };
    let seats = 0..game.rules().seats;
    let hands = seats.clone().map(|seat| format!("/seats/{seat}/hand"));
    for place in hands.chain(["/stock", "/discards"].map(str::to_owned)) {
        let cards = stored.pointer(&place).and_then(Value::as_str);
        let cards = cards.expect("cards").to_owned();
        assert!(is_read(&place, cards.clone()));
        assert!(!is_read(&place, format!("{cards}A")), "{place}");
        if let Some(first) = cards.chars().next() {
            let other = if first == 'A' { '2' } else { 'A' };
            assert!(!is_read(&place, cards[1..].to_owned()), "{place}");
            assert!(
                !is_read(&place, format!("{other}{}", &cards[1..])),
                "{place}"
            );
        }
    }
    for seat in seats.map(seat).filter(|_| game.phase() == Phase::Exchange) {
        let mut others = Card::ALL
            .into_iter()
            .filter(|&card| !game.hand(seat).contains(card));
        if game.offered(seat).is_some() && game.received(seat).is_none() {
            let other = others.next().expect("a hand has six cards or so").name();
            let place = format!("/seats/{}/answer/offered", seat.number());
            assert!(!is_read(&place, other.to_owned()), "{place}");
        }
    }
}

fn read_stored(cards: &Value) -> Cards {
    serde_json::from_value(cards.clone()).expect("cards")
}

/// Seats that avoid the goals can play forever.
#[test]
fn long_games_keep_every_invariant() {
    let mut rng = rng(7);
    for _ in 0..200 {
        let rules = random::rules(&mut rng);
        let mut game = rules.game_of(Seed::new(rng.random()), None);
        for deal in rounds::play_rounds(&mut game, 20) {
            assert!(deal.hands.iter().all(|hand| hand.len() == deal.size));
            check_game(&game);
        }
    }
}
