//! Helpers for tests of players: boards as short text, random games, and a plain calculation of a
//! net. Built only for tests and with the feature `testing`.

use std::sync::LazyLock;

use dog_rules::{
    Board, Card, Cards, DealSizes, Dealer, EventKind, Exchange, Game, GoalEntry,
    JackWithoutEffectWhen, Options, Placement, Player, Preset, Protection, Reshuffle, Rules, Seat,
    SeatView, Seed, Setup, SevenLanding, SevenPartner, SevenRest, SevenSurplus, position,
    round_history::PastMove,
};
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

use crate::{
    Choice, Level, Suggestion,
    net::{HIDDEN, HIDDEN_2, LEAKY_SLOPE, Net, evaluator::Scratch, inputs::Input, nets::Nets},
    player_model::PlayerModels,
    search::Budget,
};

/// A board: for each seat the places of its pieces, as [`position`] writes them, or nothing.
pub fn board(rules: &Rules, seats: &[&str]) -> Board {
    let seats: Vec<&str> = seats
        .iter()
        .map(|&seat| if seat.is_empty() { "-" } else { seat })
        .collect();
    position::read(rules, &seats.join("/")).expect("a board")
}

pub fn cards(text: &str) -> Cards {
    text.split_whitespace()
        .map(|card| card.parse::<Card>().expect("a card"))
        .collect()
}

pub fn seat(number: u8, rules: &Rules) -> Seat {
    Seat::new(number, rules.seats).expect("a seat")
}

/// What seat 0 sees if everybody holds as many cards as it does.
pub fn view<'a>(rules: &'a Rules, pieces: &[&str], hand: &str) -> SeatView<'a> {
    SeatView::to_play(rules, board(rules, pieces), seat(0, rules), cards(hand))
}

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The nets, read once for all tests.
pub fn nets() -> &'static Nets {
    static NETS: LazyLock<Nets> = LazyLock::new(Nets::built_in);
    &NETS
}

/// Advice. Levels that search use a few playouts.
pub fn advise(level: Level, view: &SeatView, rng: &mut impl Rng) -> Vec<Suggestion> {
    advise_by(level, Some(Budget::Samples(6)), view, rng)
}

/// Advice by these playouts, or by those of the level.
pub fn advise_by(
    level: Level,
    budget: Option<Budget>,
    view: &SeatView,
    rng: &mut impl Rng,
) -> Vec<Suggestion> {
    let models = PlayerModels::default();
    crate::advise(nets(), level, budget, view, &models, &|| true, rng)
}

pub fn choose(level: Level, view: &SeatView, rng: &mut impl Rng) -> Choice {
    advise(level, view, rng)[0].choice
}

/// The id of the move that greedy plays.
pub fn plays(rules: &Rules, pieces: &[&str], hand: &str) -> String {
    match choose(Level::Greedy, &view(rules, pieces, hand), &mut rng(1)) {
        Choice::Play(mv) => mv.to_string(),
        other => panic!("{other:?} is not a move"),
    }
}

pub fn new_game(rules: &Rules, seed: u64) -> Game {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let name = String::new;
    Game::new(Setup {
        rules: rules.clone(),
        players: vec![Player::human(name()); usize::from(rules.seats)],
        first_dealer: None,
        seed: Seed::new(bytes),
        seed_given: true,
        must_confirm: Vec::new(),
    })
}

/// Plays this many rounds, or to the end, and returns what all have seen of how the seats play.
pub fn watch(
    game: &mut Game,
    rounds: u32,
    mut choose: impl FnMut(&SeatView) -> Choice,
) -> PlayerModels {
    let rules = game.rules().clone();
    let (mut models, mut moves) = (PlayerModels::default(), Vec::new());
    let mut scratch = Scratch::default();
    while game.round() <= rounds {
        let before = *game.board();
        let step = game.step(|game, seat| choose(&game.seen_from(seat)).action(seat));
        let Some((_, events)) = step.expect("a legal choice") else {
            break;
        };
        for event in events {
            moves.extend(PastMove::from_event(&event, &before));
            if let EventKind::RoundEnded { .. } = event.what {
                models.observe(nets().for_rules(&rules), &rules, &moves, &mut scratch);
                moves.clear();
            }
        }
    }
    models
}

