//! Cases that are rare in play are common enough in the random positions of the other tests.

use std::collections::{BTreeMap, HashSet};

use dog_rules::{
    Board, Card, Generator, GoalEntry, Options, Placement, Protection, Rules, Seat, SevenPartner,
    SevenSurplus,
};

use super::{
    naive,
    properties::{Random, rng},
    random,
};

#[test]
fn rare_cases_are_met() {
    let mut rng = rng(8);
    let mut generator = Generator::new();
    let mut tally: BTreeMap<&str, u32> = CASES.iter().map(|(name, _)| (*name, 0)).collect();
    let mut folds = 0;
    for _ in 0..4_000 {
        let position = Random::new(&mut rng);
        for (name, holds) in CASES {
            *tally.entry(name).or_default() += u32::from(holds(&position));
        }
        let Random { rules, board, seat } = &position;
        let hand = random::hand(&mut rng);
        folds += u32::from(!generator.can_play(rules, board, *seat, hand));
    }
    tally.insert("a hand is folded", folds);
    println!("{tally:#?}");
    // The long run meets each 250 times as often.
    let too_rare: Vec<_> = tally.iter().filter(|(_, times)| **times < 15).collect();
    assert!(too_rare.is_empty(), "of 4000 positions: {too_rare:?}");
}

