//! The advice of each level, in positions with a known answer and in many random ones.

use std::collections::HashSet;

use dog_rules::{
    BySeat, Card, Exchange, ExchangeState, Game, Move, Options, Preset, Rules, Seat, SeatView,
    judge,
};
use rand::{RngExt, rngs::ChaCha8Rng, seq::SliceRandom};

use super::{Choice, Level, Suggestion, testing::*};

/// Greedy's answer in the exchange after these seats have asked.
fn answers(rules: &Rules, pieces: &[&str], hand: &str, asked: &[u8]) -> Choice {
    let mut view = view(rules, pieces, hand);
    view.exchanging = true;
    for &number in asked {
        view.asked[seat(number, rules)] = true;
        view.exchange[seat(number, rules)] = ExchangeState::Asked;
    }
    choose(Level::Greedy, &view, &mut rng(1))
}

fn offer(card: &str) -> Choice {
    Choice::Offer(card.parse().unwrap())
}

#[test]
fn leaves_the_kennel_rather_than_walking_on() {
    for preset in Preset::ALL {
        let rules = preset.rules();
        assert_eq!(plays(&rules, &["", "", "", ""], "2 5 K"), "K:out");
        assert_eq!(plays(&rules, &["30", "", "", ""], "2 K"), "K:out");
        assert_eq!(plays(&rules, &["30", "", "", ""], "2 A"), "A:out");
    }
}

#[test]
fn captures_and_goes_home() {
    let rules = Preset::DogspielIt.rules();
    assert_eq!(plays(&rules, &["20 30", "26", "", ""], "3 6"), "6:20>26");
    // Innermost first, so that the goal stays open.
    assert_eq!(plays(&rules, &["60 30", "", "", ""], "6 8 9"), "8:60>g3");
    let both = ["20 40", "22 44", "", ""];
    let best = advise(Level::Greedy, &view(&rules, &both, "7 9"), &mut rng(1)).swap_remove(0);
    let after = best.outcome.expect("a move").board;
    assert_eq!(after.kennel(seat(1, &rules)), 4, "{best:?}");
}

#[test]
fn walks_back_to_the_door() {
    let hausregeln = Preset::Hausregeln.rules();
    assert_eq!(plays(&hausregeln, &["1 20", "", "", ""], "4 9"), "4:1>g1");
    let dogspiel = Preset::DogspielIt.rules();
    assert_eq!(plays(&dogspiel, &["2 20", "", "", ""], "4 9"), "4:2>62");
}

#[test]
fn spares_its_partner_and_itself() {
    let rules = Preset::DogspielIt.rules();
    assert_eq!(plays(&rules, &["20 45", "", "25", ""], "5"), "5:45>50");
    assert_eq!(plays(&rules, &["20 25", "", "60", ""], "5"), "5:25>30");
    // An opponent's piece there changes that.
    assert_eq!(plays(&rules, &["20 45", "25", "", ""], "5"), "5:20>25");
}

#[test]
fn keeps_the_joker() {
    let rules = Preset::DogspielIt.rules();
    assert_eq!(plays(&rules, &["", "", "", ""], "K joker 5"), "K:out");
    assert_eq!(
        plays(&rules, &["20 40", "", "", ""], "10 joker"),
        "10:40>50"
    );
}

#[test]
fn wins_at_once_and_helps_when_home() {
    let rules = Preset::DogspielIt.rules();
    let home = "g0 g1 g2 g3";
    let last = view(&rules, &[home, "", "30 g1 g2 g3", ""], "2 9");
    let best = advise(Level::Greedy, &last, &mut rng(1)).swap_remove(0);
    assert_eq!(best.choice, Choice::Play("2:30>32".parse().unwrap()));
    let last = view(&rules, &[home, "", "31 g1 g2 g3", ""], "3 2 joker");
    let best = advise(Level::Greedy, &last, &mut rng(1)).swap_remove(0);
    let Choice::Play(Move::Play { rank, .. }) = best.choice else {
        panic!("{best:?}");
    };
    assert_eq!(rank, Card::Two);
    assert_eq!(best.win_probability, 1.0);
}

#[test]
fn offers_what_the_partner_needs() {
    let rules = Preset::DogspielIt.rules();
    let stuck = ["30 40", "50", "", "52"];
    assert_eq!(answers(&rules, &stuck, "K K 7 5 9", &[]), offer("K"));
    assert_eq!(answers(&rules, &stuck, "K A joker 5 9", &[]), offer("K"));
    let all_in = ["", "", "", ""];
    assert_eq!(answers(&rules, &all_in, "K K 7 5 9", &[]), offer("K"));
    // With no piece in any kennel, a card that leaves it is useless.
    let all_out = ["1 20 30 40", "50", "33 35 36 37", "52"];
    let Choice::Offer(card) = answers(&rules, &all_out, "joker 7 5 9", &[]) else {
        panic!("a card must be offered");
    };
    assert!([Card::Five, Card::Nine].contains(&card), "{card}");
}

