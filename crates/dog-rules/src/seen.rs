//! A set of boards, kept between uses to spare allocations.

use super::board::Board;

/// The boards that were seen since the set was last cleared.
#[derive(Default)]
pub(super) struct Seen {
    boards: Vec<Board>,
    /// Open addressing: the index + 1 of a board, 0 for an empty slot. A power of two long.
    slots: Vec<u32>,
}

impl Seen {
    const FEWEST_SLOTS: usize = 64;

    /// Forgets every board.
    #[inline]
    pub fn clear(&mut self) {
        if self.boards.is_empty() {
            return;
        }
        self.boards.clear();
        self.slots.truncate(Seen::FEWEST_SLOTS);
        self.slots.fill(0);
    }

    /// Adds a board; `false` if it was there.
    pub fn insert(&mut self, board: &Board) -> bool {
        if self.boards.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = board.hash32() as usize & mask;
        while let Some(index) = (self.slots[slot] as usize).checked_sub(1) {
            if self.boards[index] == *board {
                return false;
            }
            slot = (slot + 1) & mask;
        }
        self.boards.push(*board);
        self.slots[slot] = self.boards.len() as u32;
        true
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 4).max(Seen::FEWEST_SLOTS);
        self.slots.clear();
        self.slots.resize(len, 0);
        for (index, board) in self.boards.iter().enumerate() {
            let mut slot = board.hash32() as usize & (len - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }
}
