//! What tells nets of other inputs or other rules from this program's.

use dog_rules::{
    game::Phase,
    options::{Preset, Rules},
    playout::Playout,
    seat::Seat,
};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
use sha2::{Digest, Sha256};

use super::{
    inputs::{Input, Inputs, Layout, VERSION},
    setting::Setting,
    stage::{Kept, Stage},
};

/// What the inputs are for positions of some random games, hashed. It changes when an input gets
/// another meaning and, nearly always, when the rules or the random games do.
pub fn fingerprint(setting: Setting) -> String {
    let layout = Layout::new(setting.seats());
    let mut hash = Sha256::new();
    let mut list = Vec::new();
    hash.update(VERSION.to_le_bytes());
    for preset in Preset::ALL {
        let rules = Rules::try_from(setting.options(preset)).expect("a possible set of rules");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut game = Playout::new(&rules, Seat::all(rules.seats).next().expect("a seat"));
        for _ in 0..40 {
            game.play_on(&mut rng, 13);
            if game.phase() != Phase::Play {
                continue;
            }
            let view = game.seen_from(game.turn());
            let inputs = Inputs::new(&layout, &view, Stage::Played);
            list.clear();
            let kept = Kept::Seen(view.hand);
            inputs.cards(kept, &mut list);
            inputs.board(&view.board, kept, &mut list);
            for Input { index, value } in &list {
                hash.update(index.to_le_bytes());
                hash.update(value.to_le_bytes());
            }
        }
    }
    let digest = hash.finalize();
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
