//! The speed of the rules, on one core. `cargo bench --bench engine`.

#[path = "../tests/rules/random.rs"]
#[allow(dead_code, reason = "the bench takes positions only")]
mod random;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dog_rules::{
    Action, BegunSeven, Board, Card, Cards, Game, Generator, Move, Options, Phase, Placement,
    Player, Playout, Preset, Rules, Seat, Seed, Setup, SevenPartner, judge, playout::unseen_hands,
};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

criterion_group! {
    name = engine;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots();
    targets = hands, cards, sevens, begun_sevens, games, playouts, details
}
criterion_main!(engine);

/// A seat to move.
struct BenchPosition {
    rules: Rules,
    board: Board,
    seat: Seat,
    hand: Cards,
}

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Positions from this part of random games of every preset, with full hands of six cards: each card
/// of `always`, and others of `any`.
fn positions(from: f64, to: f64, always: &[Card], any: &[Card]) -> Vec<BenchPosition> {
    let mut rng = rng(1);
    let mut positions = Vec::new();
    for preset in Preset::ALL {
        for _ in 0..40 {
            let rules = preset.rules();
            let new = Playout::new(&rules, Seat::default());
            let seed = rng.random();
            let (_, turns) = new.clone().play_on(&mut self::rng(seed), u32::MAX);
            let mut playout = new;
            let until = (f64::from(turns) * rng.random_range(from..to)) as u32;
            playout.play_on(&mut self::rng(seed), until);
            let mut hand: Cards = always.iter().copied().collect();
            while hand.len() < 6 {
                hand.add(any[rng.random_range(0..any.len())]);
            }
            positions.push(BenchPosition {
                board: *playout.board(),
                seat: playout.turn(),
                hand,
                rules,
            });
        }
    }
    positions
}

fn plain() -> Vec<Card> {
    let special = [Card::Seven, Card::Joker];
    let plain = Card::ALL.into_iter().filter(|card| !special.contains(card));
    plain.collect()
}

/// Lists every move of the card with its board into a buffer.
fn add(
    generator: &mut Generator,
    (rules, board, seat): (&Rules, &Board, Seat),
    card: Card,
    moves: &mut Vec<(Move, Board)>,
) {
    generator.each_of_card(rules, board, seat, card, |found| {
        moves.push((found.mv(), *found.board));
    });
}

/// Lists every move of the hand with its board into a buffer.
fn list(generator: &mut Generator, position: &BenchPosition, moves: &mut Vec<(Move, Board)>) {
    let BenchPosition {
        rules,
        board,
        seat,
        hand,
    } = position;
    moves.clear();
    for card in hand.ranks() {
        add(generator, (rules, board, *seat), card, moves);
    }
}

/// All legal moves of a full hand with their boards, by phase of the game.
fn hands(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hand");
    let mut generator = Generator::new();
    let mut moves = Vec::new();
    let plain = plain();
    for (hand, always) in [
        ("without 7 and joker", &[][..]),
        ("with a 7", &[Card::Seven]),
        ("with a joker", &[Card::Joker]),
        ("with both", &[Card::Seven, Card::Joker]),
    ] {
        for (phase, from, to) in [
            ("opening", 0.0, 0.1),
            ("middle", 0.3, 0.7),
            ("end", 0.9, 1.0),
        ] {
            let positions = positions(from, to, always, &plain);
            group.throughput(Throughput::Elements(positions.len() as u64));
            group.bench_function(BenchmarkId::new(hand, phase), |bencher| {
                bencher.iter(|| {
                    for position in &positions {
                        list(&mut generator, position, &mut moves);
                        black_box(&moves);
                    }
                });
            });
        }
    }
}

/// The moves of one card with their boards, mid-game.
fn cards(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("card");
    let mut generator = Generator::new();
    let mut moves = Vec::new();
    let positions = positions(0.3, 0.7, &[], &plain());
    group.throughput(Throughput::Elements(positions.len() as u64));
    for card in Card::ALL {
        group.bench_function(card.name(), |bencher| {
            bencher.iter(|| {
                for BenchPosition {
                    rules, board, seat, ..
                } in &positions
                {
                    moves.clear();
                    add(&mut generator, (rules, board, *seat), card, &mut moves);
                    black_box(&moves);
                }
            });
        });
    }
}

