//! The advice of each level, in positions with a known answer and in many random ones.

use std::collections::HashSet;

use dog_rules::{BySeat, Card, ExchangeState, Game, Move, Preset, Rules, Seat, SeatView, judge};
use rand::{RngExt, rngs::ChaCha8Rng, seq::SliceRandom};

use super::{Choice, Level, Suggestion, testing::*};

/// The cells of each line of a table.
pub(super) fn cells<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    table.lines().map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        cells.try_into().expect("as many cells")
    })
}

/// The pieces of each seat of a position on one line.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    text.split('/').map(str::trim).collect()
}

/// Rules as text, such as `hausregeln seats=6`.
pub(super) fn rules(text: &str) -> Rules {
    text.parse().unwrap()
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

/// Each line: rules, a position, a hand, the best move, and what it does.
const PLAYS: &str = "\
    dogspiel-it | 20 30 / 26 / - / -                | 3 6       | 6:20>26  | captures
    dogspiel-it | 60 30 / - / - / -                 | 6 8 9     | 8:60>g3  | leaves the goal open
    hausregeln  | 1 20 / - / - / -                  | 4 9       | 4:1>g1   | walks back home
    dogspiel-it | 2 20 / - / - / -                  | 4 9       | 4:2>62   | walks back
    dogspiel-it | 20 45 / - / 25 / -                | 5         | 5:45>50  | spares its partner
    dogspiel-it | 20 25 / - / 60 / -                | 5         | 5:25>30  | spares itself
    dogspiel-it | 20 45 / 25 / - / -                | 5         | 5:20>25  | does not spare others
    dogspiel-it | - / - / - / -                     | K joker 5 | K:out    | keeps the joker
    dogspiel-it | 20 40 / - / - / -                 | 10 joker  | 10:40>50 | keeps the joker
    dogspiel-it | g0 g1 g2 g3 / - / 30 g1 g2 g3 / - | 2 9       | 2:30>32  | helps when home";

#[test]
fn greedy_finds_the_best_move_in_clear_positions() {
    for [rules, position, hand, expected, does] in cells(PLAYS) {
        let played = plays(&self::rules(rules), &pieces(position), hand);
        assert_eq!(played, expected, "{does}");
    }
}

#[test]
fn captures_with_both_pieces() {
    let rules = Preset::DogspielIt.rules();
    let both = ["20 40", "22 44", "", ""];
    let best = advise(Level::Greedy, &view(&rules, &both, "7 9"), &mut rng(1)).swap_remove(0);
    let after = best.outcome.expect("a move").board;
    assert_eq!(after.kennel(seat(1, &rules)), 4, "{best:?}");
}

#[test]
fn wins_at_once() {
    let rules = Preset::DogspielIt.rules();
    let last = ["g0 g1 g2 g3", "", "31 g1 g2 g3", ""];
    let last = view(&rules, &last, "3 2 joker");
    let best = advise(Level::Greedy, &last, &mut rng(1)).swap_remove(0);
    let Choice::Play(Move::Play { rank, .. }) = best.choice else {
        panic!("{best:?}");
    };
    assert_eq!(rank, Card::Two);
    assert_eq!(best.estimate.win_probability, 1.0);
}

/// Each line: rules, a position, a hand, the seats that have asked, and the answer.
const ANSWERS: &str = "\
    dogspiel-it                  | 30 40 / 50 / - / 52           | K K 7 5 9     |   | Offer(King)
    dogspiel-it                  | 30 40 / 50 / - / 52           | K A joker 5 9 |   | Offer(King)
    dogspiel-it                  | - / - / - / -                 | K K 7 5 9     |   | Offer(King)
    hausregeln                   | - / - / - / -                 | 2 3 7 9 Q     |   | Ask
    hausregeln                   | 30 40 g3 / 10 / 50 g2 g3 / 12 | joker joker   |   | Pass
    hausregeln                   | - / - / - / -                 | K A 7 9 Q     | 2 | Offer(King)
    hausregeln                   | 30 40 g3 / 10 / 50 g2 g3 / 12 | joker joker   | 2 | Decline
    hausregeln exchange=optional | - / - / - / -                 | 2 3 7 9 Q     |   | Ask
    hausregeln exchange=optional | - / - / - / -                 | K A 7 9 Q     | 2 | Offer(King)
    hausregeln exchange=optional | 30 40 g3 / 10 / 50 g2 g3 / 12 | joker joker   |   | Decline";

/// Greedy's answer.
fn answer(rules: &str, position: &str, hand: &str, asked: &str) -> Choice {
    let rules = self::rules(rules);
    let mut view = view(&rules, &pieces(position), hand);
    view.exchanging = true;
    for number in asked.split_whitespace() {
        let seat = seat(number.parse().unwrap(), &rules);
        view.asked[seat] = true;
        view.exchange[seat] = ExchangeState::Asked;
    }
    choose(Level::Greedy, &view, &mut rng(1))
}

#[test]
fn greedy_offers_what_its_partner_needs_and_asks_for_what_it_needs() {
    for [rules, position, hand, asked, expected] in cells(ANSWERS) {
        let found = answer(rules, position, hand, asked);
        assert_eq!(format!("{found:?}"), expected, "{hand} on {position}");
    }
    // With no piece in any kennel, a card that leaves it is useless.
    let all_out = "1 20 30 40 / 50 / 33 35 36 37 / 52";
    let offered = answer("dogspiel-it", all_out, "joker 7 5 9", "");
    assert!([offer("5"), offer("9")].contains(&offered), "{offered:?}");
    let asked = answer(OPTIONAL, "- / - / - / -", "2 3 7 9 Q", "0");
    assert!(matches!(asked, Choice::Offer(_)), "{asked:?}");
}

const OPTIONAL: &str = "hausregeln exchange=optional";

fn offer(card: &str) -> Choice {
    Choice::Offer(card.parse().unwrap())
}

#[test]
fn every_answer_is_ranked_once() {
    let rules = rules(OPTIONAL);
    let mut view = view(&rules, &["", "", "", ""], "2 2 K joker");
    view.exchanging = true;
    let ranked = |view: &SeatView, level| -> Vec<Choice> {
        let advice = advise(level, view, &mut rng(5));
        advice.iter().map(|suggestion| suggestion.choice).collect()
    };
    let [two, king, joker] = ["2", "K", "joker"].map(offer);
    let expected = HashSet::from([two, king, joker, Choice::Decline, Choice::Ask]);
    for level in Level::ALL {
        let choices = ranked(&view, level);
        assert_eq!(choices.len(), 5);
        assert_eq!(HashSet::from_iter(choices), expected);
    }
    view.asked[view.seat] = true;
    view.exchange[view.seat] = ExchangeState::Asked;
    assert!(!ranked(&view, Level::Greedy).contains(&Choice::Ask));

    let on_request = Preset::Hausregeln.rules();
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
    let choices = (0..400).map(|seed| choose(Level::Random, &view, &mut rng(seed)));
    let is_seven =
        |choice: &Choice| matches!(choice, Choice::Play(mv) if mv.card() == Some(Card::Seven));
    let sevens = choices.filter(is_seven).count();
    assert!((160..=240).contains(&sevens), "{sevens} of 400");
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
            let rules = rules(&format!("{} seats={seats}", preset.name()));
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
#[ignore = "takes half a minute: \
            cargo test -p dog-bot --lib -- --ignored advice_is_legal_in_very_many_positions"]
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
                assert!((0.0..=1.0).contains(&suggestion.estimate.win_probability));
            }
            // Only what was searched equally long is compared.
            let falls = |pair: &[Suggestion]| {
                pair[0].samples != pair[1].samples
                    || pair[0].estimate.win_probability >= pair[1].estimate.win_probability
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
#[ignore = "takes ten seconds: \
            cargo test -p dog-bot --lib -- --ignored in_longer_games"]
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
