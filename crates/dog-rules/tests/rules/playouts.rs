//! Playouts: every random step is legal and complete, and a playout goes on like the game it was
//! made from.

use std::collections::HashSet;

use dog_rules::{
    Action, Board, BySeat, Card, Cards, EventKind, Exchange, ExchangeAnswer, Game, Generator, Move,
    Phase, Playout, Preset, Seat, SeatView, Seed, playout::unseen_hands,
};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

use super::{
    position::{PositionExt, cards, read, seat},
    random,
    random_games::Proposer,
};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// The hands of all seats, which no seat knows.
fn hands(game: &Game) -> BySeat<Cards> {
    let mut hands = BySeat::default();
    for seat in game.rules().ring().seats() {
        hands[seat] = game.hand(seat);
    }
    hands
}

#[track_caller]
fn check_same(playout: &Playout, game: &Game) {
    assert_eq!(playout.phase(), game.phase());
    assert_eq!(playout.board(), game.board());
    assert_eq!(playout.round(), game.round());
    assert_eq!(playout.winner(), game.winner());
    assert_eq!(playout.discards(), game.discards());
    for seat in game.rules().ring().seats() {
        assert_eq!(playout.hand(seat), game.hand(seat), "{seat}");
        let choices = game.exchange_choices(seat);
        assert_eq!(playout.exchange_choices(seat), choices, "{seat}");
        assert_eq!(game.seen_from(seat).exchange_choices(), choices, "{seat}");
    }
    match game.phase() {
        Phase::Play => assert_eq!(Some(playout.turn()), game.turn()),
        Phase::Deal => assert_eq!(playout.turn(), game.beginner()),
        Phase::Seating | Phase::Exchange | Phase::Finished => {}
    }
}

/// Every seat knows in the playout what it knows in the game. A playout made after cards were
/// swapped knows those of one pair only.
#[track_caller]
fn check_views(playout: &Playout, game: &Game, swaps_known: impl Fn(Seat) -> bool) {
    for seat in game.rules().ring().seats() {
        let (mut found, mut expected) = (playout.seen_from(seat), game.seen_from(seat));
        // A playout has no past moves.
        expected.past_moves.clear();
        if !swaps_known(seat) {
            for view in [&mut found, &mut expected] {
                view.offered = None;
                view.received = None;
                view.holds_received = false;
                view.known = BySeat::default();
            }
        }
        assert_eq!(found, expected, "{seat}");
    }
}

/// What a test of playouts has covered, to check that it was enough.
#[derive(Debug, Default)]
struct Coverage {
    rounds: u32,
    /// Rounds that a playout with the game's stock dealt as the game did.
    dealt_alike: u32,
    won: u32,
    asked: u32,
    made_in_play: u32,
    presets: HashSet<String>,
    six: u32,
}

/// Between two rounds nobody has cards, and the next deal follows.
#[test]
fn a_playout_can_begin_before_a_deal() {
    let mut rng = rng(5);
    let (mut deals, mut proposer) = (0, Proposer::new(true));
    for _ in 0..10 {
        let rules = random::rules(&mut rng);
        let mut game = rules.game_of(Seed::new(rng.random()), None);
        for _ in 0..120 {
            if game.phase() == Phase::Deal {
                let view = game.seen_from(game.beginner());
                let mut playout = Playout::from_view(&view, hands(&game), &mut rng);
                check_same(&playout, &game);
                check_views(&playout, &game, |_| true);
                playout.deal(&mut rng);
                assert_eq!(playout.phase(), Phase::Exchange);
                let mut dealt = rules.ring().seats().map(|seat| playout.hand(seat).len());
                assert!(dealt.all(|cards| cards == game.deal_size()));
                deals += 1;
            }
            let action = proposer.in_order(&mut rng, &game);
            game.apply(&action).unwrap();
            if game.phase() == Phase::Finished {
                break;
            }
        }
    }
    assert!(deals > 20, "{deals}");
}