/// Sevens of pieces so far apart that they never meet, which gives the most boards, and of eight
/// pieces in a chain.
fn sevens(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("seven");
    let apart = [10, 22, 34, 46, 58, 68, 78, 88];
    let mut tables: Vec<(String, Rules, Board)> = (1..=8)
        .map(|count| {
            let (rules, board) = canadian(&apart[..count]);
            (format!("{count} apart"), rules, board)
        })
        .collect();
    let (rules, board) = canadian(&[20, 22, 24, 26, 28, 30, 32, 34]);
    tables.push(("8 in a row".to_owned(), rules, board));
    let mut generator = Generator::new();
    let (mut moves, mut boards) = (Vec::new(), Vec::new());
    for (name, rules, board) in tables {
        let seat = Seat::default();
        generator.boards_of_card(&rules, &board, seat, Card::Seven, &mut boards);
        let name = format!("{name} ({})", boards.len());
        group.bench_function(BenchmarkId::new("boards", &name), |bencher| {
            bencher.iter(|| {
                generator.boards_of_card(&rules, &board, seat, Card::Seven, &mut boards);
                black_box(&boards);
            });
        });
        group.bench_function(BenchmarkId::new("moves and boards", &name), |bencher| {
            bencher.iter(|| {
                moves.clear();
                add(
                    &mut generator,
                    (&rules, &board, seat),
                    Card::Seven,
                    &mut moves,
                );
                black_box(&moves);
            });
        });
    }
}

/// The first step of a seven chosen part by part, of pieces that never meet and in the slowest of
/// many random positions.
fn begun_sevens(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("begun seven");
    let (rules, board) = canadian(&[10, 22, 34, 46, 58, 68, 78, 88]);
    let mut rng = rng(4);
    let mut slowest = (Duration::ZERO, random::position(&mut rng));
    for _ in 0..100_000 {
        let position = random::position(&mut rng);
        // The shortest of three times, because others use the machine too.
        let time = (0..3).map(|_| {
            let started = Instant::now();
            black_box(first_step(&position));
            started.elapsed()
        });
        let time = time.min().unwrap_or_default();
        if time > slowest.0 {
            slowest = (time, position);
        }
    }
    for (name, position) in [
        ("8 apart", (rules, board, Seat::default())),
        ("the slowest of 100,000", slowest.1),
    ] {
        let name = format!("{name} ({})", first_step(&position));
        group.bench_function(BenchmarkId::new("first step", name), |bencher| {
            bencher.iter(|| black_box(first_step(&position)));
        });
    }
}

/// The number of parts that a seven may begin with.
fn first_step((rules, board, seat): &(Rules, Board, Seat)) -> usize {
    let begun: BegunSeven = "7:".parse().expect("a begun seven");
    let so_far = begun.judge(rules, board, *seat, Cards::deck(1));
    so_far.map_or(0, |so_far| {
        let next = black_box(begun.next_parts(rules, *seat, &so_far));
        next.len()
    })
}

/// The own pieces are on the first four of these fields, the partner's on the others.
fn canadian(fields: &[u8]) -> (Rules, Board) {
    let rules = Rules::try_from(Options {
        seats: 6,
        seven_partner: SevenPartner::Always,
        ..Preset::DogspielIt.options()
    })
    .expect("a possible set of rules");
    let on = |track: &[u8]| Placement {
        track: track.to_vec(),
        ..Placement::default()
    };
    let (own, partners) = fields.split_at(fields.len().min(4));
    let mut placements = vec![Placement::default(); 6];
    placements[0] = on(own);
    placements[3] = on(partners);
    let board = Board::place(&rules, &placements).expect("a possible board");
    (rules, board)
}