/// Rules with every option drawn at random.
pub fn random_rules(rng: &mut ChaCha8Rng) -> Rules {
    fn one_of<T: Clone>(rng: &mut ChaCha8Rng, values: &[T]) -> T {
        values[rng.random_range(0..values.len())].clone()
    }
    let seven_partner = one_of(rng, &[SevenPartner::WhenHome, SevenPartner::Always]);
    let one_piece = seven_partner == SevenPartner::WhenHome && rng.random();
    let protections = [Protection::Always, Protection::Fresh];
    let sizes = vec![6, 5, 4, 3, 2];
    let options = Options {
        preset: Preset::DogspielIt,
        seats: one_of(rng, &[4, 6]),
        fields_per_seat: one_of(rng, &[15, 16]),
        jokers: rng.random_range(0..=12),
        deal_sizes: DealSizes {
            first: sizes.clone(),
            then: sizes,
        },
        dealer: one_of(rng, &[Dealer::Rotates, Dealer::Fixed]),
        reshuffle: one_of(rng, &[Reshuffle::WhenEmpty, Reshuffle::BeforeDeal]),
        exchange: one_of(
            rng,
            &[Exchange::Mandatory, Exchange::Optional, Exchange::OnRequest],
        ),
        start_block: one_of(rng, &protections),
        start_swap_protection: one_of(rng, &protections),
        goal_entry: one_of(rng, &[GoalEntry::OnStart, GoalEntry::BeforeStart]),
        backward_into_goal: rng.random(),
        fresh_into_goal: rng.random(),
        capture_own: rng.random(),
        seven_landing: one_of(rng, &[SevenLanding::Captures, SevenLanding::MustBeFree]),
        seven_surplus: one_of(rng, &[SevenSurplus::MustBeUsed, SevenSurplus::LapsesOnWin]),
        seven_partner,
        seven_rest: if one_piece {
            SevenRest::OnePiece
        } else {
            SevenRest::AnyPieces
        },
        jack_own_pair: rng.random(),
        jack_without_effect: rng.random(),
        jack_without_effect_when: one_of(
            rng,
            &[
                JackWithoutEffectWhen::NoOtherOnRing,
                JackWithoutEffectWhen::NoSwapPossible,
            ],
        ),
    };
    Rules::try_from(options).expect("possible rules")
}

/// A board with every piece at a random place.
pub fn random_board(rules: &Rules, rng: &mut ChaCha8Rng) -> Board {
    let mut free: Vec<u8> = (0..rules.ring().length()).collect();
    free.shuffle(rng);
    let placement = |seat: Seat| {
        let mut placement = Placement::default();
        // One seat in three has all or most of its pieces in its goal.
        let homely = rng.random_range(0..3) == 0;
        for field in 0..4 {
            match rng.random_range(0..8) {
                _ if homely && rng.random_range(0..4) > 0 => placement.goal.push(field),
                0..3 => {}
                3 => placement.goal.push(field),
                _ => placement.track.extend(free.pop()),
            }
        }
        let start = rules.ring().start(seat);
        placement.fresh = placement.track.contains(&start) && rng.random();
        placement
    };
    let placements: Vec<Placement> = rules.ring().seats().map(placement).collect();
    Board::place(rules, &placements).expect("a possible board")
}

