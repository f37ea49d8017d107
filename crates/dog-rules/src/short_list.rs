//! Short lists stored in place. A move has no more parts, and captures no more pieces, than a seven
//! has steps (RULES §5).

use std::{
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The largest length of a list: one item for each step of a seven.
pub const CAPACITY: usize = 7;

/// Up to seven items in order, copied as one value. It dereferences to a slice.
#[derive(Clone, Copy)]
pub struct ShortList<T> {
    len: u8,
    items: [T; CAPACITY],
}

/// What a short list can hold.
pub trait ShortListItem: Copy {
    /// The value in places that are not in use.
    const FILLER: Self;
}

impl<T: ShortListItem> ShortList<T> {
    /// The empty list.
    pub const EMPTY: ShortList<T> = ShortList {
        len: 0,
        items: [T::FILLER; CAPACITY],
    };

    /// Adds an item at the end. Returns `false`, and changes nothing, if there are seven already.
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

    /// Removes the last item, if there is one.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// The list with each item mapped to another.
    #[inline]
    pub(super) fn map<U: ShortListItem>(&self, each: impl FnMut(T) -> U) -> ShortList<U> {
        ShortList {
            len: self.len,
            items: self.items.map(each),
        }
    }
}

impl<T> Deref for ShortList<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

impl<T: fmt::Debug> fmt::Debug for ShortList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for ShortList<T> {
    fn eq(&self, other: &ShortList<T>) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for ShortList<T> {}

impl<T: Hash> Hash for ShortList<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Serialize> Serialize for ShortList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: ShortListItem + Deserialize<'de>> Deserialize<'de> for ShortList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ShortList<T>, D::Error> {
        let mut list = ShortList::EMPTY;
        for item in Vec::deserialize(deserializer)? {
            if !list.push(item) {
                return Err(de::Error::invalid_length(CAPACITY + 1, &"at most seven"));
            }
        }
        Ok(list)
    }
}
