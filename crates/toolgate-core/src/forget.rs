//! Making room in a map that holds so many entries at the most.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash},
};

/// Forgets the tenth of `most` entries that is worth least; a tenth at once, so that not every new entry costs a pass.
pub fn forget_tenth<K: Eq + Hash, V, S: BuildHasher, W: Ord + Copy>(
    map: &mut HashMap<K, V, S>,
    most: usize,
    worth: impl Fn(&V) -> W,
) {
    let mut worths: Vec<W> = map.values().map(&worth).collect();
    let forgotten = worths.len().saturating_sub(most - most / 10);
    if forgotten == 0 || forgotten >= worths.len() {
        return;
    }
    let (_, least, _) = worths.select_nth_unstable(forgotten);
    let (least, mut left) = (*least, most - most / 10);
    // INVARIANT: what is worth more than the least stays; of what is worth as much, as many as there is room for
    left -= map.values().filter(|value| worth(value) > least).count();
    map.retain(|_, value| {
        let worth = worth(value);
        let stays = worth > least || (worth == least && left > 0);
        left -= usize::from(stays && worth == least);
        stays
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_worth_go_and_equals_are_counted() {
        let mut map: HashMap<u32, u32> = (0..100).map(|number| (number, number)).collect();
        forget_tenth(&mut map, 100, |worth| *worth);
        assert_eq!((map.len(), map.contains_key(&9), map.contains_key(&10)), (90, false, true));
        let mut equal: HashMap<u32, u32> = (0..100).map(|number| (number, 7)).collect();
        equal.insert(200, 8);
        forget_tenth(&mut equal, 100, |worth| *worth);
        assert_eq!((equal.len(), equal.contains_key(&200)), (90, true));
        forget_tenth(&mut equal, 100, |worth| *worth);
        assert_eq!(equal.len(), 90, "there is room");
    }
}