/// A playout made from a game in the middle of an exchange or of play, then played side by side
/// with it.
#[test]
fn a_playout_goes_on_as_its_game_does() {
    let mut rng = rng(23);
    let (mut seen, mut proposer) = (Coverage::default(), Proposer::new(true));
    for _ in 0..60 {
        let rules = random::rules(&mut rng);
        seen.presets.insert(rules.preset.name().to_owned());
        seen.six += u32::from(rules.seats == 6);
        let mut game = rules.game_of(Seed::new(rng.random()), None);
        // The playout, and the seat it was made for if cards had been swapped before.
        let mut playout: Option<(Playout, Option<Seat>)> = None;
        for _ in 0..600 {
            let action = proposer.in_order(&mut rng, &game);
            let undecided = game.phase() == Phase::Exchange
                && rules.ring().seats().any(|seat| {
                    // The offers of others are not in a view.
                    game.offered(seat).is_some() && game.check_exchange(seat).is_err()
                });
            if let Some(seat) = actor(&action)
                && playout.is_none()
                && !undecided
                && rng.random_bool(0.4)
            {
                let view = game.seen_from(seat);
                let view = SeatView {
                    rules: &rules,
                    ..view
                };
                let made = Playout::from_view(&view, hands(&game), &mut rng);
                check_same(&made, &game);
                let swapped = game.phase() == Phase::Play;
                seen.made_in_play += u32::from(swapped);
                playout = Some((made, swapped.then_some(seat)));
            }
            if let Some((playout, made_for)) = &playout {
                check_views(playout, &game, |seat| match *made_for {
                    None => true,
                    // It knows its partner's offer only if the pair has swapped.
                    Some(owner) => {
                        let swapped = game.received(owner).is_some();
                        seat == owner || swapped && seat == owner.partner(rules.seats)
                    }
                });
            }
            seen.asked += u32::from(matches!(action, Action::Ask { .. }));
            game.apply(&action).expect("a legal action");
            if let Some((playout, _)) = &mut playout {
                follow(playout, &action, &game);
                check_same(playout, &game);
            }
            match game.phase() {
                // The cards of the next round are in another order.
                Phase::Deal => {
                    if let Some((mut playout, _)) = playout.take() {
                        seen.rounds += 1;
                        check_views(&playout, &game, |_| true);
                        let mut told = playout.clone().with_stock(game.stock());
                        playout.deal(&mut rng);
                        check_fresh(&playout);
                        let mut next = game.clone();
                        let dealt = next.apply(&Action::Deal { by: None }).expect("a deal");
                        if !matches!(
                            dealt[0].what,
                            EventKind::CardsDealt {
                                reshuffled: true,
                                ..
                            }
                        ) {
                            seen.dealt_alike += 1;
                            told.deal(&mut rng);
                            check_same(&told, &next);
                        }
                    }
                }
                Phase::Finished => {
                    seen.won += 1;
                    break;
                }
                Phase::Seating | Phase::Exchange | Phase::Play => {}
            }
        }
    }
    assert!(
        seen.rounds > 300
            && seen.dealt_alike > 200
            && seen.won > 3
            && seen.asked > 30
            && seen.made_in_play > 100,
        "{seen:?}"
    );
    assert!(seen.presets.len() == 5 && seen.six > 5, "{seen:?}");
}

/// A round was just dealt, and nobody has acted.
fn check_fresh(playout: &Playout) {
    for seat in playout.rules().ring().seats() {
        let view = playout.seen_from(seat);
        assert!(view.exchanging);
        assert_eq!(view.hand, playout.hand(seat));
        assert_eq!((view.offered, view.received), (None, None));
        assert_eq!(view.known, BySeat::default());
        assert_eq!(view.folded, BySeat::default());
        assert_eq!(view.asked, BySeat::default());
        assert_eq!(view.exchange, BySeat::default());
    }
}

/// Who takes the action, unless it is a deal.
fn actor(action: &Action) -> Option<Seat> {
    action
        .seat()
        .filter(|_| !matches!(action, Action::Deal { .. }))
}

fn follow(playout: &mut Playout, action: &Action, game: &Game) {
    match *action {
        Action::Offer { seat, card } => playout.answer(seat, ExchangeAnswer::Offered(card)),
        Action::Decline { seat } => playout.answer(seat, ExchangeAnswer::Declined),
        Action::Ask { seat } => playout.ask(seat),
        Action::Pass { seat } => playout.answer(seat, ExchangeAnswer::Passed),
        Action::Play { mv: Move::Fold, .. } => playout.fold(),
        Action::Play {
            mv: Move::Play { card, .. },
            ..
        } => playout.play(card, game.board()),
        _ => {}
    }
}

#[test]
fn hands_are_dealt_from_unseen_cards() {
    let mut rng = rng(24);
    let (mut known, mut proposer) = (0, Proposer::new(true));
    for _ in 0..60 {
        let rules = random::rules(&mut rng);
        let mut game = rules.game_of(Seed::new(rng.random()), None);
        for _ in 0..120 {
            if game.phase() == Phase::Finished {
                break;
            }
            let action = proposer.in_order(&mut rng, &game);
            if let Some(seat) = actor(&action) {
                let view = game.seen_from(seat);
                let dealt = unseen_hands(&view, &mut rng);
                let mut all = view.discards;
                for other in rules.ring().seats() {
                    assert_eq!(dealt[other].len(), game.cards(other));
                    assert!(dealt[other].includes(view.known[other]));
                    known += u32::from(view.known[other].len());
                    all.add_all(dealt[other]);
                }
                assert_eq!(dealt[seat], game.hand(seat));
                assert!(rules.deck().includes(all));
                // It can be played on to the end of the round.
                let mut playout = Playout::from_view(&view, dealt, &mut rng);
                playout.play_on(&mut rng, 50);
            }
            game.apply(&action).expect("a legal action");
        }
    }
    assert!(known > 1_000, "{known} cards were known to be in a hand");
}

