//! The options of RULES §2 as data, the five presets, and the checks that make options a playable
//! set of rules. As text, rules are `PRESET NAME=VALUE …`: a preset and the options that differ
//! from it, by the names and values of RULES §2.

use std::{
    fmt,
    ops::{Deref, Not},
    str::FromStr,
};

use serde::{
    Deserialize, Serialize,
    de::{Error as _, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::{Cards, ring::Ring};

/// Defines the types of options by their values, whose names are those of RULES §2.
macro_rules! option_types {
    ($($(#[$about:meta])* pub enum $type:ident { $($(#[$note:meta])* $value:ident,)+ })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $type {
            $($(#[$note])* $value,)+
        }
    )+};
}

option_types! {
    /// Whether the deal passes on each round.
    // RULES §7.4.
    pub enum Dealer {
        /// The deal passes to the next seat every round.
        Rotates,
        /// The dealer stays; the seat that begins moves on every round.
        Fixed,
    }

    /// Whether partners must swap a card.
    // RULES §7.3.
    pub enum Exchange {
        Mandatory,
        Optional,
        /// Only if one partner asks and the other agrees.
        OnRequest,
    }

    /// When the discard pile is shuffled into the stock.
    // RULES §7.2 and §11.
    pub enum Reshuffle {
        /// When a card is due and the stock is empty, in the middle of a deal too.
        WhenEmpty,
        /// Before a deal for which the stock has too few cards.
        BeforeDeal,
    }

    /// When a piece on its own start is protected.
    // RULES §4 and §6.
    pub enum Protection {
        /// Whenever it stands there.
        Always,
        /// Only while it is fresh.
        Fresh,
    }

    /// The door to the goal.
    // RULES §4.
    pub enum GoalEntry {
        /// The seat's own start.
        OnStart,
        /// The field just before the start.
        BeforeStart,
    }

    /// Where a part of a seven may end.
    // RULES §5.
    pub enum SevenLanding {
        Captures,
        MustBeFree,
    }

    /// What becomes of a seven's spare steps.
    // RULES §5: steps that nobody can use.
    pub enum SevenSurplus {
        MustBeUsed,
        LapsesOnWin,
    }

    /// When a seven may move the partner's pieces.
    // RULES §5.
    pub enum SevenPartner {
        /// From the moment all four own pieces are in the goal.
        WhenHome,
        /// Always: the "Canadian seven".
        Always,
    }

    /// Whose pieces take the rest of a seven that brings the seat's last piece home.
    // RULES §11.
    pub enum SevenRest {
        AnyPieces,
        /// One of the partner's pieces takes them all.
        OnePiece,
    }

    /// When a jack may be played without effect.
    // RULES §6 and §11, where it is allowed at all.
    pub enum JackWithoutEffectWhen {
        NoOtherOnRing,
        NoSwapPossible,
    }
}

/// How many cards each seat gets: first one list of rounds, then another that is repeated.
// RULES §2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
pub struct DealSizes {
    #[cfg_attr(feature = "utoipa", schema(min_items = 1, max_items = 20))]
    pub first: Vec<u8>,
    #[cfg_attr(feature = "utoipa", schema(min_items = 1, max_items = 20))]
    pub then: Vec<u8>,
}

impl DealSizes {
    /// The number of cards per seat in this round, counted from 1.
    pub fn in_round(&self, round: u32) -> u8 {
        let index = round.saturating_sub(1) as usize;
        match self.first.get(index) {
            Some(&size) => size,
            None => self.then[(index - self.first.len()) % self.then.len()],
        }
    }
}

/// Every option of RULES §2 and §11, under the name it has there. A program refuses those that it
/// does not know, rather than play a game by other rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The preset these options were made from; only a name, nothing is decided by it.
    pub preset: Preset,
    pub seats: u8,
    pub fields_per_seat: u8,
    pub jokers: u8,
    pub deal_sizes: DealSizes,
    pub dealer: Dealer,
    pub reshuffle: Reshuffle,
    pub exchange: Exchange,
    pub start_block: Protection,
    pub start_swap_protection: Protection,
    pub goal_entry: GoalEntry,
    pub backward_into_goal: bool,
    /// It is stored only if it is set, so other rules are stored as before there was this option.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub fresh_into_goal: bool,
    pub capture_own: bool,
    pub seven_landing: SevenLanding,
    pub seven_surplus: SevenSurplus,
    pub seven_partner: SevenPartner,
    pub seven_rest: SevenRest,
    pub jack_own_pair: bool,
    pub jack_without_effect: bool,
    pub jack_without_effect_when: JackWithoutEffectWhen,
}

crate::named! {
    /// One of the five published rule sheets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "utoipa", derive(utoipa::ToSchema))]
    pub enum Preset {
        Familienlager = "familienlager",
        DogspielDe = "dogspiel-de",
        DogspielIt = "dogspiel-it",
        Spielanleitung = "spielanleitung",
        Hausregeln = "hausregeln",
    }
}

impl Preset {
    /// What a preset sets (RULES §2).
    pub fn options(self) -> Options {
        let repeating = DealSizes {
            first: vec![6, 5, 4, 3, 2],
            then: vec![6, 5, 4, 3, 2],
        };
        let six_once = DealSizes {
            first: vec![6, 5, 4, 3, 2],
            then: vec![5, 4, 3, 2],
        };
        // What most sheets agree on; each preset names where it differs.
        let common = Options {
            preset: self,
            seats: 4,
            fields_per_seat: 16,
            jokers: 6,
            deal_sizes: six_once,
            dealer: Dealer::Rotates,
            reshuffle: Reshuffle::WhenEmpty,
            exchange: Exchange::Mandatory,
            start_block: Protection::Fresh,
            start_swap_protection: Protection::Fresh,
            goal_entry: GoalEntry::OnStart,
            backward_into_goal: false,
            fresh_into_goal: false,
            capture_own: true,
            seven_landing: SevenLanding::Captures,
            seven_surplus: SevenSurplus::MustBeUsed,
            seven_partner: SevenPartner::WhenHome,
            seven_rest: SevenRest::AnyPieces,
            jack_own_pair: false,
            jack_without_effect: false,
            jack_without_effect_when: JackWithoutEffectWhen::NoOtherOnRing,
        };
        match self {
            Preset::Familienlager => Options {
                start_block: Protection::Always,
                start_swap_protection: Protection::Always,
                ..common
            },
            Preset::DogspielDe => Options {
                deal_sizes: repeating,
                dealer: Dealer::Fixed,
                jack_own_pair: true,
                ..common
            },
            Preset::DogspielIt => Options {
                deal_sizes: repeating,
                dealer: Dealer::Fixed,
                ..common
            },
            Preset::Spielanleitung => Options {
                start_block: Protection::Always,
                jack_own_pair: true,
                ..common
            },
            Preset::Hausregeln => Options {
                fields_per_seat: 15,
                jokers: 8,
                exchange: Exchange::OnRequest,
                goal_entry: GoalEntry::BeforeStart,
                backward_into_goal: true,
                seven_landing: SevenLanding::MustBeFree,
                seven_surplus: SevenSurplus::LapsesOnWin,
                jack_without_effect: true,
                ..common
            },
        }
    }

    /// The rules of the preset as published.
    pub fn rules(self) -> Rules {
        Rules::try_from(self.options()).expect("every preset is a possible set of rules")
    }
}

/// Why a set of options cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RulesError {
    #[error("seats must be 4 or 6, not {0}")]
    Seats(u8),
    #[error("fields_per_seat must be 15 or 16, not {0}")]
    FieldsPerSeat(u8),
    #[error("jokers must be 0 to 12, not {0}")]
    Jokers(u8),
    #[error("deal_sizes.{0} must have 1 to 20 entries")]
    DealSizesLength(&'static str),
    #[error("every size in deal_sizes.{0} must be at least 1")]
    DealSizeZero(&'static str),
    #[error("a deal of {size} cards to {seats} seats needs {needed} cards, the deck has {deck}")]
    DealTooLarge {
        size: u8,
        seats: u8,
        needed: u16,
        deck: u8,
    },
    #[error("seven_rest: one_piece needs seven_partner: when_home")]
    OnePieceNeedsWhenHome,
}

/// Options that have been checked, with their ring. Only [`Rules::try_from`] makes them, so every
/// value is a possible set of rules.
#[derive(Clone)]
pub struct Rules {
    options: Options,
    ring: Ring,
}

impl Rules {
    /// The ring that the options define.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// All options, as a request can send them.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The whole deck (RULES §3).
    pub fn deck(&self) -> Cards {
        Cards::deck(self.options.jokers)
    }
}

/// The ring follows from the options.
impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        self.options == other.options
    }
}

impl Eq for Rules {}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(f)
    }
}

