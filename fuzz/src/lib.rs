//! Rules, positions and moves made of the fuzzer's bytes.

use arbitrary::{Result, Unstructured};
use dog_rules::{
    Board, Card, Cards, DealSizes, Dealer, Exchange, Game, GoalEntry, JackWithoutEffectWhen, Move,
    Options, Placement, Player, Preset, Protection, Reshuffle, Rules, Seat, Seed, Setup,
    SevenLanding, SevenPartner, SevenRest, SevenSurplus,
    notation::{CardUse, NotedField, Part, Parts},
};

/// Any possible set of rules.
pub fn rules(u: &mut Unstructured) -> Result<Rules> {
    let options = Options {
        preset: *u.choose(&Preset::ALL)?,
        seats: *u.choose(&[4, 6])?,
        fields_per_seat: *u.choose(&[15, 16])?,
        jokers: u.int_in_range(0..=12)?,
        deal_sizes: DealSizes {
            first: deal_sizes(u)?,
            then: deal_sizes(u)?,
        },
        dealer: *u.choose(&[Dealer::Rotates, Dealer::Fixed])?,
        reshuffle: *u.choose(&[Reshuffle::WhenEmpty, Reshuffle::BeforeDeal])?,
        exchange: *u.choose(&[Exchange::Mandatory, Exchange::Optional, Exchange::OnRequest])?,
        start_block: *u.choose(&[Protection::Always, Protection::Fresh])?,
        start_swap_protection: *u.choose(&[Protection::Always, Protection::Fresh])?,
        goal_entry: *u.choose(&[GoalEntry::OnStart, GoalEntry::BeforeStart])?,
        backward_into_goal: u.arbitrary()?,
        fresh_into_goal: u.arbitrary()?,
        capture_own: u.arbitrary()?,
        seven_landing: *u.choose(&[SevenLanding::Captures, SevenLanding::MustBeFree])?,
        seven_surplus: *u.choose(&[SevenSurplus::MustBeUsed, SevenSurplus::LapsesOnWin])?,
        seven_partner: *u.choose(&[SevenPartner::WhenHome, SevenPartner::Always])?,
        seven_rest: *u.choose(&[SevenRest::AnyPieces, SevenRest::OnePiece])?,
        jack_own_pair: u.arbitrary()?,
        jack_without_effect: u.arbitrary()?,
        jack_without_effect_when: *u.choose(&[
            JackWithoutEffectWhen::NoOtherOnRing,
            JackWithoutEffectWhen::NoSwapPossible,
        ])?,
    };
    Rules::try_from(options).map_err(|_| arbitrary::Error::IncorrectFormat)
}

/// One to three sizes, none too large for six seats.
fn deal_sizes(u: &mut Unstructured) -> Result<Vec<u8>> {
    (0..u.int_in_range(1..=3)?)
        .map(|_| u.int_in_range(1..=17))
        .collect()
}

/// A seat of a game with these rules.
pub fn seat(u: &mut Unstructured, rules: &Rules) -> Result<Seat> {
    let seats: Vec<Seat> = rules.ring().seats().collect();
    u.choose(&seats).copied()
}

/// Any board, including one that a team has won.
pub fn board(u: &mut Unstructured, rules: &Rules) -> Result<Board> {
    let mut placements = vec![Placement::default(); usize::from(rules.seats)];
    let mut taken = Vec::new();
    for (seat, placement) in rules.ring().seats().zip(&mut placements) {
        for _ in 0..4 {
            // A piece stays in its kennel if its field is taken or its byte is too high.
            let place = u.arbitrary::<u8>()?;
            let goal = place.wrapping_sub(rules.ring().length());
            if goal < 4 && !placement.goal.contains(&goal) {
                placement.goal.push(goal);
            } else if place < rules.ring().length() && !taken.contains(&place) {
                placement.track.push(place);
                taken.push(place);
            }
        }
        placement.fresh = u.arbitrary()? && placement.track.contains(&rules.ring().start(seat));
    }
    Ok(Board::place(rules, &placements).expect("a possible board"))
}

/// Up to six cards.
pub fn hand(u: &mut Unstructured) -> Result<Cards> {
    (0..u.int_in_range(1..=6)?).map(|_| card(u)).collect()
}

/// Any card.
pub fn card(u: &mut Unstructured) -> Result<Card> {
    u.choose(&Card::ALL).copied()
}

/// Any move of the grammar, usually one with a piece on this board.
pub fn any_move(u: &mut Unstructured, rules: &Rules, board: &Board) -> Result<Move> {
    let card = card(u)?;
    let rank = match card {
        Card::Joker => *u.choose(&Card::RANKS)?,
        card => card,
    };
    let action = match rank {
        Card::Jack if u.ratio(1, 8)? => CardUse::NoEffect,
        Card::Jack => CardUse::Swap(track(u, rules, board)?, track(u, rules, board)?),
        Card::Ace | Card::King if u.ratio(1, 4)? => CardUse::Out,
        Card::Seven => {
            let mut parts = Parts::new();
            for _ in 0..u.int_in_range(1..=7)? {
                parts.push(part(u, rules, board)?);
            }
            CardUse::Seven(parts)
        }
        _ => CardUse::Walk(part(u, rules, board)?),
    };
    Ok(Move::Play { card, rank, action })
}

/// A walk, rarely longer than a card allows.
fn part(u: &mut Unstructured, rules: &Rules, board: &Board) -> Result<Part> {
    let goal = |u: &mut Unstructured| {
        let field = u.int_in_range(0..=3)?;
        Ok(*u.choose(&[NotedField::OwnGoal(field), NotedField::PartnerGoal(field)])?)
    };
    let from = match u.ratio(1, 4)? {
        true => goal(u)?,
        false => NotedField::Track(track(u, rules, board)?),
    };
    let to = match from {
        NotedField::Track(from) if u.ratio(3, 4)? => {
            let back = rules.ring().backward(from.min(rules.ring().length()), 4);
            NotedField::Track(rules.ring().forward(back, u.int_in_range(0..=18)?))
        }
        _ if u.ratio(7, 8)? => goal(u)?,
        _ => NotedField::Track(u.arbitrary()?),
    };
    Ok(Part { from, to })
}

/// A track field, usually one with a piece on it.
fn track(u: &mut Unstructured, rules: &Rules, board: &Board) -> Result<u8> {
    let pieces: Vec<u8> = board
        .placements(rules)
        .into_iter()
        .flat_map(|placement| placement.track)
        .collect();
    if pieces.is_empty() || u.ratio(1, 8)? {
        u.arbitrary()
    } else {
        u.choose(&pieces).copied()
    }
}

/// A game in each phase but the last, by the rule sheets in turn.
pub fn games() -> Vec<Game> {
    let mut games = Vec::new();
    for (byte, preset) in (1..).zip(Preset::ALL) {
        let rules = preset.rules();
        let mut game = Game::new(Setup {
            players: vec![Player::human("Anna"); usize::from(rules.seats)],
            first_dealer: None,
            seed: Seed::new([byte; 32]),
            seed_given: false,
            rules,
            must_confirm: Vec::new(),
        });
        for _ in 0..30 {
            games.push(game.clone());
            let seat = game.seats_to_act().next().expect("a game that is on");
            let action = game.legal_actions(seat).pop().expect("an action");
            game.apply(&action).expect("a legal action");
        }
    }
    games
}
