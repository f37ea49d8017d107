//! Cards (RULES §3). Suits never matter, so a card is its rank; equal cards are interchangeable.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

crate::named! {
    /// A card of the double deck. The variants are in the order in which cards are sorted before a
    /// shuffle (RULES §8).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema), schema(description =
        "A card. Suits never matter."))]
    #[repr(u8)]
    pub enum Card {
        Ace = "A",
        Two = "2",
        Three = "3",
        Four = "4",
        Five = "5",
        Six = "6",
        Seven = "7",
        Eight = "8",
        Nine = "9",
        Ten = "10",
        Jack = "J",
        Queen = "Q",
        King = "K",
        Joker = "joker",
    }
}

use Card::*;

impl Card {
    /// The ranks that a joker may be announced as: all but the joker itself.
    pub const RANKS: [Card; 13] = [
        Ace, Two, Three, Four, Five, Six, Seven, Eight, Nine, Ten, Jack, Queen, King,
    ];

    /// How far the card moves one piece forward. Empty for the seven, which is split into steps,
    /// for the jack, and for the joker, which is played as another rank.
    #[inline]
    pub const fn forward(self) -> &'static [u8] {
        // A table: branches on the card would be hard to predict.
        const FORWARD: [&[u8]; 14] = [
            &[1, 11], // ace
            &[2],
            &[3],
            &[4],
            &[5],
            &[6],
            &[], // seven
            &[8],
            &[9],
            &[10],
            &[], // jack
            &[12],
            &[13],
            &[], // joker
        ];
        FORWARD[self as usize]
    }

    /// Whether the card brings a piece out of the kennel.
    pub const fn leaves_kennel(self) -> bool {
        matches!(self, Ace | King)
    }

    /// One character per card, for compact storage.
    const fn code(self) -> u8 {
        b"A23456789TJQK*"[self as usize]
    }

    fn from_code(code: u8) -> Option<Card> {
        Card::ALL.into_iter().find(|card| card.code() == code)
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no card.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no card of that name: the cards are A 2 3 4 5 6 7 8 9 10 J Q K joker")]
pub struct ParseCardError;

/// What people call the cards in English, German, French and Italian, besides the names that
/// [`Card::name`] gives them.
const COMMON_NAMES: [(Card, &[&str]); 5] = [
    (Card::Ace, &["as", "ass", "asso", "ace"]),
    (
        Card::Jack,
        &[
            "b", "v", "f", "bube", "bauer", "junge", "valet", "fante", "jack",
        ],
    ),
    (Card::Queen, &["d", "dame", "donna", "regina", "queen"]),
    (Card::King, &["r", "könig", "koenig", "roi", "re", "king"]),
    (Card::Joker, &["jolly", "x"]),
];

impl Card {
    /// The card that people call so, in any case.
    pub fn by_common_name(text: &str) -> Option<Card> {
        let text = text.to_lowercase();
        let is_called = |names: &[&str]| names.contains(&text.as_str());
        let own = Card::ALL
            .into_iter()
            .find(|card| card.name().to_lowercase() == text);
        own.or_else(|| {
            let common = COMMON_NAMES.into_iter();
            common
                .filter(|(_, names)| is_called(names))
                .map(|(card, _)| card)
                .next()
        })
    }
}

impl FromStr for Card {
    type Err = ParseCardError;

    fn from_str(text: &str) -> Result<Card, ParseCardError> {
        Card::by_name(text).ok_or(ParseCardError)
    }
}

/// A multiset of cards: a hand, the discard pile, or the deck. Each rank is counted in four bits,
/// enough for the largest deck (8 of a rank, 12 jokers).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Cards(u64);

impl Cards {
    /// No cards.
    pub const EMPTY: Cards = Cards(0);

    /// A single card.
    pub const fn one(card: Card) -> Cards {
        Cards(1 << (4 * card as u32))
    }

    /// Two 52-card decks and the jokers (RULES §3).
    pub fn deck(jokers: u8) -> Cards {
        let mut cards = Cards::EMPTY;
        for rank in Card::RANKS {
            cards.set(rank, 8);
        }
        cards.set(Joker, jokers);
        cards
    }

    fn set(&mut self, card: Card, count: u8) {
        debug_assert!(count < 16);
        let shift = 4 * card as u32;
        self.0 = self.0 & !(15 << shift) | u64::from(count) << shift;
    }

    /// How many of this card there are.
    pub const fn count(self, card: Card) -> u8 {
        (self.0 >> (4 * card as u32) & 15) as u8
    }

    /// Whether there is at least one of this card.
    pub const fn contains(self, card: Card) -> bool {
        self.count(card) > 0
    }

    /// How many cards there are in all.
    pub fn len(self) -> u8 {
        // Sums neighbouring nibbles, then bytes: at most 14 × 15 = 210, which fits a byte.
        let bytes = (self.0 & 0x0f0f_0f0f_0f0f_0f0f) + (self.0 >> 4 & 0x0f0f_0f0f_0f0f_0f0f);
        (bytes.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u8
    }

    /// Whether there are no cards.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds one card.
    ///
    /// # Panics
    /// In debug builds, if the count of one rank would exceed 15, which no deck reaches.
    pub fn add(&mut self, card: Card) {
        debug_assert!(self.count(card) < 15);
        self.0 += 1 << (4 * card as u32);
    }

    /// Removes one card. Returns `false`, and changes nothing, if there is none.
    pub fn remove(&mut self, card: Card) -> bool {
        let there = self.contains(card);
        if there {
            self.0 -= 1 << (4 * card as u32);
        }
        there
    }

    /// The cards that remain when one card is removed, if there is one.
    pub fn minus(mut self, card: Card) -> Cards {
        self.remove(card);
        self
    }

    /// Adds all cards of `other`.
    pub fn add_all(&mut self, other: Cards) {
        self.0 += other.0;
    }

    /// Whether this holds at least as many of every rank as `other`.
    pub fn includes(self, other: Cards) -> bool {
        Card::ALL
            .into_iter()
            .all(|card| self.count(card) >= other.count(card))
    }

    /// The cards that remain when `other`, which must be included, is removed.
    pub fn without(self, other: Cards) -> Cards {
        debug_assert!(self.includes(other));
        Cards(self.0 - other.0)
    }

    /// The card at this index, from 0, in sorted order.
    ///
    /// # Panics
    /// If there are not that many cards.
    #[inline]
    pub fn nth(self, place: u8) -> Card {
        let mut before = 0;
        let found = Card::ALL.into_iter().find(|&card| {
            before += self.count(card);
            before > place
        });
        found.expect("the index is below the number of cards")
    }

    /// The different ranks, in sorted order.
    pub fn ranks(self) -> impl Iterator<Item = Card> {
        Card::ALL
            .into_iter()
            .filter(move |&card| self.contains(card))
    }

    /// Every card, in sorted order.
    pub fn sorted(self) -> impl Iterator<Item = Card> {
        Card::ALL
            .into_iter()
            .flat_map(move |card| std::iter::repeat_n(card, usize::from(self.count(card))))
    }
}

impl FromIterator<Card> for Cards {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Cards {
        let mut all = Cards::EMPTY;
        for card in cards {
            all.add(card);
        }
        all
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.sorted().map(Card::name))
            .finish()
    }
}

/// Stored as text, one character per card.
impl Serialize for Cards {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        codes::serialize(&self.sorted().collect::<Vec<_>>(), serializer)
    }
}

