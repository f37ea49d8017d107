//! The weights of nets, for tests and for training.

use super::{Head, Net};

impl Net {
    /// Every weight, block by block.
    pub fn blocks(&self) -> impl Iterator<Item = &[f32]> {
        let first = [self.first.as_flattened(), self.first_bias.as_slice()];
        first
            .into_iter()
            .chain(self.heads.iter().flat_map(Head::blocks))
    }

    /// Every weight, block by block, mutable.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        let heads = self.heads.iter_mut().flat_map(Head::blocks_mut);
        let first = [
            self.first.as_flattened_mut(),
            self.first_bias.as_mut_slice(),
        ];
        first.into_iter().chain(heads)
    }
}

impl Head {
    /// Every weight, block by block.
    pub fn blocks(&self) -> [&[f32]; 4] {
        [
            self.second.as_flattened(),
            self.second_bias.as_slice(),
            self.last.as_slice(),
            std::slice::from_ref(&self.last_bias),
        ]
    }
}
