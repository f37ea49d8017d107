//! Positions as text, and tables of what the rules say about them.
//!
//! `"0: fresh 17 g2 | 2: full"` is a board on which seat 0 has a fresh piece on its start, one on
//! track field 17 and one on its goal field 2, and seat 2 has all four in its goal. All other
//! pieces are in their kennels; `"-"` is the board with all of them there.
//!
//! [`tables!`] makes tests of tables, which say one thing a line:
//!
//! ```text
//! # a comment
//! by dogspiel-it, hausregeln seats=6     the rules from here on; `all` are the five presets
//! at 0: 20 | 1: 27 | 2: 23               the board from here on
//! 0 plays 7:20>27 => 0: 27               a legal move, and the board after it, which is listed
//! 0 takes 1@27 2@23 by 7:20>27           whom a legal move captures, and where
//! 0 lists 2 3: 2:20>22 3:20>23           all ids that are listed for a hand
//! 0 reaches 7: 0: 27                     all boards that a card leads to, separated by `;`
//! 0 is refused 2:20>23: the 2 does ...   an illegal move, and the words; after `...` any follow
//! 0 can play 2 Q                         cards of which each can be played
//! 0 cannot play 2 Q: field 16 is ...     cards of which none can be played, and why
//! ```

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

/// A test of each table, by its name.
macro_rules! tables {
    ($($(#[$about:meta])* $name:ident: $table:literal)*) => {
        $(
            $(#[$about])*
            #[test]
            fn $name() {
                $crate::position::check($table);
            }
        )*
    };
}
pub(crate) use tables;

/// Checks every line of a table.
#[track_caller]
pub fn check(table: &str) {
    let (mut sheets, mut board) = (Vec::new(), None);
    for line in table.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(names) = line.strip_prefix("by ") {
            sheets = read_rules(names);
        } else if let Some(pieces) = line.strip_prefix("at ") {
            board = Some(pieces);
        } else {
            let board = board.expect("a board comes first");
            assert!(!sheets.is_empty(), "rules come first");
            for rules in &sheets {
                rules.at(board).check(line);
            }
        }
    }
}

fn read_rules(names: &str) -> Vec<Rules> {
    if names == "all" {
        return Preset::ALL.map(|preset| preset.rules()).to_vec();
    }
    let read = |name: &str| name.parse::<Rules>().expect(name);
    names.split(", ").map(read).collect()
}

impl TestPosition {
    /// Checks one statement of a table.
    #[track_caller]
    fn check(&self, statement: &str) {
        let context = format!(
            "{statement}, at {} by {}",
            self.text(&self.board),
            self.rules
        );
        let (seat, what) = statement.split_once(' ').expect("SEAT and a statement");
        let seat: u8 = seat.parse().expect("a seat's number");
        let split = |verb: &str, separator: &str| what.strip_prefix(verb)?.split_once(separator);
        if let Some((id, board)) = split("plays ", " => ") {
            self.check_play(seat, id, board, &context);
        } else if let Some((captured, id)) = split("takes ", " by ") {
            let captures = self.outcome(seat, id).captures;
            let captures = captures.iter();
            let captures =
                captures.map(|capture| format!("{}@{}", capture.seat.number(), capture.from));
            assert_eq!(
                captures.collect::<Vec<_>>().join(" "),
                captured,
                "{context}"
            );
        } else if let Some((hand, ids)) = split("lists ", ": ") {
            let expected = sorted(ids.split(' ').map(str::to_owned));
            assert_eq!(sorted(self.ids(seat, hand)), expected, "{context}");
        } else if let Some((card, boards)) = split("reaches ", ": ") {
            let listed = self.listed(seat, cards(card));
            let listed = listed.iter().map(|legal| self.text(&legal.outcome.board));
            let boards = boards.split("; ");
            let boards = boards.map(|board| self.text(&read(&self.rules, board)));
            assert_eq!(sorted(listed), sorted(boards), "{context}");
        } else if let Some((id, why)) = split("is refused ", ": ") {
            let refusal = self.judge(seat, id, hand_for(id)).expect_err(&context);
            check_words(&refusal, why, &context);
            let listed = self.listed(seat, hand_for(id));
            let is_listed = listed.iter().any(|legal| legal.mv.to_string() == id);
            assert!(!is_listed, "{context}, but it is listed");
        } else if let Some((hand, why)) = split("cannot play ", ": ") {
            for card in cards(hand).ranks() {
                let refusal = self.why_unplayable(seat, card).expect(&context);
                check_words(&refusal, why, &context);
            }
            assert_eq!(self.ids(seat, hand), ["fold"], "{context}");
        } else if let Some(hand) = what.strip_prefix("can play ") {
            for card in cards(hand).ranks() {
                assert_eq!(self.why_unplayable(seat, card), None, "{card}: {context}");
            }
        } else {
            panic!("no statement: {context}");
        }
    }

    /// Checks that this move is legal and leads to this board, which the list of moves must have
    /// too.
    #[track_caller]
    fn check_play(&self, seat: u8, id: &str, board: &str, context: &str) {
        let after = self.outcome(seat, id).board;
        let expected = self.text(&read(&self.rules, board));
        assert_eq!(self.text(&after), expected, "{context}");
        let announced = read_move(id).announced();
        let leads_there =
            |legal: &LegalMove| legal.outcome.board == after && legal.mv.announced() == announced;
        let listed = self.listed(seat, hand_for(id));
        assert!(listed.iter().any(leads_there), "{context}: not listed");
    }

    /// The ids of a seat's moves with this hand, in the order of the list.
    fn ids(&self, seat: u8, hand: &str) -> Vec<String> {
        let listed = self.listed(seat, cards(hand));
        listed.iter().map(|legal| legal.mv.to_string()).collect()
    }

    /// The outcome of this legal move.
    #[track_caller]
    pub fn outcome(&self, seat: u8, id: &str) -> Outcome {
        self.judge(seat, id, hand_for(id))
            .unwrap_or_else(|refusal| panic!("{id} of seat {seat} is refused: {refusal}"))
    }

    /// The judgement of one move with a hand.
    pub fn judge(&self, seat: u8, id: &str, hand: Cards) -> Result<Outcome, Refusal> {
        let mv = read_move(id);
        judge::judge(&self.rules, &self.board, self.seat(seat), hand, &mv)
    }

    fn why_unplayable(&self, seat: u8, card: Card) -> Option<Refusal> {
        Generator::new().why_unplayable(&self.rules, &self.board, self.seat(seat), card)
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

/// A hand of the one card that this move plays.
fn hand_for(id: &str) -> Cards {
    let (card, _) = id.split_once([':', '=']).expect("a card is played");
    cards(card)
}

#[track_caller]
fn check_words(refusal: &Refusal, expected: &str, context: &str) {
    let words = refusal.to_string();
    match expected.strip_suffix("...") {
        Some(begin) => assert!(words.starts_with(begin), "{context}: {words}"),
        None => assert_eq!(words, expected, "{context}"),
    }
}

fn sorted(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().collect();
    texts.sort();
    texts
}

pub fn read(rules: &Rules, text: &str) -> Board {
    let mut placements = vec![Placement::default(); usize::from(rules.seats)];
    for entry in text
        .split('|')
        .filter(|entry| !["", "-"].contains(&entry.trim()))
    {
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
