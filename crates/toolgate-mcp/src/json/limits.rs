//! How large and how deep a message may be before it is refused unread.

/// Limits on one message. Each has its own refusal text, so that a client knows which one it met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole message.
    pub body_bytes: usize,
    /// Arrays and objects inside one another. More than [`Limits::DEEPEST`] counts as that.
    pub depth: usize,
    /// Characters of one number.
    pub number_chars: usize,
    /// Bytes of one string or key, in UTF-8, once its escapes are decoded.
    pub string_bytes: usize,
    /// Keys of all objects together.
    pub keys: usize,
}

impl Limits {
    /// `serde_json`, which reads arguments after us, goes no deeper.
    pub const DEEPEST: usize = 127;

    pub(crate) fn depth(&self) -> usize {
        self.depth.min(Self::DEEPEST)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_bytes: 4 << 20, depth: 64, number_chars: 64, string_bytes: 1 << 20, keys: 100_000 }
    }
}
