//! Positions as text, and assertions about them.
//!
//! `"0: fresh 17 g2 | 2: full"` is a board on which seat 0 has a fresh piece on its start, one on
//! track field 17 and one on its goal field 2, and seat 2 has all four in its goal. All other
//! pieces are in their kennels.

use dog_rules::{
    Board, Card, Cards, Game, Generator, LegalMove, Move, Options, Outcome, Placement, Player,
    Preset, Refusal, Rules, Seat, Seed, Setup, judge,
};
use serde_json::json;

/// Rules for positions: a preset, or rules made from one.
pub trait PositionExt {
    fn sheet(&self) -> Rules;

    /// These rules with some options changed.
    fn with(&self, change: impl FnOnce(&mut Options)) -> Rules {
        let mut options = self.sheet().options().clone();
        change(&mut options);
        Rules::try_from(options).expect("a possible set of rules")
    }

    /// The position of this text.
    fn at(&self, text: &str) -> TestPosition {
        let rules = self.sheet();
        let board = read(&rules, text);
        TestPosition { rules, board }
    }

    /// An undealt game with these rules; seat 0 deals first.
    fn game(&self) -> Game {
        self.game_of(Seed::new([7; 32]), Some(Seat::default()))
    }

    /// A game with this seed. The first dealer is drawn from it if none is given.
    fn game_of(&self, seed: Seed, first_dealer: Option<Seat>) -> Game {
        let rules = self.sheet();
        let name = String::new();
        Game::new(Setup {
            players: vec![Player::human(name); usize::from(rules.seats)],
            rules,
            first_dealer,
            seed,
            seed_given: false,
            must_confirm: Vec::new(),
        })
    }
}

impl PositionExt for Preset {
    fn sheet(&self) -> Rules {
        self.rules()
    }
}

impl PositionExt for Rules {
    fn sheet(&self) -> Rules {
        self.clone()
    }
}

/// A board and its rules.
pub struct TestPosition {
    pub rules: Rules,
    pub board: Board,
}

impl TestPosition {
    /// Checks that a seat's list of moves with this hand is exactly these ids, in any order.
    #[track_caller]
    pub fn lists<const N: usize>(&self, seat: u8, hand: &str, ids: [&str; N]) -> &Self {
        let mut listed = self.ids(seat, hand);
        let mut ids = ids.map(str::to_owned).to_vec();
        listed.sort();
        ids.sort();
        assert_eq!(listed, ids, "the moves of seat {seat} with {hand}");
        self
    }

    /// The ids of a seat's moves with this hand, in the order of the list.
    pub fn ids(&self, seat: u8, hand: &str) -> Vec<String> {
        let listed = self.listed(seat, cards(hand));
        listed.iter().map(|legal| legal.mv.to_string()).collect()
    }

    /// Checks that this card leads to exactly these boards, in any order.
    #[track_caller]
    pub fn leads_to<const N: usize>(&self, seat: u8, card: &str, boards: [&str; N]) -> &Self {
        let listed = self.listed(seat, cards(card));
        let mut listed: Vec<String> = listed
            .iter()
            .map(|legal| self.text(&legal.outcome.board))
            .collect();
        let mut boards = boards.map(|board| self.text(&read(&self.rules, board)));
        listed.sort();
        boards.sort();
        assert_eq!(listed, boards, "the boards after a {card} of seat {seat}");
        self
    }

    /// Checks that this move is legal and leads to this board, which the list of moves must have
    /// too.
    #[track_caller]
    pub fn after(&self, seat: u8, id: &str, board: &str) -> &Self {
        self.then(seat, id, board);
        self
    }

    /// As [`TestPosition::after`]; returns the position after the move.
    #[track_caller]
    pub fn then(&self, seat: u8, id: &str, board: &str) -> TestPosition {
        let after = self.outcome(seat, id).board;
        let expected = self.text(&read(&self.rules, board));
        assert_eq!(self.text(&after), expected, "after {id} of seat {seat}");
        let (mv, card) = (read_move(id), card_of(id));
        let listed = self.listed(seat, [card].into_iter().collect());
        assert!(
            listed
                .iter()
                .any(|legal| legal.outcome.board == after && legal.mv.announced() == mv.announced()),
            "no move listed leads where {id} leads"
        );
        TestPosition {
            rules: self.rules.clone(),
            board: after,
        }
    }

    /// Checks that this move is refused in these words and not listed.
    #[track_caller]
    pub fn refuses(&self, seat: u8, id: &str, why: &str) -> &Self {
        let hand: Cards = [card_of(id)].into_iter().collect();
        match self.judge(seat, id, hand) {
            Ok(outcome) => panic!("{id} leads to {}", self.text(&outcome.board)),
            Err(refusal) => assert_eq!(refusal.to_string(), why, "{id} of seat {seat}"),
        }
        let listed = self.listed(seat, hand);
        assert!(
            listed.iter().all(|legal| legal.mv.to_string() != id),
            "{id} is listed"
        );
        self
    }