impl Deref for Rules {
    type Target = Options;

    fn deref(&self) -> &Options {
        &self.options
    }
}

impl TryFrom<Options> for Rules {
    type Error = RulesError;

    fn try_from(options: Options) -> Result<Rules, RulesError> {
        if ![4, 6].contains(&options.seats) {
            return Err(RulesError::Seats(options.seats));
        }
        if ![15, 16].contains(&options.fields_per_seat) {
            return Err(RulesError::FieldsPerSeat(options.fields_per_seat));
        }
        if options.jokers > 12 {
            return Err(RulesError::Jokers(options.jokers));
        }
        let deck = Cards::deck(options.jokers).len();
        let lists = [
            ("first", &options.deal_sizes.first),
            ("then", &options.deal_sizes.then),
        ];
        for (name, sizes) in lists {
            if sizes.is_empty() || sizes.len() > 20 {
                return Err(RulesError::DealSizesLength(name));
            }
            for &size in sizes {
                if size == 0 {
                    return Err(RulesError::DealSizeZero(name));
                }
                let needed = u16::from(size) * u16::from(options.seats);
                if needed > u16::from(deck) {
                    return Err(RulesError::DealTooLarge {
                        size,
                        seats: options.seats,
                        needed,
                        deck,
                    });
                }
            }
        }
        let one_piece = options.seven_rest == SevenRest::OnePiece;
        if one_piece && options.seven_partner != SevenPartner::WhenHome {
            return Err(RulesError::OnePieceNeedsWhenHome);
        }
        let before_start = options.goal_entry == GoalEntry::BeforeStart;
        let ring = Ring::new(options.seats, options.fields_per_seat, before_start);
        Ok(Rules { options, ring })
    }
}