/// Rules with this exchange.
fn with_exchange(exchange: Exchange) -> Rules {
    let options = Options {
        exchange,
        ..Preset::Hausregeln.options()
    };
    Rules::try_from(options).unwrap()
}

#[test]
fn asks_only_if_it_expects_to_gain() {
    let rules = with_exchange(Exchange::OnRequest);
    let all_in = ["", "", "", ""];
    assert_eq!(answers(&rules, &all_in, "2 3 7 9 Q", &[]), Choice::Ask);
    let under_way = ["30 40 g3", "10", "50 g2 g3", "12"];
    assert_eq!(
        answers(&rules, &under_way, "joker joker", &[]),
        Choice::Pass
    );
}

#[test]
fn helps_with_what_the_partner_needs_or_declines() {
    let rules = with_exchange(Exchange::OnRequest);
    let all_in = ["", "", "", ""];
    assert_eq!(answers(&rules, &all_in, "K A 7 9 Q", &[2]), offer("K"));
    let under_way = ["30 40 g3", "10", "50 g2 g3", "12"];
    assert_eq!(
        answers(&rules, &under_way, "joker joker", &[2]),
        Choice::Decline
    );
}

#[test]
fn asks_offers_and_declines() {
    let rules = with_exchange(Exchange::Optional);
    let all_in = ["", "", "", ""];
    assert_eq!(answers(&rules, &all_in, "2 3 7 9 Q", &[]), Choice::Ask);
    assert!(matches!(
        answers(&rules, &all_in, "2 3 7 9 Q", &[0]),
        Choice::Offer(_)
    ));
    assert_eq!(answers(&rules, &all_in, "K A 7 9 Q", &[2]), offer("K"));
    let under_way = ["30 40 g3", "10", "50 g2 g3", "12"];
    assert_eq!(
        answers(&rules, &under_way, "joker joker", &[]),
        Choice::Decline
    );
}

#[test]
fn every_answer_is_ranked_once() {
    let rules = with_exchange(Exchange::Optional);
    let mut view = view(&rules, &["", "", "", ""], "2 2 K joker");
    view.exchanging = true;
    let ranked = |view: &SeatView, level| -> Vec<Choice> {
        advise(level, view, &mut rng(5))
            .iter()
            .map(|suggestion| suggestion.choice)
            .collect()
    };
    for level in Level::ALL {
        let choices = ranked(&view, level);
        assert_eq!(choices.len(), 5);
        for choice in [
            offer("2"),
            offer("K"),
            offer("joker"),
            Choice::Decline,
            Choice::Ask,
        ] {
            assert!(choices.contains(&choice), "{choice:?}");
        }
    }
    view.asked[view.seat] = true;
    view.exchange[view.seat] = ExchangeState::Asked;
    assert!(!ranked(&view, Level::Greedy).contains(&Choice::Ask));

    let on_request = with_exchange(Exchange::OnRequest);
    view.rules = &on_request;
    let partner = seat(2, &on_request);
    view.exchange[partner] = ExchangeState::Offered;
    for level in Level::ALL {
        assert_eq!(ranked(&view, level).len(), 3, "it has promised a card");
        let (own, partner) = (view.seat, partner);
        let mut view = view.clone();
        view.exchange[own] = ExchangeState::Pending;
        view.exchange[partner] = ExchangeState::Asked;
        assert_eq!(ranked(&view, level).len(), 4);
        view.exchange[partner] = ExchangeState::Passed;
        let open = HashSet::from([Choice::Ask, Choice::Pass]);
        assert_eq!(HashSet::from_iter(ranked(&view, level)), open);
    }
    let mandatory = Preset::DogspielIt.rules();
    view.rules = &mandatory;
    view.exchange = BySeat::default();
    assert_eq!(ranked(&view, Level::Random).len(), 3);
}

#[test]
fn random_draws_cards_before_the_ways_to_play_them() {
    let rules = Preset::DogspielIt.rules();
    let view = view(&rules, &["20 30 40", "1", "", ""], "2 7");
    let sevens = (0..400)
        .map(|seed| choose(Level::Random, &view, &mut rng(seed)))
        .filter(|choice| {
            matches!(choice, Choice::Play(Move::Play { card, .. }) if *card == Card::Seven)
        })
        .count();
    assert!((160..=240).contains(&sevens), "{sevens} of 400");
}

