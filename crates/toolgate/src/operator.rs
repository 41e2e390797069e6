//! The operator on the command line: calls of tools through a spine of this process's own, decided by the gate and on record
//! like any other. A server may run on the same store meanwhile.

use std::sync::Arc;

use toolgate_core::{Caller, caller::UserId};
use toolgate_packs::admin;
use toolgate_spine::{Books, Spine, SpineDoor};
use toolgate_store::Store;

use crate::{
    Misuse,
    catalog::Catalog,
    cli::Place,
    commands::{book_settings, operator_name},
    ground::Ground,
    raise,
    upstreams::Upstreams,
};

/// The ground of a place, where there is always the pack that administers.
pub fn ground(place: &Place) -> Result<Ground, Misuse> {
    let mut ground = Ground::of(place)?;
    ground.config.packs.entry(admin::NAME.to_owned()).or_default();
    ground.gate()?;
    Ok(ground)
}

/// Whoever sits at the machine, in a name that no user can have.
pub fn caller(by: Option<String>) -> Result<Arc<Caller>, Misuse> {
    let user = UserId::own(&operator_name(by)?)?;
    Ok(Arc::new(Caller { user: Some(user), operator: true, ..Caller::default() }))
}

/// What was said of the tools that administer does not bind here: who disabled them all can enable them again.
pub async fn spine(ground: &Ground, store: &Store, upstreams: &Upstreams) -> Result<Arc<Spine>, Misuse> {
    let door = Arc::<SpineDoor>::default();
    let catalog = Catalog::read(store).await?.sparing(admin::NAME);
    let house = raise::house(ground, &ground.lock_file().read()?, store, upstreams, &catalog, &door)?;
    let books = Books::open(store.clone(), book_settings(&ground.config)?).await?;
    let spine = Spine::with_books(house, books);
    door.open(&spine);
    Ok(spine)
}