impl Serialize for Rules {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Version 0.2.0 ignores an option that it does not know, but cannot read the other form.
        match self.options.fresh_into_goal {
            false => self.options.serialize(serializer),
            true => [&self.options].serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Rules, D::Error> {
        deserializer.deserialize_any(RulesVisitor)
    }
}

/// Reads both forms of stored rules.
struct RulesVisitor;

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = Rules;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rules")
    }

    fn visit_map<A: MapAccess<'de>>(self, options: A) -> Result<Rules, A::Error> {
        let options = Options::deserialize(MapAccessDeserializer::new(options))?;
        Rules::try_from(options).map_err(A::Error::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rules: A) -> Result<Rules, A::Error> {
        let rules = rules.next_element()?;
        rules.ok_or_else(|| A::Error::custom("no rules"))
    }
}

/// Why a text is not a set of rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RulesTextError {
    #[error("there is no preset {0:?}")]
    Preset(String),
    #[error("{0:?} is not an option: options are written NAME=VALUE")]
    Option(String),
    #[error("{option}: {problem}")]
    Value { option: String, problem: String },
    #[error("{0}")]
    Rules(#[from] RulesError),
}

impl FromStr for Rules {
    type Err = RulesTextError;

    /// Reads rules such as `hausregeln seats=6 seven_partner=always`.
    fn from_str(text: &str) -> Result<Rules, RulesTextError> {
        let mut words = text.split_whitespace();
        let preset = words.next().unwrap_or_default();
        let mut options = Preset::by_name(preset)
            .ok_or_else(|| RulesTextError::Preset(preset.to_owned()))?
            .options();
        for word in words {
            let mut all = as_data(&options);
            let (name, option, value) = word
                .split_once('=')
                .filter(|&(name, _)| name != "preset")
                .and_then(|(name, value)| Some((name, all.get_mut(name)?, value)))
                .ok_or_else(|| RulesTextError::Option(word.to_owned()))?;
            // Numbers and booleans are written as in JSON, words without quotes.
            *option =
                serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            options = Options::deserialize(Value::Object(all)).map_err(|error| {
                RulesTextError::Value {
                    option: name.to_owned(),
                    problem: error.to_string(),
                }
            })?;
        }
        Ok(Rules::try_from(options)?)
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.preset.name())?;
        let published = as_data(&self.preset.options());
        for (name, value) in as_data(self.options()) {
            if published[&name] != value {
                match value {
                    Value::String(word) => write!(f, " {name}={word}")?,
                    value => write!(f, " {name}={value}")?,
                }
            }
        }
        Ok(())
    }
}

