//! Secrets in plain text, found in one walk from left to right.
//!
//! INVARIANT: the time is linear in the text. A run of token characters is measured once and remembered; what looks further ahead
//! than a fixed number of bytes either takes what it passed over, or draws on a budget that ends.

use super::{assignment, element, encoded, paired, shapes, userinfo};

/// The text with each secret in it given to `put` instead; `None` if there is none.
///
/// For an approver each of them is one run of token characters.
pub(super) fn replace(text: &str, for_approver: bool, put: impl Fn(&str, &mut String)) -> Option<String> {
    replace_in(TextWalk { for_approver, ..TextWalk::new(text, 0) }, &put)
}

/// Whether text that was decoded from other text holds a secret.
pub(super) fn holds_secret(text: &str, nesting: usize) -> bool {
    replace_in(TextWalk::new(text, nesting), &|_, _| {}).is_some()
}

/// Whether the text holds a secret that is known by its own characters, whatever stands before it. Looks at no names, so that
/// names themselves can be looked at.
pub(super) fn holds_format(text: &str, nesting: usize) -> bool {
    let mut walk = TextWalk::new(text, nesting);
    let mut at = 0;
    while let Some(start) = walk.next_start(at) {
        if walk.format_at(start).is_some() {
            return true;
        }
        at = start + 1;
    }
    false
}

fn replace_in(mut walk: TextWalk<'_>, put: &dyn Fn(&str, &mut String)) -> Option<String> {
    let text = walk.text;
    let mut out: Option<String> = None;
    let mut at = 0;
    while let Some(start) = walk.next_start(at) {
        match walk.secret_at(start) {
            Some((from, to)) => {
                let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
                out.push_str(text.get(walk.kept..from).unwrap_or_default());
                put(text.get(from..to).unwrap_or_default(), out);
                walk.kept = to;
                at = to.max(start + 1);
            }
            None => at = start + 1,
        }
    }
    let mut out = out?;
    out.push_str(text.get(walk.kept..).unwrap_or_default());
    Some(out)
}

/// The state of one walk.
pub(super) struct TextWalk<'a> {
    pub(super) text: &'a str,
    /// The end of the last secret: nothing before it is looked at again.
    pub(super) kept: usize,
    /// How often this text was decoded from another.
    pub(super) nesting: usize,
    /// Only runs of token characters are hidden.
    pub(super) for_approver: bool,
    /// The run of token characters measured last.
    run: Option<(usize, usize)>,
    /// The first dot at or after the place that was asked about last.
    dot: Option<usize>,
    /// Bytes that may still be decoded.
    pub(super) budget: usize,
}

impl<'a> TextWalk<'a> {
    pub(super) fn new(text: &'a str, nesting: usize) -> Self {
        let budget = text.len().saturating_mul(2);
        Self { text, kept: 0, nesting, for_approver: false, run: None, dot: None, budget }
    }

    /// The next place where a secret can start. Punctuation starts one wherever it stands; a letter only where a word begins,
    /// as one does after a placeholder.
    fn next_start(&self, at: usize) -> Option<usize> {
        let text = self.text.as_bytes();
        let kind = |byte: u8| KINDS.get(usize::from(byte)).copied().unwrap_or_default();
        let before = at.checked_sub(1).filter(|_| at > self.kept).and_then(|before| text.get(before));
        let mut before = before.map_or(0, |byte| kind(*byte));
        let mut rest = text.get(at..)?.iter().enumerate();
        rest.find_map(|(index, byte)| {
            let kind = kind(*byte);
            let within_word = kind & before & LETTER != 0;
            before = kind;
            if kind & STARTS == 0 || within_word {
                return None;
            }
            let start = at + index;
            let may_begin = kind & LETTER == 0
                || text.get(start + 1).is_some_and(|next| {
                    let seconds = SECONDS.get(usize::from(byte & 31)).copied().unwrap_or_default();
                    seconds >> (next & 31) & 1 == 1
                });
            may_begin.then_some(start)
        })
    }

    /// The range of the secret that is announced here. What names its kind stays readable where it is not part of it.
    fn secret_at(&mut self, at: usize) -> Option<(usize, usize)> {
        match *self.text.as_bytes().get(at)? {
            b'B' | b'b' => shapes::credential(self, at),
            b'-' => shapes::private_key(self, at)
                .or_else(|| assignment::option(self, at))
                .or_else(|| userinfo::option(self, at)),
            b':' => shapes::address(self, at).or_else(|| assignment::named(self, at)),
            b'=' | b'%' | WIDE => assignment::named(self, at),
            b'<' => element::element(self, at),
            b'[' | b'(' => paired::list_of_two(self, at),
            _ => self.format_at(at),
        }
    }

