//! Where a listing goes on: a page number, good only for the same caller and the same list.

use toolgate_core::Kind;

use crate::{refusal::Refusal, seal::Seal};

/// Makes and reads cursors. A cursor says nothing but the page; what it is bound to is only signed.
pub(crate) struct Cursors(Seal);

/// The list a cursor belongs to.
pub(crate) struct Listing<'a> {
    pub(crate) kind: Kind,
    pub(crate) principal: &'a str,
    pub(crate) revision: u64,
    pub(crate) digest: [u8; 32],
}

impl Cursors {
    pub(crate) fn new(master: &[u8]) -> Self {
        Self(Seal::derive(master, "toolgate list cursor 1"))
    }

    pub(crate) fn seal(&self, page: u32, listing: &Listing<'_>) -> String {
        listing.bind(|bound| self.0.seal(&page.to_be_bytes(), bound))
    }

    pub(crate) fn open(&self, cursor: &str, listing: &Listing<'_>) -> Result<u32, Refusal> {
        listing.bind(|bound| self.0.open(cursor, bound)).map(u32::from_be_bytes).ok_or_else(stale)
    }
}

impl Listing<'_> {
    fn bind<T>(&self, with: impl FnOnce(&[&[u8]]) -> T) -> T {
        let kind = self.kind.as_str().as_bytes();
        with(&[kind, self.principal.as_bytes(), &self.revision.to_be_bytes(), &self.digest])
    }
}

/// One answer for made-up, foreign and outdated cursors alike.
pub(crate) fn stale() -> Refusal {
    Refusal::params("cursor is not valid for this list; list again from the start, without a cursor").over_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_opens_only_for_its_caller_its_revision_and_its_list() {
        let cursors = Cursors::new(b"key");
        let listing =
            |principal, revision, digest| Listing { kind: Kind::Tool, principal, revision, digest: [digest; 32] };
        let cursor = cursors.seal(3, &listing("user:a", 7, 1));
        assert_eq!(cursors.open(&cursor, &listing("user:a", 7, 1)).unwrap(), 3);
        for other in [listing("user:b", 7, 1), listing("user:a", 8, 1), listing("user:a", 7, 2)] {
            let refusal = cursors.open(&cursor, &other).unwrap_err();
            assert_eq!(refusal.code, -32602);
            assert!(refusal.message.contains("list again from the start"));
        }
        let prompts = Listing { kind: Kind::Prompt, ..listing("user:a", 7, 1) };
        assert!(cursors.open(&cursor, &prompts).is_err());
        assert!(Cursors::new(b"other").open(&cursor, &listing("user:a", 7, 1)).is_err());
        assert!(cursors.open("3", &listing("user:a", 7, 1)).is_err());
    }
}
