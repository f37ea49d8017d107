//! RULES §8: the cards of every deal that is made follow from the seed, the rules and the first
//! dealer, however the game is played. So the same cards can be played at two tables.

use std::{collections::BTreeSet, num::NonZero, thread};

use dog_rules::{
    Action, Cards, EventKind, Game, Phase, Player, Preset, Rules, Seat, SeatKind, Seed, Setup,
};
use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};

use super::properties::rng;

/// How many deals of a game are compared: several shuffles.
const ROUNDS: usize = 12;

/// The values of the options that say how cards are dealt and change hands; each stands for that of
/// the preset where it is left out.
const RESHUFFLE: [&str; 3] = ["", "reshuffle=before_deal", "reshuffle=when_empty"];
const EXCHANGE: [&str; 4] = [
    "",
    "exchange=mandatory",
    "exchange=optional",
    "exchange=on_request",
];
const DEAL_SIZES: [&str; 5] = [
    "",
    r#"deal_sizes={"first":[6],"then":[5,4,3,2,6]}"#,
    r#"deal_sizes={"first":[6],"then":[5,4,3,2]}"#,
    r#"deal_sizes={"first":[1,2],"then":[13]}"#,
    r#"deal_sizes={"first":[4],"then":[5]}"#,
];

#[test]
fn the_cards_of_a_deal_do_not_depend_on_the_play() {
    compare(200);
}

#[test]
#[ignore = "takes many minutes"]
fn the_cards_of_very_many_deals_do_not_depend_on_the_play() {
    compare(2_000);
}

/// Compares the deals of games that are played differently, for so many seeds of each preset with
/// four and six seats.
fn compare(seeds: u64) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let work = |thread: u64| {
        let (mut options, mut deals) = (BTreeSet::new(), 0);
        for number in (0..seeds).filter(|number| number % threads == thread) {
            for preset in Preset::ALL {
                for seats in ["", "seats=6"] {
                    let (rules, chosen) = rules(preset, seats, number);
                    deals += compare_two(&rules, number);
                    options.extend(chosen);
                }
            }
        }
        (options, deals)
    };
    let results = thread::scope(|scope| {
        let threads = (0..threads).map(|thread| scope.spawn(move || work(thread)));
        let threads: Vec<_> = threads.collect();
        let results = threads
            .into_iter()
            .map(|thread| thread.join().expect("no difference"));
        results.collect::<Vec<_>>()
    });
    let options: BTreeSet<&str> = results
        .iter()
        .flat_map(|(options, _)| options)
        .copied()
        .collect();
    assert_eq!(
        options.len(),
        RESHUFFLE.len() + EXCHANGE.len() + DEAL_SIZES.len() - 2
    );
    let deals: usize = results.iter().map(|(_, deals)| deals).sum();
    println!("{deals} deals compared");
    assert!(deals as u64 > 60 * seeds, "{deals}");
}

/// The preset with other options, each with its turn.
fn rules(preset: Preset, seats: &str, number: u64) -> (Rules, [&'static str; 3]) {
    let number = number as usize;
    let chosen = [
        RESHUFFLE[number % RESHUFFLE.len()],
        EXCHANGE[number / RESHUFFLE.len() % EXCHANGE.len()],
        DEAL_SIZES[number % DEAL_SIZES.len()],
    ];
    let text = [preset.name(), seats, chosen[0], chosen[1], chosen[2]].join(" ");
    (text.trim().parse().expect(&text), chosen)
}

/// Plays a game twice, by different choices, and compares the deals that both have made.
fn compare_two(rules: &Rules, number: u64) -> usize {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    let setup = Setup {
        players: (0..rules.seats)
            .map(|seat| Player::human(format!("Player {seat}")))
            .collect(),
        first_dealer: Seat::new((number % 9) as u8, rules.seats),
        rules: rules.clone(),
        seed: Seed::new(seed),
        seed_given: false,
        must_confirm: Vec::new(),
    };
    let [one, other] = [2 * number, 2 * number + 1].map(|play| deals(&setup, &mut rng(play)));
    let common = one.len().min(other.len());
    assert_eq!(one[..common], other[..common], "{rules:?} {number}");
    common
}

/// The hands of the first deals of a game in which people play, leave, come back and give up by
/// chance.
fn deals(setup: &Setup, rng: &mut ChaCha8Rng) -> Vec<Vec<Option<Cards>>> {
    let (mut game, mut deals) = (Game::new(setup.clone()), Vec::new());
    while game.phase() != Phase::Finished && deals.len() < ROUNDS {
        let Ok(events) = game.apply(&action(&game, rng)) else {
            continue;
        };
        for event in events {
            if let EventKind::CardsDealt { hands, .. } = event.what {
                deals.push(hands);
            }
        }
    }
    deals
}

fn action(game: &Game, rng: &mut ChaCha8Rng) -> Action {
    let any = rng.random_range(0..game.rules().seats);
    let seat = Seat::new(any, game.rules().seats).expect("a seat");
    match rng.random_range(0..100) {
        0..2 => Action::HandOver {
            seat,
            player: Player {
                kind: *[SeatKind::Human, SeatKind::Bot]
                    .choose(rng)
                    .expect("a kind"),
                ..game.player(seat).clone()
            },
        },
        2 => Action::Forfeit {
            seat,
            offered: rng.random_bool(0.2),
        },
        _ => {
            let seat = game.timed_out_seat().expect("somebody is to act");
            let legal = game.legal_actions(seat);
            legal.choose(rng).expect("a legal action").clone()
        }
    }
}

#[test]
fn a_duplicate_ends_without_its_seed() {
    let setup = Setup {
        players: (0..4)
            .map(|seat| Player::human(format!("Player {seat}")))
            .collect(),
        first_dealer: None,
        rules: Preset::DogspielIt.rules(),
        seed: Seed::new([7; 32]),
        seed_given: false,
        must_confirm: Vec::new(),
    };
    let seed = setup.seed.hex();
    let mut game = Game::new(setup).as_duplicate();
    assert!(game.is_duplicate() && game.at_creation() == game);
    // A version that does not know duplicates, and would publish the seed, reads a truth value here.
    let stored = serde_json::to_value(&game).expect("JSON");
    assert_eq!(stored["seed_given"], "duplicate");
    assert_eq!(
        serde_json::from_value::<Game>(stored).expect("a game"),
        game
    );
    game.apply(&Action::Deal { by: None })
        .expect("the first deal");
    let before = game.last_event().clone();
    let [first, last] = [1, 3].map(|number| Action::Forfeit {
        seat: Seat::new(number, 4).expect("a seat"),
        offered: true,
    });
    game.apply(&first).expect("a team may give up");
    let events = game.apply(&last).expect("a team may give up");
    assert_eq!(events[2].what, EventKind::TableWon { team: 0 });
    assert!(
        !serde_json::to_string(&events)
            .expect("JSON")
            .contains(&seed)
    );
    // What a team says about giving up is its secret still.
    assert_eq!(game.last_event(), &before);
    assert_eq!(game.seed_at_end(), Some(seed));
}
