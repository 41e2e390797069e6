//! The name of an MCP session as records show it: a digest, since the name itself is the client's to keep.

use aws_lc_rs::digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::hex;

/// The first eight bytes of the SHA-256 of a session's name, written as sixteen hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionDigest([u8; 8]);

impl SessionDigest {
    pub fn of(name: &[u8]) -> Self {
        let mut bytes = [0; 8];
        let digest = digest::digest(&digest::SHA256, name);
        bytes.iter_mut().zip(digest.as_ref()).for_each(|(place, byte)| *place = *byte);
        Self(bytes)
    }
}

impl Serialize for SessionDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for SessionDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = (text.len() == 16).then(|| u64::from_str_radix(&text, 16).ok()).flatten();
        number
            .map(|number| Self(number.to_be_bytes()))
            .ok_or_else(|| D::Error::custom("a session is written as sixteen hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_beginning_of_sha_256_and_is_read_as_it_is_written() {
        let digest = SessionDigest::of(b"abc");
        assert_eq!(serde_json::to_string(&digest).unwrap(), r#""ba7816bf8f01cfea""#);
        assert_eq!(serde_json::from_str::<SessionDigest>(r#""ba7816bf8f01cfea""#).unwrap(), digest);
        assert!(serde_json::from_str::<SessionDigest>(r#""abc""#).is_err());
    }
}