/// Every unseen card is equally likely in every hand.
#[test]
fn unseen_cards_are_dealt_evenly() {
    let rules = Preset::DogspielIt.rules();
    let mut game = rules.game_of(Seed::new([3; 32]), Some(seat(3)));
    game.apply(&Action::Deal { by: None }).expect("a deal");
    let view = game.seen_from(seat(0));
    let mut rng = rng(25);
    let times = 20_000;
    let mut counts = [0.0; Card::ALL.len()];
    for _ in 0..times {
        let dealt = unseen_hands(&view, &mut rng);
        for card in Card::ALL {
            counts[card as usize] += f64::from(dealt[seat(2)].count(card)) / f64::from(times);
        }
    }
    let unseen = rules.deck().without(view.hand);
    for card in Card::ALL {
        let expected = 6.0 * f64::from(unseen.count(card)) / f64::from(unseen.len());
        let found = counts[card as usize];
        assert!(
            (found - expected).abs() < 0.02,
            "{card}: {found}, not {expected}"
        );
    }
}

#[test]
fn copies_are_independent_and_seeds_reproduce() {
    let mut rng = rng(26);
    for _ in 0..30 {
        let rules = random::rules(&mut rng);
        let mut playout = Playout::new(&rules, seat(1));
        playout.play_on(&mut rng, 40);
        let before = format!("{playout:?}");
        let end = || {
            let mut copy = playout.clone();
            copy.play_on(&mut self::rng(27), 300);
            format!("{copy:?}")
        };
        assert_eq!(end(), end());
        assert_eq!(format!("{playout:?}"), before);
    }
}

#[test]
fn playouts_come_to_an_end() {
    let mut rng = rng(28);
    let mut wins = [0; 2];
    for preset in Preset::ALL {
        let rules = preset.rules();
        for _ in 0..20 {
            let mut playout = Playout::new(&rules, seat(0));
            let (winner, turns) = playout.play_on(&mut rng, 100_000);
            let winner = winner.expect("a victory");
            assert_eq!(playout.board().winner(&rules), Some(winner));
            assert!(turns > 50);
            wins[usize::from(winner)] += 1;
        }
    }
    assert!(wins[0] > 25 && wins[1] > 25, "{wins:?}");
}

#[test]
fn random_answers_swap_cards_in_every_kind_of_exchange() {
    let mut rng = rng(30);
    for preset in Preset::ALL {
        let rules = preset.rules();
        let mut swaps = 0;
        for _ in 0..200 {
            let mut playout = Playout::new(&rules, seat(0));
            playout.deal(&mut rng);
            let dealt = playout.clone();
            playout.exchange_at_random(&mut rng);
            assert_eq!(playout.phase(), Phase::Play);
            let mut seats = Seat::all(rules.seats);
            swaps += u32::from(seats.any(|seat| playout.hand(seat) != dealt.hand(seat)));
        }
        let expected = match rules.exchange {
            Exchange::Mandatory => 180..=200,
            Exchange::Optional | Exchange::OnRequest => 40..=160,
        };
        assert!(expected.contains(&swaps), "{preset:?}: {swaps}");
    }
}

#[test]
fn random_turns_are_legal_and_complete() {
    let rules = Preset::DogspielIt.rules();
    let mut rng = rng(29);
    let board = read(&rules, "0: 20 62 | 1: 30");
    for (hand, ways) in [("3 3 2", 5), ("K", 3), ("J", 2), ("7 joker", 40), ("6", 2)] {
        let view = SeatView::to_play(&rules, board, seat(0), cards(hand));
        let playout = Playout::from_view(&view, unseen_hands(&view, &mut rng), &mut rng);
        let mut listed = HashSet::new();
        for card in cards(hand).ranks() {
            let mut boards = Vec::new();
            Generator::new().boards_of_card(&rules, &board, seat(0), card, &mut boards);
            listed.extend(boards);
        }
        assert!(listed.len() >= ways, "{hand}: {}", listed.len());
        let drawn = (0..4_000).map(|_| {
            let mut after = playout.clone();
            after.play_on(&mut rng, 1);
            *after.board()
        });
        assert_eq!(drawn.collect::<HashSet<_>>(), listed, "{hand}");
    }
    let view = SeatView::to_play(&rules, Board::new(), seat(0), cards("2 3"));
    let mut playout = Playout::from_view(&view, unseen_hands(&view, &mut rng), &mut rng);
    playout.play_on(&mut rng, 1);
    assert!(playout.hand(seat(0)).is_empty() && *playout.board() == Board::new());
}
