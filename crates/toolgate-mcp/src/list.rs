//! Lists of tools, prompts, resources and templates: a page of the caller's own view.

use bytes::Bytes;
use toolgate_core::Kind;

use crate::{
    cursor::{self, Listing},
    json::text,
    refusal::Refusal,
    wire::{Ask, Inner},
};

pub(crate) fn page(inner: &Inner, ask: &Ask<'_>, kind: Kind) -> Result<[Bytes; 3], Refusal> {
    let caller = &*ask.identified.caller;
    // One snapshot for the list, its revision and its cursor.
    let view = inner.listing(ask.identified)?;
    let principal = std::cell::LazyCell::new(|| caller.principal());
    let listing = || Listing { kind, principal: &principal, revision: view.revision(), digest: view.digest(kind) };

    let number = match ask.message.params.cursor {
        None | Some("null") => 0,
        Some(raw) => inner.cursors.open(&text::string(raw).ok_or_else(cursor::stale)?, &listing())?,
    };
    let Some(page) = usize::try_from(number).ok().and_then(|number| view.page_in(kind, number, ask.lang)) else {
        // A caller without any has no page at all.
        return if number == 0 {
            Ok(inner.pieces.list(ask.id, ask.version, kind, Bytes::from_static(b"[]"), None))
        } else {
            Err(cursor::stale())
        };
    };
    let items = match ask.identified.rejected.filter(|_| kind == Kind::Tool) {
        Some(rejection) => inner.with_notice_in_list(page.items.clone(), &rejection.notice(ask.lang)),
        None => page.items.clone(),
    };
    let next = (!page.last).then(|| inner.cursors.seal(number.saturating_add(1), &listing()));
    Ok(inner.pieces.list(ask.id, ask.version, kind, items, next.as_deref()))
}
