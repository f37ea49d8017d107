//! Cases that are rare in play are common enough in the random positions of the other tests.

use std::{
    collections::{BTreeMap, HashSet},
    iter,
};

use dog_rules::{
    Board, Card, Generator, GoalEntry, Protection, Rules, Seat, SevenPartner, SevenSurplus,
};

use super::{
    naive,
    position::PositionExt,
    properties::{Random, rng},
    random,
};

#[test]
fn rare_cases_are_met() {
    let mut rng = rng(8);
    let mut generator = Generator::new();
    let mut tally: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..4_000 {
        let position = Random::new(&mut rng);
        for (name, holds) in cases(&position) {
            *tally.entry(name).or_default() += u32::from(holds);
        }
        let Random { rules, board, seat } = &position;
        let folds = !generator.can_play(rules, board, *seat, random::hand(&mut rng));
        *tally.entry("a hand is folded").or_default() += u32::from(folds);
    }
    println!("{tally:#?}");
    // The long run meets each 250 times as often.
    let too_rare: Vec<_> = tally.iter().filter(|(_, times)| **times < 15).collect();
    assert!(too_rare.is_empty(), "of 4000 positions: {too_rare:?}");
}

macro_rules! cases {
    ($($name:literal: $holds:expr;)*) => { vec![$(($name, $holds)),*] };
}

/// The name of each case, and whether the position is one.
fn cases(position: &Random) -> Vec<(&'static str, bool)> {
    let Random { rules, board, seat } = position;
    let (seat, partner) = (*seat, position.partner());
    let ring = rules.ring();
    let in_goal = |seat| board.goal(seat).count_ones();
    let track = position.track(seat);
    let on_start = track.contains(&ring.start(seat));
    let is_fresh = board.fresh(seat);
    // Whether a piece is this many steps or fewer before a field, or past the start.
    let up_to = |steps: u8, to: u8| {
        let mut ahead = track.iter().map(|&field| ring.distance(field, to));
        ahead.any(|ahead| (1..=steps).contains(&ahead))
    };
    let past_start = |steps: u8| {
        let start = ring.start(seat);
        let mut past = track.iter().map(|&field| ring.distance(start, field));
        past.any(|past| (1..=steps).contains(&past))
    };
    let mut strangers = ring.seats().filter(|&other| other != seat);
    let alone = strangers
        .clone()
        .all(|other| position.track(other).is_empty());
    let jack_without_effect = rules.jack_without_effect && !track.is_empty();
    let blocks = rules.start_block == Protection::Always || is_fresh;
    let always = rules.seven_partner == SevenPartner::Always;
    let lapses = rules.seven_surplus == SevenSurplus::LapsesOnWin;
    let used = || rules.with(|options| options.seven_surplus = SevenSurplus::MustBeUsed);
    let door_on_start = rules.goal_entry == GoalEntry::OnStart;
    let door = ring.door(seat);
    cases! {
        "the partner's pieces are moved": board.home(seat);
        "the partner's are home, and all own but one": board.home(partner) && in_goal(seat) == 3;
        "all own are home, and the partner's but one": board.home(seat) && in_goal(partner) == 3;
        "a seven wins and steps lapse":
            lapses && position.wins_by_seven(rules) && !position.wins_by_seven(&used());
        "a seven brings the last own home and goes on": !always && !board.home(seat)
            && position.sevens(rules).iter().any(|after| {
                after.home(seat) && after.goal(partner) > board.goal(partner)
            });
        "five or more of a team follow closely, always": always && position.longest_chain() >= 5;
        "eight of a team follow closely, always": always && position.longest_chain() == 8;
        "a seven moves the partner's in its goal, always":
            always && !board.home(seat) && matches!(board.goal(partner), 0b0001..=0b0111);
        "a piece before its door, the goal partly full":
            (1..=3).contains(&in_goal(seat)) && (up_to(6, door) || track.contains(&door));
        "a piece that is not fresh on its door, the start":
            door_on_start && on_start && !is_fresh;
        "a piece that a four takes back into its goal": rules.backward_into_goal && past_start(2);
        "a piece just past its start, no way back into the goal":
            !door_on_start && !rules.backward_into_goal && past_start(2);
        "fresh pieces of three seats or more":
            ring.seats().filter(|&seat| board.fresh(seat)).count() >= 3;
        "a block ahead of a piece, its own on its start":
            on_start && blocks && up_to(13, ring.start(seat));
        "a block behind a piece, its own on its start": on_start && is_fresh && past_start(4);
        "a block of another seat's ahead of a piece":
            strangers.any(|other| board.fresh(other) && up_to(13, ring.start(other)));
        "one's own piece is captured by leaving the kennel":
            on_start && !blocks && board.kennel(seat) > 0;
        "a jack without effect": jack_without_effect && alone;
        "no jack without effect for a protected stranger": jack_without_effect && !alone
            && naive::boards(rules, board, seat, Card::Jack).is_empty();
    }
}

impl Random {
    fn partner(&self) -> Seat {
        self.seat.partner(self.rules.seats)
    }

    /// A seat's pieces on the ring.
    fn track(&self, seat: Seat) -> Vec<u8> {
        let placements = self.board.placements(&self.rules);
        placements[usize::from(seat.number())].track.clone()
    }

    /// The length of the longest chain of the team's pieces on the ring, each at most 7 fields
    /// behind the next.
    fn longest_chain(&self) -> usize {
        let team = [self.seat, self.partner()].map(|seat| self.track(seat));
        let fields = team.concat();
        let ring = self.rules.ring();
        let next = |field: u8| {
            let ahead = fields.iter().map(|&other| ring.distance(field, other));
            let ahead = ahead.filter(|steps| (1..=7).contains(steps)).min();
            ahead.map(|steps| ring.forward(field, steps))
        };
        let chain = |&field: &u8| iter::successors(Some(field), |&field| next(field));
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
}