/// The options by name, in the order of their names, which is that of a game's record.
fn as_data(options: &Options) -> Map<String, Value> {
    let Ok(Value::Object(mut data)) = serde_json::to_value(options) else {
        unreachable!("options have names");
    };
    // A dependent may build `serde_json` so that it keeps the order of the fields.
    data.entry("fresh_into_goal").or_insert(Value::Bool(false));
    data.sort_keys();
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut Options)) -> RulesError {
        let mut options = Preset::DogspielIt.options();
        change(&mut options);
        Rules::try_from(options).expect_err("an impossible set of rules")
    }

    #[test]
    fn presets_are_possible_for_every_table() {
        for preset in Preset::ALL {
            assert_eq!(Preset::by_name(preset.name()), Some(preset));
            for seats in [4, 6] {
                let options = Options {
                    seats,
                    ..preset.options()
                };
                assert!(Rules::try_from(options).is_ok(), "{preset:?} for {seats}");
            }
        }
        assert_eq!(Preset::by_name("tock"), None);
    }

    #[test]
    fn impossible_combinations_are_refused() {
        assert_eq!(refused(|o| o.seats = 5), RulesError::Seats(5));
        assert_eq!(
            refused(|o| o.fields_per_seat = 17),
            RulesError::FieldsPerSeat(17)
        );
        assert_eq!(refused(|o| o.jokers = 13), RulesError::Jokers(13));
        assert_eq!(
            refused(|o| {
                o.seven_rest = SevenRest::OnePiece;
                o.seven_partner = SevenPartner::Always;
            }),
            RulesError::OnePieceNeedsWhenHome
        );
        assert_eq!(
            refused(|o| o.deal_sizes.then.clear()),
            RulesError::DealSizesLength("then")
        );
        assert_eq!(
            refused(|o| o.deal_sizes.first[0] = 0),
            RulesError::DealSizeZero("first")
        );
        assert_eq!(
            refused(|o| o.deal_sizes.first[0] = 28),
            RulesError::DealTooLarge {
                size: 28,
                seats: 4,
                needed: 112,
                deck: 110
            }
        );
    }

    #[test]
    fn rules_survive_storage() {
        for preset in Preset::ALL {
            let text = serde_json::to_string(&preset.rules()).unwrap();
            assert_eq!(
                serde_json::from_str::<Rules>(&text).unwrap(),
                preset.rules()
            );
        }
    }

    #[test]
    fn an_option_that_is_not_set_is_stored_as_before_there_was_it() {
        let text = "familienlager fresh_into_goal=true";
        let rules: Rules = text.parse().unwrap();
        assert_eq!(rules.to_string(), text);
        let read = |stored: &Value| Rules::deserialize(stored);
        let stored = serde_json::to_value(&rules).unwrap();
        assert_eq!(read(&stored).unwrap(), rules);
        let mut options = stored[0].clone();
        assert_eq!(read(&options).unwrap(), rules);
        options.as_object_mut().unwrap().remove("fresh_into_goal");
        let before = Preset::Familienlager.rules();
        assert_eq!(serde_json::to_value(&before).unwrap(), options);
        assert_eq!(read(&options).unwrap(), before);

        // A program of before, which ignores options that it does not know.
        #[derive(Deserialize)]
        struct Earlier {
            preset: Preset,
        }
        let earlier = |stored| Earlier::deserialize(stored).map(|options| options.preset);
        assert_eq!(earlier(&options).unwrap(), Preset::Familienlager);
        assert!(earlier(&stored).is_err());
        options["an_option_of_a_later_version"] = true.into();
        assert!(read(&options).is_err());
    }
}