/// The name of a case, and whether a position is one.
type RareCase = (&'static str, fn(&Random) -> bool);

const CASES: &[RareCase] = &[
    ("the partner's pieces are moved", |position| {
        position.board.home(position.seat)
    }),
    ("the partner's are home, and all own but one", |position| {
        position.board.home(position.partner())
            && position.board.goal(position.seat).count_ones() == 3
    }),
    ("all own are home, and the partner's but one", |position| {
        position.board.home(position.seat)
            && position.board.goal(position.partner()).count_ones() == 3
    }),
    ("a seven wins and steps lapse", |position| {
        position.rules.seven_surplus == SevenSurplus::LapsesOnWin
            && position.wins_by_seven(&position.rules)
            && !position.wins_by_seven(&position.with(|options| {
                options.seven_surplus = SevenSurplus::MustBeUsed;
            }))
    }),
    ("a seven brings the last own home and goes on", |position| {
        let (seat, partner) = (position.seat, position.partner());
        position.rules.seven_partner == SevenPartner::WhenHome
            && !position.board.home(seat)
            && position
                .sevens(&position.rules)
                .iter()
                .any(|after| after.home(seat) && after.goal(partner) > position.board.goal(partner))
    }),
    (
        "five or more of a team follow closely, always",
        |position| {
            position.rules.seven_partner == SevenPartner::Always && position.longest_chain() >= 5
        },
    ),
    ("eight of a team follow closely, always", |position| {
        position.rules.seven_partner == SevenPartner::Always && position.longest_chain() == 8
    }),
    (
        "a seven moves the partner's in its goal, always",
        |position| {
            let partner = position.partner();
            position.rules.seven_partner == SevenPartner::Always
                && !position.board.home(position.seat)
                && matches!(position.board.goal(partner), 0b0001..=0b0111)
        },
    ),
    (
        "a piece before its door, the goal partly full",
        |position| {
            let ring = position.rules.ring();
            (1..=3).contains(&position.board.goal(position.seat).count_ones())
                && position
                    .track()
                    .iter()
                    .any(|&field| ring.distance(field, ring.door(position.seat)) <= 6)
        },
    ),
    (
        "a piece that is not fresh on its door, the start",
        |position| {
            position.rules.goal_entry == GoalEntry::OnStart
                && position.on_start()
                && !position.board.fresh(position.seat)
        },
    ),
    ("a piece that a four takes back into its goal", |position| {
        position.rules.backward_into_goal && position.just_past_start(1..=2)
    }),
    (
        "a piece just past its start, no way back into the goal",
        |position| {
            position.rules.goal_entry == GoalEntry::BeforeStart
                && !position.rules.backward_into_goal
                && position.just_past_start(1..=2)
        },
    ),
    ("fresh pieces of three seats or more", |position| {
        let ring = position.rules.ring();
        ring.seats()
            .filter(|&seat| position.board.fresh(seat))
            .count()
            >= 3
    }),
    (
        "a block ahead of a piece, its own on its start",
        |position| {
            let ring = position.rules.ring();
            let start = ring.start(position.seat);
            let block = position.rules.start_block == Protection::Always
                || position.board.fresh(position.seat);
            let before = |&field: &u8| (1..=13).contains(&ring.distance(field, start));
            position.on_start() && block && position.track().iter().any(before)
        },
    ),
    ("a block behind a piece, its own on its start", |position| {
        position.on_start()
            && position.board.fresh(position.seat)
            && position.just_past_start(1..=4)
    }),
    ("a block of another seat's ahead of a piece", |position| {
        let ring = position.rules.ring();
        let blocks = position
            .strangers()
            .filter(|&seat| position.board.fresh(seat));
        blocks.map(|seat| ring.start(seat)).any(|start| {
            let before = |&field: &u8| (1..=13).contains(&ring.distance(field, start));
            position.track().iter().any(before)
        })
    }),
    (
        "an own piece is captured by leaving the kennel",
        |position| {
            position.rules.start_block == Protection::Fresh
                && position.on_start()
                && !position.board.fresh(position.seat)
                && position.board.kennel(position.seat) > 0
        },
    ),
    ("a jack without effect", |position| {
        position.rules.jack_without_effect && !position.track().is_empty() && position.alone()
    }),
    (
        "no jack without effect for a protected stranger",
        |position| {
            let Random { rules, board, seat } = position;
            rules.jack_without_effect
                && !position.track().is_empty()
                && !position.alone()
                && naive::boards(rules, board, *seat, Card::Jack).is_empty()
        },
    ),
];

impl Random {
    fn partner(&self) -> Seat {
        self.seat.partner(self.rules.seats)
    }

    fn strangers(&self) -> impl Iterator<Item = Seat> {
        self.rules.ring().seats().filter(|&seat| seat != self.seat)
    }

    fn placement(&self, seat: Seat) -> Placement {
        self.board.placements(&self.rules)[usize::from(seat.number())].clone()
    }

    /// The seat's own pieces on the ring.
    fn track(&self) -> Vec<u8> {
        self.placement(self.seat).track
    }

    fn on_start(&self) -> bool {
        self.track().contains(&self.rules.ring().start(self.seat))
    }

    fn just_past_start(&self, fields: std::ops::RangeInclusive<u8>) -> bool {
        let ring = self.rules.ring();
        let past = |&field: &u8| fields.contains(&ring.distance(ring.start(self.seat), field));
        self.track().iter().any(past)
    }

    /// Whether no other seat has a piece on the ring.
    fn alone(&self) -> bool {
        self.strangers()
            .all(|seat| self.placement(seat).track.is_empty())
    }

    /// The length of the longest chain of the team's pieces on the ring, each at most 7 fields
    /// behind the next.
    fn longest_chain(&self) -> usize {
        let team = [self.seat, self.partner()].map(|seat| self.placement(seat).track);
        let fields = team.concat();
        let ring = self.rules.ring();
        let next = |field: u8| {
            let ahead = fields.iter().map(|&other| ring.distance(field, other));
            let ahead = ahead.filter(|steps| (1..=7).contains(steps)).min();
            ahead.map(|steps| ring.forward(field, steps))
        };
        let chain = |&field: &u8| std::iter::successors(Some(field), |&field| next(field));
        let length = |field: &u8| chain(field).take(fields.len()).count();
        fields.iter().map(length).max().unwrap_or_default()
    }

    fn sevens(&self, rules: &Rules) -> HashSet<Board> {
        naive::boards(rules, &self.board, self.seat, Card::Seven)
    }

    fn wins_by_seven(&self, rules: &Rules) -> bool {
        let near = |seat| self.board.goal(seat).count_ones();
        near(self.seat) + near(self.partner()) >= 5
            && self
                .sevens(rules)
                .iter()
                .any(|after| after.winner(rules).is_some())
    }

    /// The rules with an option changed.
    fn with(&self, change: impl FnOnce(&mut Options)) -> Rules {
        let mut options = self.rules.options().clone();
        change(&mut options);
        Rules::try_from(options).expect("a possible set of rules")
    }
}
