//! Rules in requests, and all their options in responses (RULES §2).

use dog_rules::{
    DealSizes, Dealer, Exchange, GoalEntry, JackWithoutEffectWhen, Options, Preset, Protection,
    Reshuffle, Rules, SevenLanding, SevenPartner, SevenRest, SevenSurplus,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::{Code, Problem, Reason};

/// Defines the options twice: for requests, where each is optional, and for responses, which have
/// them all.
macro_rules! options {
    ($($(#[doc = $doc:literal])+ $(#[schema($schema:meta)])* $name:ident: $type:ty,)+) => {
        /// The rules to play by: a preset, and the options that differ from it.
        #[derive(Default, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(example = json!({"preset": "hausregeln", "seats": 6}))]
        pub struct RulesRequest {
            /// The preset to start from; `dogspiel-it` by default.
            preset: Option<Preset>,
            $($(#[doc = $doc])+ $(#[schema($schema)])* $name: Option<$type>,)+
        }

        /// All options of the rules, as they can be sent back in a request.
        #[derive(Serialize, ToSchema)]
        #[schema(as = Rules)]
        pub struct RulesView {
            /// The preset that the rules were made from.
            preset: Preset,
            $($(#[doc = $doc])+ $(#[schema($schema)])* $name: $type,)+
        }

        impl RulesRequest {
            /// The preset's options with what the request overrides.
            fn options(self) -> Options {
                let mut options = self.preset.unwrap_or(DEFAULT_PRESET).options();
                $(if let Some(value) = self.$name {
                    options.$name = value;
                })+
                options
            }
        }

        impl From<&Options> for RulesView {
            fn from(options: &Options) -> RulesView {
                RulesView {
                    preset: options.preset,
                    $($name: options.$name.clone(),)+
                }
            }
        }

        /// Each option's name and one-line meaning.
        pub const OPTION_MEANINGS: &[(&str, &str)] =
            &[$((stringify!($name), concat!($($doc),+).trim_ascii())),+];
    };
}

/// The preset of a game whose creator names none.
pub const DEFAULT_PRESET: Preset = Preset::DogspielIt;

options! {
    /// Number of seats: two teams of two, or three.
    #[schema(minimum = 4)] #[schema(maximum = 6)]
    seats: u8,
    /// Track fields per seat: the ring has seats times this many.
    #[schema(minimum = 15)] #[schema(maximum = 16)]
    fields_per_seat: u8,
    /// Jokers in the deck, besides two times 52 cards.
    #[schema(maximum = 12)]
    jokers: u8,
    /// Cards that each seat gets, round by round: first one list, then another that is repeated.
    deal_sizes: DealSizes,
    /// Whether the dealer changes each round, or only the seat that begins.
    dealer: Dealer,
    /// When the discard pile is shuffled into the stock: in a deal, when a card is due and the
    /// stock is empty, or before a deal for which the stock has too few cards.
    reshuffle: Reshuffle,
    /// Whether partners must swap a card before play, may ask, offer and decline, or swap only if
    /// one asks and the other agrees.
    exchange: Exchange,
    /// When a piece on its own start blocks others: always, or only while fresh.
    start_block: Protection,
    /// When a piece on its own start cannot be swapped: always, or only while fresh.
    start_swap_protection: Protection,
    /// The door to the goal: the seat's own start, or the field before it.
    goal_entry: GoalEntry,
    /// Whether a four may go back from beyond its own start into the goal.
    backward_into_goal: bool,
    /// Whether a fresh piece may go forward from its own start into the goal, where that is the door.
    fresh_into_goal: bool,
    /// Whether a piece may end on another of its own seat and capture it.
    capture_own: bool,
    /// Whether a part of a seven captures where it ends, or must end on a free field.
    seven_landing: SevenLanding,
    /// Whether all steps of a seven must be used, or lapse once the team has won.
    seven_surplus: SevenSurplus,
    /// When a seven may move the partner's pieces: once all of the seat's own are home, or always.
    seven_partner: SevenPartner,
    /// Which of the partner's pieces take the rest of a seven that brings the seat's own pieces
    /// home: any, or one takes all. The latter needs `seven_partner: when_home`.
    seven_rest: SevenRest,
    /// Whether both pieces that a jack swaps may be one's own.
    jack_own_pair: bool,
    /// Whether a jack may be played without effect, when `jack_without_effect_when` says.
    jack_without_effect: bool,
    /// When a jack may be played without effect, where it may: while the ring has only pieces of the
    /// seat whose pieces are moved, or whenever no swap is possible.
    jack_without_effect_when: JackWithoutEffectWhen,
}

/// The rules of a request; the default preset if there are none.
///
/// # Errors
/// `invalid_rules`.
pub fn checked_rules(request: Option<RulesRequest>) -> Result<Rules, Problem> {
    let options = request.unwrap_or_default().options();
    Rules::try_from(options).map_err(Problem::from)
}

/// The longest text of rules: all options, and room to spare.
const MAX_TEXT: usize = 1_000;

/// The rules of a query, as text: a preset, and the options that differ from it. The default preset
/// if there are none.
///
/// # Errors
/// `invalid_rules`.
pub fn rules_of_text(text: Option<&str>) -> Result<Rules, Problem> {
    match text {
        None => Ok(DEFAULT_PRESET.rules()),
        Some(text) if text.len() > MAX_TEXT => {
            let detail = format!("/rules is longer than {MAX_TEXT} characters");
            Err(Problem::new(Code::InvalidRules, detail)
                .because(Reason::WrongValue)
                .at("/rules".to_owned(), None))
        }
        Some(text) => Ok(text.parse::<Rules>()?),
    }
}