impl<'de> Deserialize<'de> for Cards {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cards, D::Error> {
        Ok(codes::deserialize(deserializer)?.into_iter().collect())
    }
}

/// An ordered pile of cards, stored as text with one character per card.
pub(super) mod codes {
    use super::*;

    pub fn serialize<S: Serializer>(cards: &[Card], serializer: S) -> Result<S::Ok, S::Error> {
        let text: String = cards.iter().map(|card| char::from(card.code())).collect();
        serializer.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Card>, D::Error> {
        Cow::<str>::deserialize(deserializer)?
            .bytes()
            .map(|code| Card::from_code(code).ok_or_else(|| de::Error::custom(ParseCardError)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_have_other_names() {
        for (card, names) in [
            ("A", "A a As Ass Asso Ace"),
            ("J", "J j B V F Bube Bauer Junge Valet Fante Jack"),
            ("Q", "Q q D Dame Donna Regina Queen"),
            ("K", "K k R König KÖNIG Koenig Roi Re King"),
            ("joker", "joker Joker JOKER Jolly X"),
            ("7", "7"),
            ("10", "10"),
        ] {
            for name in names.split(' ') {
                assert_eq!(Card::by_common_name(name), card.parse().ok(), "{name}");
            }
        }
        for name in ["", "1", "11", "Z", "07", "Ass ", "kings"] {
            assert_eq!(Card::by_common_name(name), None, "{name}");
        }
    }

    #[test]
    fn names_round_trip() {
        for card in Card::ALL {
            assert_eq!(card.name().parse(), Ok(card));
            assert_eq!(Card::from_code(card.code()), Some(card));
        }
        assert_eq!("1".parse::<Card>(), Err(ParseCardError));
        assert_eq!("a".parse::<Card>(), Err(ParseCardError));
    }

    #[test]
    fn the_largest_deck_fits() {
        let deck = Cards::deck(12);
        assert_eq!(deck.len(), 116);
        assert_eq!(deck.sorted().count(), 116);
        assert_eq!(deck.count(Ace), 8);
        assert_eq!(deck.count(Joker), 12);
    }

    #[test]
    fn nth_follows_the_sorted_order() {
        for cards in [
            Cards::deck(12),
            [Ace, Ace, Four, Joker].into_iter().collect(),
        ] {
            for (place, card) in cards.sorted().enumerate() {
                assert_eq!(cards.nth(place as u8), card);
            }
        }
    }

    #[test]
    fn adding_and_removing() {
        let mut cards: Cards = [King, Ace, King].into_iter().collect();
        assert!(cards.remove(King));
        assert!(!cards.remove(Two));
        assert_eq!(cards.sorted().collect::<Vec<_>>(), [Ace, King]);
        assert!(Cards::deck(0).includes(cards));
        assert_eq!(Cards::deck(0).without(cards).len(), 102);
    }
}
