//! How lists of inputs differ from one whose first layer is added up already.
//!
//! What a card may lead to differs in a few inputs from what was there before, or in none at all where
//! the inputs tell of pieces that stand still. Only these are added up.

use super::inputs::Input;

/// A list of inputs, the base, that others are told apart from.
#[derive(Default)]
pub struct Differences {
    cells: Vec<Cell>,
    /// The base's active inputs, each once.
    active: Vec<u16>,
    /// Lists since all cells were new.
    pub(super) lists: u32,
    /// Room for what differs.
    found: Vec<Input>,
}

/// One input.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Its value in the base: 0 if it is not active there.
    base: f32,
    /// The list in which it was last.
    list: u32,
}

impl Differences {
    /// Takes another list as the base, of a net with so many inputs.
    pub fn begin(&mut self, inputs: usize, base: &[Input]) {
        for index in self.active.drain(..) {
            self.cells[usize::from(index)].base = 0.0;
        }
        if self.cells.len() < inputs {
            self.cells.resize(inputs, Cell::default());
        }
        let list = self.next();
        for input in base {
            let cell = &mut self.cells[usize::from(input.index)];
            if cell.list != list {
                cell.list = list;
                self.active.push(input.index);
            }
            cell.base += input.value;
        }
    }

    /// What is to be added to the sums of the base so that they are those of this list.
    pub fn of(&mut self, inputs: &[Input]) -> &[Input] {
        let list = self.next();
        let most = inputs.len() + self.active.len();
        if self.found.len() < most {
            self.found.resize(
                most,
                Input {
                    index: 0,
                    value: 0.0,
                },
            );
        }
        // Whether an input differs is hard to foresee for a processor: it is written down in any
        // case, and counted if it does.
        let mut count = 0;
        for &Input { index, value } in inputs {
            let cell = &mut self.cells[usize::from(index)];
            let base = if cell.list == list { 0.0 } else { cell.base };
            cell.list = list;
            let value = value - base;
            self.found[count] = Input { index, value };
            count += usize::from(value != 0.0);
        }
        for &index in &self.active {
            let cell = self.cells[usize::from(index)];
            let value = -cell.base;
            self.found[count] = Input { index, value };
            count += usize::from(cell.list != list);
        }
        &self.found[..count]
    }

    /// A number for another list.
    fn next(&mut self) -> u32 {
        if self.lists == u32::MAX {
            for cell in &mut self.cells {
                cell.list = 0;
            }
            self.lists = 0;
        }
        self.lists += 1;
        self.lists
    }
}
