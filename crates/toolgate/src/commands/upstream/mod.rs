//! `upstream list|diff|accept`: the servers behind the gateway, and which of their tools a person has reviewed.

mod accept;
pub mod claim;
mod claimed_attributes;
mod review;
mod survey;

use std::time::Duration;

pub use accept::outcome;

use super::{print, table::table};
use crate::{
    CommandResult, Ending,
    cli::{Output, Place, UpstreamCommand},
    terminal,
};
use survey::{ServerReview, Survey};

/// The time for a list: with the end of the programs it is there within ten seconds.
const LIST: Duration = Duration::from_secs(8);
/// The time for a review: a package runner may have to download its server first.
const REVIEW: Duration = Duration::from_secs(60);

pub async fn run(command: UpstreamCommand) -> CommandResult {
    match command {
        UpstreamCommand::List { place, output } => list(&place, output).await,
        UpstreamCommand::Diff { name, full, place, output } => diff(&place, name, full, output).await,
        UpstreamCommand::Accept(asked) => accept::run(&asked).await,
    }
}

async fn list(place: &Place, output: Output) -> CommandResult {
    let survey = Survey::take(place, &[], LIST).await?;
    let row = |review: &ServerReview| [review.name.clone(), review.state().to_owned(), review.summary()];
    let text = match survey.reviews.as_slice() {
        [] => "There are no upstreams. Add one: toolgate add NAME -- COMMAND\n".to_owned(),
        reviews => table(["NAME", "STATE", "TOOLS"], reviews.iter().map(row)),
    };
    print(output, &survey.reviews.iter().map(ServerReview::json).collect::<Vec<_>>(), &text)?;
    let all_answer = survey.reviews.iter().all(|review| review.fault.is_none());
    Ok(if all_answer { Ending::Good } else { Ending::No })
}

async fn diff(place: &Place, name: Option<String>, full: bool, output: Output) -> CommandResult {
    let names: Vec<String> = name.into_iter().collect();
    let Survey { reviews, .. } = Survey::take(place, &names, REVIEW).await?;
    let width = terminal::summary_width();
    let mut text: String = reviews.iter().map(|review| review.text(full, width)).collect();
    let waits = reviews.iter().any(|review| review.fault.is_some() || review.waiting().next().is_some());
    if !waits {
        text.push_str("Nothing waits to be accepted.\n");
    }
    print(output, &reviews.iter().map(ServerReview::json).collect::<Vec<_>>(), &text)?;
    Ok(if waits { Ending::No } else { Ending::Good })
}
