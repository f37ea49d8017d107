//! How fast the rules are: prints a table. `cargo bench --bench engine`.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use dog_server::rules::{
    board::{Board, Placement},
    card::Card,
    event::Action,
    game::{Game, Phase, Player, Setup},
    moves::{Generator, LegalMove},
    notation::Move,
    options::{Options, Preset, Rules, SevenPartner},
    seat::Seat,
    shuffle::Seed,
};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng};

fn main() {
    println!(
        "{:<58} {:>14} {:>14}",
        "engine, one core", "measured", "goal"
    );
    let positions = midgame_positions();
    let simple: Vec<Card> = Card::RANKS
        .into_iter()
        .filter(|&card| card != Card::Seven)
        .collect();
    let mut generator = Generator::new();
    let mut boards: Vec<Board> = Vec::new();
    let mut moves: Vec<LegalMove> = Vec::new();

    let lists = (positions.len() * simple.len()) as u32;
    let time = best_of(9, || {
        for (rules, board, seat) in &positions {
            for &card in &simple {
                boards.clear();
                generator.boards_of_card(rules, board, *seat, card, &mut boards);
                black_box(&boards);
            }
        }
    });
    row(
        "boards of a card, mid-game, neither 7 nor joker",
        time / lists,
        "< 1 µs",
    );
    let time = best_of(9, || {
        for (rules, board, seat) in &positions {
            for &card in &simple {
                moves.clear();
                generator.moves_of_card(rules, board, *seat, card, &mut moves);
                black_box(&moves);
            }
        }
    });
    row(
        "moves and boards of a card, neither 7 nor joker",
        time / lists,
        "< 1 µs",
    );

    let time = best_of(9, || {
        for (rules, board, seat) in &positions {
            boards.clear();
            generator.boards_of_card(rules, board, *seat, Card::Seven, &mut boards);
            black_box(&boards);
        }
    });
    row(
        "boards of a seven, mid-game",
        time / positions.len() as u32,
        "",
    );

    for (label, canadian, goal) in [
        ("a seven, four own pieces on the ring", false, "< 50 µs"),
        ("a seven, eight pieces, Canadian", true, "< 2 ms"),
    ] {
        let (rules, board, seat) = spread_out(canadian);
        let mut run = |with_moves: bool| {
            best_of(25, || {
                if with_moves {
                    moves.clear();
                    generator.moves_of_card(&rules, &board, seat, Card::Seven, &mut moves);
                    black_box(&moves);
                } else {
                    boards.clear();
                    generator.boards_of_card(&rules, &board, seat, Card::Seven, &mut boards);
                    black_box(&boards);
                }
            })
        };
        let (time_boards, time_moves) = (run(false), run(true));
        row(
            &format!("boards of {label} ({})", boards.len()),
            time_boards,
            goal,
        );
        row(&format!("moves and boards of {label}"), time_moves, goal);
    }

    let mut decisions = 0;
    let mut seed = 0;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        decisions += random_game(Preset::DogspielIt.rules(), seed, |_| {});
        seed += 1;
    }
    let per_second = seed as f64 / begun.elapsed().as_secs_f64();
    println!(
        "{:<58} {:>12.0}/s {:>14}",
        format!(
            "random games by the state machine ({} decisions each)",
            decisions / seed
        ),
        per_second,
        "> 300/s"
    );
}

fn row(label: &str, time: Duration, goal: &str) {
    println!(
        "{label:<58} {:>11.3} µs {goal:>14}",
        time.as_secs_f64() * 1e6
    );
}

/// The shortest of several runs: the others were disturbed.
fn best_of(runs: u32, mut work: impl FnMut()) -> Duration {
    let time = |_| {
        let begun = Instant::now();
        work();
        begun.elapsed()
    };
    (0..runs).map(time).min().expect("at least one run")
}

/// Positions from random games of every preset, each after a hundred to nine hundred moves.
fn midgame_positions() -> Vec<(Rules, Board, Seat)> {
    let mut positions = Vec::new();
    for preset in Preset::ALL {
        for seed in 0..20 {
            let rules = preset.rules();
            let mut moves = 0;
            random_game(rules.clone(), seed, |game| {
                moves += 1;
                if let Some(turn) = game.turn()
                    && moves % 40 == 0
                    && (100..900).contains(&moves)
                {
                    positions.push((rules.clone(), *game.board(), turn));
                }
            });
        }
    }
    positions
}

/// Pieces so far apart that they never meet: the most boards a seven can lead to.
fn spread_out(canadian: bool) -> (Rules, Board, Seat) {
    let mut options = Options {
        seats: 6,
        ..Preset::DogspielIt.options()
    };
    if canadian {
        options.seven_partner = SevenPartner::Always;
    }
    let rules = Rules::try_from(options).expect("possible rules");
    let placement = |track: &[u8]| Placement {
        track: track.to_vec(),
        ..Placement::default()
    };
    let mut placements = vec![Placement::default(); 6];
    placements[0] = placement(&[10, 22, 34, 46]);
    if canadian {
        placements[3] = placement(&[58, 68, 78, 88]);
    }
    let board = Board::place(&rules, &placements).expect("a possible board");
    (rules, board, Seat::default())
}

/// Plays a game to its end: any card that can be played, then any board it leads to, with equal
/// chances. Returns the number of decisions.
fn random_game(rules: Rules, seed: u64, mut look: impl FnMut(&Game)) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = [0; 32];
    rng.fill_bytes(&mut bytes);
    let player = Player {
        name: String::new(),
    };
    let players = vec![player; rules.seats.into()];
    let setup = Setup {
        rules,
        players,
        first_dealer: None,
        seed: Seed::new(bytes),
        seed_given: false,
    };
    let mut game = Game::new(setup);
    let mut generator = Generator::new();
    let mut moves = Vec::new();
    let mut decisions = 0;
    while game.phase() != Phase::Finished {
        let action = match game.phase() {
            Phase::Deal => Action::Deal { by: None },
            Phase::Exchange => {
                let seat = game
                    .rules()
                    .ring()
                    .seats()
                    .find(|&seat| game.check_exchange(seat).is_ok());
                let seat = seat.expect("somebody has not answered");
                let card = game
                    .hand(seat)
                    .sorted()
                    .next()
                    .expect("a hand to give from");
                Action::Offer { seat, card }
            }
            Phase::Play | Phase::Finished => {
                decisions += 1;
                let seat = game.turn().expect("somebody is to move");
                let mv = random_move(&game, seat, &mut generator, &mut moves, &mut rng);
                Action::Play { seat, mv }
            }
        };
        game.apply(&action).expect("a legal action");
        look(&game);
    }
    decisions
}

fn random_move(
    game: &Game,
    seat: Seat,
    generator: &mut Generator,
    moves: &mut Vec<LegalMove>,
    rng: &mut ChaCha8Rng,
) -> Move {
    // Drawing cards until one can be played is the same as drawing from those that can.
    let mut cards: Vec<Card> = game.hand(seat).sorted().collect();
    while !cards.is_empty() {
        let card = cards.swap_remove(rng.random_range(0..cards.len()));
        moves.clear();
        generator.moves_of_card(game.rules(), game.board(), seat, card, moves);
        if !moves.is_empty() {
            return moves[rng.random_range(0..moves.len())].mv;
        }
    }
    Move::Fold
}
