//! Characters that look like an ASCII letter or digit and are none.

/// Cyrillic, Greek, Armenian, Cherokee and letter-like symbols, by the letter they imitate.
const LETTERS: &[(char, &str)] = &[
    ('A', "\u{410}\u{391}\u{13aa}"),
    ('B', "\u{412}\u{392}\u{13f4}\u{212c}"),
    ('C', "\u{421}\u{13df}\u{3f9}\u{2102}\u{212d}"),
    ('D', "\u{13a0}"),
    ('E', "\u{415}\u{395}\u{13ac}\u{2130}"),
    ('F', "\u{3dc}\u{2131}"),
    ('G', "\u{50c}\u{13c0}"),
    ('H', "\u{41d}\u{397}\u{13bb}\u{210b}\u{210c}\u{210d}"),
    ('I', "\u{406}\u{399}\u{4c0}\u{2110}\u{2111}"),
    ('J', "\u{408}\u{13ab}\u{37f}"),
    ('K', "\u{41a}\u{39a}\u{13e6}\u{212a}"),
    ('L', "\u{13de}\u{2112}"),
    ('M', "\u{41c}\u{39c}\u{13b7}\u{2133}"),
    ('N', "\u{39d}\u{2115}"),
    ('O', "\u{41e}\u{39f}\u{555}"),
    ('P', "\u{420}\u{3a1}\u{13e2}\u{2119}"),
    ('Q', "\u{51a}\u{211a}"),
    ('R', "\u{13a1}\u{211b}\u{211c}\u{211d}"),
    ('S', "\u{405}\u{54f}\u{13da}"),
    ('T', "\u{422}\u{3a4}\u{13a2}"),
    ('U', "\u{54d}"),
    ('V', "\u{474}\u{13d9}"),
    ('W', "\u{51c}\u{13b3}"),
    ('X', "\u{425}\u{3a7}"),
    ('Y', "\u{423}\u{3a5}\u{4ae}"),
    ('Z', "\u{396}\u{13c3}\u{2124}\u{2128}"),
    ('a', "\u{430}\u{3b1}\u{251}"),
    ('c', "\u{441}\u{3f2}"),
    ('d', "\u{501}"),
    ('e', "\u{435}\u{4bd}\u{212f}"),
    ('g', "\u{261}\u{581}\u{210a}"),
    ('h', "\u{4bb}\u{570}\u{210e}"),
    ('i', "\u{456}\u{3b9}\u{1d6a4}"),
    ('j', "\u{458}\u{3f3}\u{1d6a5}"),
    ('k', "\u{3ba}"),
    ('l', "\u{4cf}\u{2113}"),
    ('n', "\u{578}\u{57c}"),
    ('o', "\u{43e}\u{3bf}\u{585}\u{2134}"),
    ('p', "\u{440}\u{3c1}"),
    ('q', "\u{51b}\u{563}"),
    ('s', "\u{455}"),
    ('u', "\u{57d}"),
    ('v', "\u{475}\u{3bd}"),
    ('w', "\u{51d}\u{561}"),
    ('x', "\u{445}\u{3c7}"),
    ('y', "\u{443}\u{3b3}\u{4af}\u{28f}"),
    ('z', "\u{1d22}"),
];

/// Whole alphabets: where one starts, how many, and the ASCII its first imitates.
const ALPHABETS: &[(u32, u32, char)] = &[
    // Full width.
    (0xff10, 10, '0'),
    (0xff21, 26, 'A'),
    (0xff41, 26, 'a'),
    // Parenthesised, circled, squared, and the same in negative.
    (0x249c, 26, 'a'),
    (0x24b6, 26, 'A'),
    (0x24d0, 26, 'a'),
    (0x1f130, 26, 'A'),
    (0x1f150, 26, 'A'),
    (0x1f170, 26, 'A'),
];

/// Thirteen mathematical alphabets, capitals then small letters; five times the digits.
const MATHEMATICAL_LETTERS: std::ops::Range<u32> = 0x1d400..0x1d6a4;
const MATHEMATICAL_DIGITS: std::ops::Range<u32> = 0x1d7ce..0x1d800;

/// The ASCII letter or digit that a character imitates; none for ASCII itself.
pub fn look_alike(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let code = u32::from(c);
    if MATHEMATICAL_LETTERS.contains(&code) {
        let place = (code - MATHEMATICAL_LETTERS.start) % 52;
        return if place < 26 { shift('A', place) } else { shift('a', place - 26) };
    }
    if MATHEMATICAL_DIGITS.contains(&code) {
        return shift('0', (code - MATHEMATICAL_DIGITS.start) % 10);
    }
    let alphabet = ALPHABETS.iter().find(|(first, count, _)| (*first..*first + *count).contains(&code));
    if let Some((first, _, ascii)) = alphabet {
        return shift(*ascii, code - first);
    }
    LETTERS.iter().find(|(_, imitations)| imitations.contains(c)).map(|(ascii, _)| *ascii)
}

fn shift(first: char, by: u32) -> Option<char> {
    char::from_u32(u32::from(first) + by)
}