/// Whole random playouts.
fn games(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("game");
    group.throughput(Throughput::Elements(1));
    for preset in Preset::ALL {
        let rules = preset.rules();
        let mut rng = rng(2);
        group.bench_function(BenchmarkId::new("uniform", preset.name()), |bencher| {
            bencher.iter(|| Playout::new(&rules, Seat::default()).play_on(&mut rng, u32::MAX));
        });
    }
    let rules = Preset::DogspielIt.rules();
    let mut rng = rng(3);
    group.bench_function("uniform, by the state machine", |bencher| {
        bencher.iter(|| recorded_game(&rules, &mut rng));
    });
}

/// A game through [`Game::apply`], with judged moves and recorded events.
fn recorded_game(rules: &Rules, rng: &mut Xoshiro256PlusPlus) -> u64 {
    let player = Player::human("");
    let mut game = Game::new(Setup {
        players: vec![player; rules.seats.into()],
        rules: rules.clone(),
        first_dealer: None,
        seed: Seed::new(rng.random()),
        seed_given: false,
        must_confirm: Vec::new(),
    });
    let mut generator = Generator::new();
    let mut moves = Vec::new();
    let mut choose = |game: &Game, seat| {
        let mut untried = game.hand(seat);
        if game.phase() == Phase::Exchange {
            let card = untried.nth(0);
            return Action::Offer { seat, card };
        }
        let mut mv = Move::Fold;
        while !untried.is_empty() {
            let card = untried.nth(rng.random_range(0..untried.len()));
            moves.clear();
            add(
                &mut generator,
                (rules, game.board(), seat),
                card,
                &mut moves,
            );
            if !moves.is_empty() {
                mv = moves[rng.random_range(0..moves.len())].0;
                break;
            }
            while untried.remove(card) {}
        }
        Action::Play { seat, mv }
    };
    while game.step(&mut choose).expect("a legal action").is_some() {}
    game.version()
}

/// Makes a playout from a seat's view.
fn playouts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("playout");
    let rules = Preset::DogspielIt.rules();
    let mut rng = rng(5);
    let mut game = Game::new(Setup {
        players: vec![Player::human(""); 4],
        rules: rules.clone(),
        first_dealer: Some(Seat::default()),
        seed: Seed::new([5; 32]),
        seed_given: true,
        must_confirm: Vec::new(),
    });
    game.apply(&Action::Deal { by: None }).expect("a deal");
    let view = game.seen_from(Seat::default());
    group.bench_function("deal the unseen hands", |bencher| {
        bencher.iter(|| {
            let hands = unseen_hands(&view, &mut rng);
            Playout::from_view(&view, hands, &mut rng)
        });
    });
}

/// Reads and writes ids, and judges moves.
fn details(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("move");
    let mut moves = Vec::new();
    let mut generator = Generator::new();
    let mut ids = Vec::new();
    let positions = positions(0.3, 0.7, &[Card::Seven], &plain());
    for position in &positions {
        list(&mut generator, position, &mut moves);
        let ids_of_this = moves.iter().map(|legal| (position, legal.0.to_string()));
        ids.extend(ids_of_this.step_by(5));
    }
    group.throughput(Throughput::Elements(ids.len() as u64));
    group.bench_function("parse", |bencher| {
        bencher.iter(|| {
            for (_, id) in &ids {
                black_box(id.parse::<Move>().expect("a listed id"));
            }
        });
    });
    let moves: Vec<(&BenchPosition, Move)> = ids
        .iter()
        .map(|(position, id)| (*position, id.parse().expect("a listed id")))
        .collect();
    group.bench_function("write", |bencher| {
        bencher.iter(|| {
            for (_, mv) in &moves {
                black_box(mv.to_string());
            }
        });
    });
    group.bench_function("judge", |bencher| {
        bencher.iter(|| {
            for (
                BenchPosition {
                    rules,
                    board,
                    seat,
                    hand,
                },
                mv,
            ) in &moves
            {
                black_box(judge::judge(rules, board, *seat, *hand, mv).expect("a listed move"));
            }
        });
    });
}