    /// The outcome of this legal move.
    #[track_caller]
    pub fn outcome(&self, seat: u8, id: &str) -> Outcome {
        let hand = [card_of(id)].into_iter().collect();
        self.judge(seat, id, hand)
            .unwrap_or_else(|refusal| panic!("{id} of seat {seat} is refused: {refusal}"))
    }

    /// Checks which pieces this legal move captures, such as `"1@27"` for seat 1's on field 27.
    #[track_caller]
    pub fn captures<const N: usize>(&self, seat: u8, id: &str, captured: [&str; N]) -> &Self {
        let captures = self.outcome(seat, id).captures;
        let captures: Vec<String> = captures
            .iter()
            .map(|capture| format!("{}@{}", capture.seat.number(), capture.from))
            .collect();
        assert_eq!(captures, captured, "{id} of seat {seat}");
        self
    }

    /// The judgement of one move with a hand.
    pub fn judge(&self, seat: u8, id: &str, hand: Cards) -> Result<Outcome, Refusal> {
        let mv = read_move(id);
        judge::judge(&self.rules, &self.board, self.seat(seat), hand, &mv)
    }

    /// The winning team, if one has won.
    pub fn winner(&self) -> Option<u8> {
        self.board.winner(&self.rules)
    }

    /// A game in this position: the seat is to play, with these hands.
    pub fn in_play<const N: usize>(&self, turn: u8, hands: [&str; N]) -> Game {
        let mut stored = json!(self.rules.game());
        stored["phase"] = json!("play");
        stored["turn"] = json!(turn);
        stored["board"] = json!(self.board);
        let mut stock = self.rules.deck();
        for (seat, hand) in hands.into_iter().enumerate() {
            let hand = cards(hand);
            stored["seats"][seat]["hand"] = json!(hand);
            stock = stock.without(hand);
        }
        stored["stock"] = json!(stock);
        serde_json::from_value(stored).expect("a stored game")
    }

    fn listed(&self, seat: u8, hand: Cards) -> Vec<LegalMove> {
        Generator::new().legal_moves(&self.rules, &self.board, self.seat(seat), hand)
    }

    fn seat(&self, number: u8) -> Seat {
        Seat::new(number, self.rules.seats).expect("a seat of the table")
    }

    fn text(&self, board: &Board) -> String {
        write(&self.rules, board)
    }
}

/// A seat of any table.
pub fn seat(number: u8) -> Seat {
    Seat::new(number, 6).expect("a seat")
}

/// The cards of a text such as `"7 J joker"`.
pub fn cards(text: &str) -> Cards {
    text.split_whitespace().map(read_card).collect()
}

/// The card of this name.
pub fn read_card(name: &str) -> Card {
    name.parse()
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The move of this id.
pub fn read_move(id: &str) -> Move {
    id.parse().unwrap_or_else(|error| panic!("{id}: {error}"))
}

/// The card from the hand in this id.
fn card_of(id: &str) -> Card {
    let (card, _) = id.split_once([':', '=']).expect("a card is played");
    read_card(card)
}

pub fn read(rules: &Rules, text: &str) -> Board {
    let mut placements = vec![Placement::default(); usize::from(rules.seats)];
    for entry in text.split('|').filter(|entry| !entry.trim().is_empty()) {
        let (number, pieces) = entry.split_once(':').expect("SEAT: PIECES");
        let number: u8 = number.trim().parse().expect("a seat's number");
        let placement = &mut placements[usize::from(number)];
        for piece in pieces.split_whitespace() {
            match piece {
                "fresh" => {
                    placement.track.push(rules.ring().start(seat(number)));
                    placement.fresh = true;
                }
                "full" => placement.goal.extend(0..4),
                piece => match piece.strip_prefix('g') {
                    Some(field) => placement.goal.push(field.parse().expect("a goal field")),
                    None => placement.track.push(piece.parse().expect("a track field")),
                },
            }
        }
    }
    Board::place(rules, &placements).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn write(rules: &Rules, board: &Board) -> String {
    let placements = board.placements(rules);
    let seats = rules.ring().seats().zip(placements);
    let entries = seats.filter_map(|(seat, placement)| {
        let track = placement.track.iter().map(|&field| {
            if placement.fresh && field == rules.ring().start(seat) {
                "fresh".to_owned()
            } else {
                field.to_string()
            }
        });
        let goal = placement.goal.iter().map(|field| format!("g{field}"));
        let pieces: Vec<String> = track.chain(goal).collect();
        (!pieces.is_empty()).then(|| format!("{}: {}", seat.number(), pieces.join(" ")))
    });
    entries.collect::<Vec<_>>().join(" | ")
}
