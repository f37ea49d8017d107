//! Short lists held in place: a move has no more parts, and captures no more pieces, than a seven
//! has steps (RULES §5).

use std::{
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The most that a list holds: one thing for each step of a seven.
pub const FEW: usize = 7;

/// Up to seven things in order, to copy as a value; a slice to look at.
#[derive(Clone, Copy)]
pub struct Few<T> {
    len: u8,
    items: [T; FEW],
}

/// What a short list can hold.
pub trait Item: Copy {
    /// What lies in the places that are not in use.
    const FILLER: Self;
}

impl<T: Item> Few<T> {
    /// Nothing yet.
    pub const EMPTY: Few<T> = Few {
        len: 0,
        items: [T::FILLER; FEW],
    };

    /// Adds one at the end; `false`, and nothing changed, if seven are there already.
    #[inline]
    pub fn push(&mut self, item: T) -> bool {
        let place = self.items.get_mut(usize::from(self.len));
        let room = place.is_some();
        if let Some(place) = place {
            *place = item;
            self.len += 1;
        }
        room
    }

    /// Drops the last one, if there is one.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// The same number of other things.
    #[inline]
    pub(super) fn map<U: Item>(&self, each: impl FnMut(T) -> U) -> Few<U> {
        Few {
            len: self.len,
            items: self.items.map(each),
        }
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Few<T> {
    fn eq(&self, other: &Few<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Few<T> {}

impl<T: Hash> Hash for Few<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Serialize> Serialize for Few<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Item + Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Few<T>, D::Error> {
        let mut few = Few::EMPTY;
        for item in Vec::deserialize(deserializer)? {
            if !few.push(item) {
                return Err(de::Error::invalid_length(FEW + 1, &"at most seven"));
            }
        }
        Ok(few)
    }
}