    /// The range of the secret that begins here and is known by its own characters.
    fn format_at(&mut self, at: usize) -> Option<(usize, usize)> {
        match self.text.as_bytes().get(at)? {
            b'e' => shapes::web_token(self, at).or_else(|| encoded::json(self, at)),
            b'W' => encoded::json(self, at),
            _ => shapes::known_format(self, at),
        }
    }

    /// The end of the run of token characters that begins here, or here if there is none.
    pub(super) fn run_end(&mut self, at: usize) -> usize {
        match self.run {
            Some((start, end)) if (start..=end).contains(&at) => end,
            Some((start, end)) if at < start => match self.token_bytes(at, start) {
                found if found < start => found,
                _ => {
                    self.run = Some((at, end));
                    end
                }
            },
            _ => {
                let end = self.token_bytes(at, self.text.len());
                self.run = Some((at, end));
                end
            }
        }
    }

    fn token_bytes(&self, at: usize, until: usize) -> usize {
        let bytes = self.text.as_bytes().get(at..until).unwrap_or_default();
        at + bytes.iter().position(|byte| !is_token_byte(*byte)).unwrap_or(bytes.len())
    }

    /// The first dot of the run that begins here.
    pub(super) fn first_dot(&mut self, at: usize) -> Option<usize> {
        let end = self.run_end(at);
        let dot = self.dot.filter(|dot| *dot >= at).unwrap_or_else(|| {
            let run = self.text.as_bytes().get(at..end).unwrap_or_default();
            run.iter().position(|byte| *byte == b'.').map_or(end, |dot| at + dot)
        });
        self.dot = Some(dot);
        (dot < end).then_some(dot)
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}

/// The first byte of `：`, `＝` and their small forms.
const WIDE: u8 = 0xef;
/// A letter or digit.
const LETTER: u8 = 1;
/// A byte that some secret starts with.
const STARTS: u8 = 2;

/// Looked at for every byte of every input and result.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        #[allow(clippy::indexing_slicing, reason = "a byte is an index of it, and this is done by the compiler")]
        {
            if byte.is_ascii_alphanumeric() {
                kinds[byte as usize] |= LETTER;
            }
            if matches!(byte, b'-' | b':' | b'=' | b'%' | b'<' | b'[' | b'(') {
                kinds[byte as usize] |= STARTS;
            }
        }
        byte += 1;
    }
    kinds = with_start(kinds, "\u{ff1a}");
    let mut words: &[(&str, usize)] = &shapes::PREFIXES;
    while let [(word, _), others @ ..] = words {
        kinds = with_start(kinds, word);
        words = others;
    }
    let mut words: &[&str] = &WORDS;
    while let [word, others @ ..] = words {
        kinds = with_start(kinds, word);
        words = others;
    }
    kinds
};

/// Words that a secret stands after or begins with, beside those of the known formats.
const WORDS: [&str; 7] = ["Be", "be", "Ba", "ba", "ey", "ew", "W3"];

/// Which letters follow which at the beginning of a word, by their lower five bits: says no for most words.
const SECONDS: [u32; 32] = {
    let mut seconds = [0; 32];
    let mut words: &[(&str, usize)] = &shapes::PREFIXES;
    while let [(word, _), others @ ..] = words {
        seconds = with_second(seconds, word);
        words = others;
    }
    let mut words: &[&str] = &WORDS;
    while let [word, others @ ..] = words {
        seconds = with_second(seconds, word);
        words = others;
    }
    seconds
};

#[allow(clippy::indexing_slicing, reason = "a byte is an index of it, and this is done by the compiler")]
const fn with_start(mut kinds: [u8; 256], word: &str) -> [u8; 256] {
    if let [first, ..] = word.as_bytes() {
        kinds[*first as usize] |= STARTS;
    }
    kinds
}

#[allow(clippy::indexing_slicing, reason = "five bits are an index of it, and this is done by the compiler")]
const fn with_second(mut seconds: [u32; 32], word: &str) -> [u32; 32] {
    if let [first, second, ..] = word.as_bytes() {
        seconds[(*first & 31) as usize] |= 1 << (*second & 31);
    }
    seconds
}
