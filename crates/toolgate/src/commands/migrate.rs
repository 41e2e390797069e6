//! `migrate`: brings the database up to date, before or instead of a start of `serve`.

use serde_json::json;
use toolgate_store::Store;

use super::print;
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
    ground::Ground,
};

pub async fn run(place: &Place, output: Output) -> CommandResult {
    let location = Ground::of(place)?.location()?;
    Store::migrate(&location).await?;
    print(output, &json!({ "migrated": true }), &format!("{location} is up to date.\n"))?;
    Ok(Ending::Good)
}
