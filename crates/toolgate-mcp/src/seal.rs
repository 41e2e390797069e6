//! Names we hand out and take back: sealed, so that nobody else can make or change one.
//!
//! A seal proves that this Toolgate wrote the payload for this use; it does not hide it, so no secret goes in.

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

const TAG: usize = 32;

/// The key of one use. Keys of different uses are derived apart, so that a cursor never passes for a session.
pub(crate) struct Seal(hmac::Key);

impl Seal {
    pub(crate) fn derive(master: &[u8], purpose: &str) -> Self {
        let master = hmac::Key::new(hmac::HMAC_SHA256, master);
        let derived = hmac::sign(&master, purpose.as_bytes());
        Self(hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()))
    }

    /// Seals `payload`; `bound` is what the other side must know again and is not written down.
    pub(crate) fn seal(&self, payload: &[u8], bound: &[&[u8]]) -> String {
        let tag = self.tag(payload, bound);
        let mut sealed = Vec::with_capacity(payload.len() + TAG);
        sealed.extend_from_slice(payload);
        sealed.extend_from_slice(tag.as_ref());
        URL_SAFE_NO_PAD.encode(sealed)
    }

    /// The payload, if it and `bound` are what was sealed.
    pub(crate) fn open<const N: usize>(&self, sealed: &str, bound: &[&[u8]]) -> Option<[u8; N]> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (payload, tag) = sealed.split_first_chunk::<N>()?;
        // Constant time: the tag is the only secret of it.
        aws_lc_rs::constant_time::verify_slices_are_equal(self.tag(payload, bound).as_ref(), tag).ok()?;
        Some(*payload)
    }

    /// The same for a payload of any length.
    pub(crate) fn open_any(&self, sealed: &str, bound: &[&[u8]]) -> Option<Vec<u8>> {
        let mut sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let tag = sealed.split_off(sealed.len().checked_sub(TAG)?);
        aws_lc_rs::constant_time::verify_slices_are_equal(self.tag(&sealed, bound).as_ref(), &tag).ok()?;
        Some(sealed)
    }

    /// Lengths are signed too, so that no two lists of parts run into one another.
    fn tag(&self, payload: &[u8], bound: &[&[u8]]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.0);
        for part in std::iter::once(&payload).chain(bound) {
            context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            context.update(part);
        }
        context.sign()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_the_same_key_purpose_payload_and_binding_open_it() {
        let seal = Seal::derive(b"master", "a");
        let sealed = seal.seal(b"1234", &[b"x", b"yz"]);
        assert_eq!(seal.open::<4>(&sealed, &[b"x", b"yz"]).as_ref(), Some(b"1234"));
        assert_eq!(seal.open_any(&sealed, &[b"x", b"yz"]).as_deref(), Some(&b"1234"[..]));
        assert_eq!(seal.open_any(&sealed, &[b"x"]), None);
        assert_eq!(seal.open_any("AAAA", &[]), None);
        assert_eq!(seal.open::<4>(&sealed, &[b"xy", b"z"]), None);
        assert_eq!(seal.open::<4>(&sealed, &[]), None);
        assert_eq!(seal.open::<3>(&sealed, &[b"x", b"yz"]), None);
        assert_eq!(Seal::derive(b"master", "b").open::<4>(&sealed, &[b"x", b"yz"]), None);
        assert_eq!(Seal::derive(b"other", "a").open::<4>(&sealed, &[b"x", b"yz"]), None);
    }

    proptest! {
        #[test]
        fn any_changed_character_breaks_the_seal(at in 0usize..48, with in "[A-Za-z0-9_=-]") {
            let seal = Seal::derive(b"master", "a");
            let sealed = seal.seal(b"1234", &[]);
            let mut changed = sealed.clone();
            changed.replace_range(at..=at, &with);
            prop_assert_eq!(seal.open::<4>(&changed, &[]).is_some(), changed == sealed);
        }

        #[test]
        fn nothing_made_up_opens(sealed in ".{0,80}") {
            prop_assert_eq!(Seal::derive(b"master", "a").open::<4>(&sealed, &[]), None);
        }
    }
}