#[test]
fn levels_have_names() {
    for level in Level::ALL {
        assert_eq!(Level::by_name(level.name()), Some(level));
    }
    assert_eq!(Level::by_name("oracle"), None);
}

/// Plays a game to its end with the level that `level` gives each seat. Returns the winning team.
fn play(mut game: Game, rng: &mut ChaCha8Rng, level: impl Fn(Seat) -> Level) -> u8 {
    let mut choose =
        |game: &Game, seat| choose(level(seat), &game.seen_from(seat), rng).action(seat);
    while game.step(&mut choose).unwrap().is_some() {}
    game.winner().unwrap()
}

#[test]
fn greedy_beats_random_by_every_preset() {
    for seats in [4, 6] {
        for preset in Preset::ALL {
            let options = Options {
                seats,
                ..preset.options()
            };
            let rules = Rules::try_from(options).unwrap();
            let games = 60;
            let won = (0..games)
                .filter(|&number| {
                    let team = (number % u64::from(seats / 2)) as u8;
                    let level = |seat: Seat| match seat.team(seats) == team {
                        true => Level::Greedy,
                        false => Level::Random,
                    };
                    play(new_game(&rules, number), &mut rng(number), level) == team
                })
                .count();
            assert!(won >= 58, "{preset:?} for {seats}: {won} of {games}");
        }
    }
}

#[test]
fn advice_is_legal_in_any_position() {
    check_advice(200);
}

#[test]
#[ignore = "takes half a minute"]
fn advice_is_legal_in_very_many_positions() {
    check_advice(2_000);
}

fn check_advice(positions: u32) {
    let mut rng = rng(2026);
    for _ in 0..positions {
        let rules = random_rules(&mut rng);
        let mut deck: Vec<Card> = rules.deck().sorted().collect();
        deck.shuffle(&mut rng);
        let size = rng.random_range(1..=6);
        let mut view = view(&rules, &vec![""; usize::from(rules.seats)], "2");
        view.board = random_board(&rules, &mut rng);
        view.hand = deck[..size].iter().copied().collect();
        view.seat = seat(rng.random_range(0..rules.seats), &rules);
        if view.board.winner(&rules).is_some() {
            continue;
        }
        for level in Level::ALL {
            let advice = advise(level, &view, &mut rng);
            for suggestion in &advice {
                let Choice::Play(mv) = suggestion.choice else {
                    panic!("{suggestion:?} is not a move");
                };
                let outcome = judge::judge(&rules, &view.board, view.seat, view.hand, &mv);
                assert_eq!(suggestion.outcome, outcome.ok());
                assert!((0.0..=1.0).contains(&suggestion.win_probability));
            }
            // Only what was searched equally long is compared.
            let falls = |pair: &[Suggestion]| {
                pair[0].samples != pair[1].samples
                    || pair[0].win_probability >= pair[1].win_probability
            };
            assert!(level == Level::Random || advice.windows(2).all(falls));
        }
    }
}

#[test]
fn whole_games_go_through_under_any_rules() {
    let mut rng = rng(7);
    for number in 0..40 {
        let rules = random_rules(&mut rng);
        let mut game = new_game(&rules, number);
        for _ in 0..600 {
            let choose = |game: &Game, seat: Seat| {
                let level = Level::ALL[usize::from(seat.number() % 2)];
                let advice = advise(level, &game.seen_from(seat), &mut rng);
                let any = advice[rng.random_range(0..advice.len())].choice;
                game.clone().apply(&any.action(seat)).unwrap();
                advice[0].choice.action(seat)
            };
            game.step(choose).unwrap();
        }
    }
}

#[test]
fn advice_depends_on_nothing_hidden_and_repeats() {
    check_what_is_hidden(30);
}

#[test]
#[ignore = "takes ten seconds"]
fn advice_depends_on_nothing_hidden_in_longer_games() {
    check_what_is_hidden(150);
}

fn check_what_is_hidden(steps: u64) {
    let mut chance = rng(3);
    for (number, preset) in (0..).zip(Preset::ALL) {
        let mut game = new_game(&preset.rules(), number);
        for step in 0..steps {
            let choose = |game: &Game, seat| {
                let other = hidden_changed(game, seat, &mut chance);
                assert_ne!(*game, other);
                for level in Level::ALL {
                    let advice = advise(level, &game.seen_from(seat), &mut rng(step));
                    let again = advise(level, &other.seen_from(seat), &mut rng(step));
                    assert_eq!(advice, again);
                }
                choose(Level::Greedy, &game.seen_from(seat), &mut rng(step)).action(seat)
            };
            game.step(choose).unwrap();
        }
    }
}
