//! Samples packed: column after column, each the difference to the one before, in as few bytes as that takes.

/// What was measured at one moment. Whole numbers, so that packing loses nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Since the start.
    pub(super) second: i64,
    /// Since the start.
    pub(super) decimeters: i64,
    pub(super) altitude_dm: Option<i64>,
    pub(super) heart_rate: Option<i64>,
    pub(super) power: Option<i64>,
    pub(super) cadence: Option<i64>,
}

const VERSION: u8 = 1;
/// Far more than are ever kept.
const MOST: u64 = 100_000;

type Column = (fn(&Sample) -> Option<i64>, fn(&mut Sample, Option<i64>));
const COLUMNS: [Column; 6] = [
    (|sample| Some(sample.second), |sample, value| sample.second = value.unwrap_or_default()),
    (|sample| Some(sample.decimeters), |sample, value| sample.decimeters = value.unwrap_or_default()),
    (|sample| sample.altitude_dm, |sample, value| sample.altitude_dm = value),
    (|sample| sample.heart_rate, |sample, value| sample.heart_rate = value),
    (|sample| sample.power, |sample, value| sample.power = value),
    (|sample| sample.cadence, |sample, value| sample.cadence = value),
];

pub(super) fn pack(samples: &[Sample]) -> Vec<u8> {
    let mut packed = vec![VERSION];
    put(&mut packed, samples.len() as u64);
    for (get, _) in COLUMNS {
        let mut last = 0_i64;
        for sample in samples {
            match get(sample) {
                // 0 is "not measured"; a difference is one more than its number
                None => put(&mut packed, 0),
                Some(value) => {
                    let difference = value.wrapping_sub(last);
                    let folded = (difference.wrapping_shl(1) ^ (difference >> 63)).cast_unsigned();
                    put(&mut packed, folded.saturating_add(1));
                    last = value;
                }
            }
        }
    }
    packed
}

/// `None` if it was not packed by us.
pub(super) fn unpack(packed: &[u8]) -> Option<Vec<Sample>> {
    let (&version, mut rest) = packed.split_first()?;
    let count = take(&mut rest).filter(|count| version == VERSION && *count <= MOST)?;
    let mut samples = vec![Sample::default(); usize::try_from(count).ok()?];
    for (_, set) in COLUMNS {
        let mut last = 0_i64;
        for sample in &mut samples {
            let folded = take(&mut rest)?.checked_sub(1);
            let value = folded.map(|folded| {
                let difference = (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed();
                last = last.wrapping_add(difference);
                last
            });
            set(sample, value);
        }
    }
    rest.is_empty().then_some(samples)
}

fn put(packed: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        packed.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    packed.push(number.to_le_bytes()[0]);
}

fn take(packed: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = packed.split_first()?;
        *packed = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> impl Strategy<Value = Sample> {
        let small = -1_000_000_i64..1_000_000;
        let maybe = || prop::option::of(-1_000_000_i64..1_000_000);
        (small.clone(), small, maybe(), maybe(), maybe(), maybe()).prop_map(
            |(second, decimeters, altitude_dm, heart_rate, power, cadence)| Sample {
                second,
                decimeters,
                altitude_dm,
                heart_rate,
                power,
                cadence,
            },
        )
    }

    proptest! {
        #[test]
        fn what_was_packed_comes_back(samples in prop::collection::vec(sample(), 0..50)) {
            prop_assert_eq!(unpack(&pack(&samples)), Some(samples));
        }

        #[test]
        fn any_bytes_are_samples_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpack(&bytes);
        }
    }

    #[test]
    fn a_second_of_a_run_takes_few_bytes() {
        let run: Vec<Sample> = (0..3600)
            .map(|second| Sample {
                second,
                decimeters: second * 30,
                heart_rate: Some(150),
                altitude_dm: Some(1000),
                ..Sample::default()
            })
            .collect();
        assert!(pack(&run).len() < 3600 * 7, "{}", pack(&run).len());
    }
}