/// A random board near the end: one team has all but one or two pieces at home.
pub fn end_board(rules: &Rules, rng: &mut ChaCha8Rng) -> Board {
    let ring = rules.ring();
    let mut placements = random_board(rules, rng).placements(rules);
    let first = seat(rng.random_range(0..rules.seats), rules);
    for owner in [first, first.partner(rules.seats)] {
        let out = usize::from(owner == first || rng.random_range(0..3) == 0);
        placements[usize::from(owner.number())] = Placement {
            goal: (out as u8..4).collect(),
            ..Placement::default()
        };
        if out > 0 {
            let taken = |field: &u8| placements.iter().any(|seat| seat.track.contains(field));
            let near = (1..=13).map(|steps| ring.backward(ring.door(owner), steps));
            let near: Vec<u8> = near.filter(|field| !taken(field)).collect();
            let field = near[rng.random_range(0..near.len())];
            placements[usize::from(owner.number())].track.push(field);
        }
    }
    Board::place(rules, &placements).expect("a possible board")
}

/// The same game with everything changed that the seat cannot see: the other hands and offers, the
/// stock and the shuffle seed.
pub fn hidden_changed(game: &Game, seat: Seat, rng: &mut ChaCha8Rng) -> Game {
    let mut value = serde_json::to_value(game).expect("a game is JSON");
    let others: Vec<usize> = (0..usize::from(game.rules().seats))
        .filter(|&other| other != usize::from(seat.number()))
        .collect();
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let mut pool: Vec<char> = text(&value["stock"]).chars().collect();
    for &other in &others {
        pool.extend(text(&value["seats"][other]["hand"]).chars());
    }
    pool.shuffle(rng);
    for &other in &others {
        let state = &mut value["seats"][other];
        let size = text(&state["hand"]).len();
        let hand: String = pool.drain(..size).collect();
        let held: Cards = serde_json::from_value(hand.clone().into()).expect("a hand");
        if let (Some(card), true) = (held.ranks().next(), state["answer"]["offered"].is_string()) {
            state["answer"]["offered"] = card.name().into();
        }
        state["hand"] = hand.into();
    }
    value["stock"] = pool.into_iter().collect::<String>().into();
    value["seed"] = "0".repeat(64).into();
    serde_json::from_value(value).expect("a game")
}

/// A net in which no two consecutive blocks have weights of the same size.
pub fn random_net(inputs: usize, rng: &mut impl Rng) -> Net {
    let mut net = Net::zero(inputs);
    let sizes = [0.2, 0.3, 0.15, 0.4, 0.25, 0.1];
    for (block, size) in net.blocks_mut().zip(sizes.into_iter().cycle()) {
        for weight in block {
            *weight = size * (2.0 * rng.random::<f32>() - 1.0);
        }
    }
    net
}

/// Some active inputs in random order, sometimes one of them twice.
pub fn random_inputs(inputs: usize, rng: &mut impl Rng) -> Vec<Input> {
    let active = rng.random_range(0..30);
    let input = |_| Input {
        index: rng.random_range(0..inputs) as u16,
        value: 2.0 * rng.random::<f32>() - 0.5,
    };
    (0..active).map(input).collect()
}

/// The logit by definition: every input with every unit, in double precision.
pub fn naive_logit(net: &Net, inputs: &[Input], head: usize) -> f64 {
    let leaky = |sum: f64| {
        if sum > 0.0 {
            sum
        } else {
            sum * f64::from(LEAKY_SLOPE)
        }
    };
    let mut values = vec![0.0; net.first.len()];
    for input in inputs {
        values[usize::from(input.index)] += f64::from(input.value);
    }
    let layer = |values: &[f64], weight: &dyn Fn(usize) -> f32, bias: f32| {
        let terms = values.iter().enumerate();
        let sum: f64 = terms
            .map(|(row, value)| value * f64::from(weight(row)))
            .sum();
        sum + f64::from(bias)
    };
    let hidden = |unit: usize| {
        let sum = layer(&values, &|row| net.first[row][unit], net.first_bias[unit]);
        leaky(sum)
    };
    let hidden: Vec<f64> = (0..HIDDEN).map(hidden).collect();
    let head = &net.heads[head];
    let second = |unit: usize| {
        let bias = head.second_bias[unit];
        let sum = layer(&hidden, &|row| head.second[row][unit], bias);
        leaky(sum)
    };
    let second: Vec<f64> = (0..HIDDEN_2).map(second).collect();
    layer(&second, &|row| head.last[row], head.last_bias)
}
