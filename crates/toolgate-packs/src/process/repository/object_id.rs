//! The name of an object: the hash of its content, of 20 bytes (SHA-1) or 32 (SHA-256).

use std::fmt;

/// The length of a hash in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum HashLength {
    Sha1,
    Sha256,
}

impl HashLength {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::process) struct ObjectId {
    bytes: [u8; 32],
    length: HashLength,
}

impl ObjectId {
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let length = match bytes.len() {
            20 => HashLength::Sha1,
            32 => HashLength::Sha256,
            _ => return None,
        };
        let mut all = [0; 32];
        all.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self { bytes: all, length })
    }

    pub(super) fn from_hex(hex: &[u8]) -> Option<Self> {
        matches!(hex.len(), 40 | 64).then(|| decode_hex(hex)).flatten().and_then(|bytes| Self::from_bytes(&bytes))
    }

    pub(super) fn length(&self) -> HashLength {
        self.length
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length.bytes()).unwrap_or_default()
    }

    /// The first digits, as a difference names a file's content.
    pub(super) fn abbreviated(&self) -> String {
        self.to_string().chars().take(7).collect()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Decodes an even number of digits.
pub(super) fn decode_hex(hex: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    hex.chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}
