//! Importing activity files: read one after another, each kept or refused for itself. The same file again changes nothing.

use std::{path::Path, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use toolgate_store::fitness::{Activity, NewActivity};

use super::{
    athlete::{Athlete, FILES},
    files::{self, Refused},
    folder::{Folder, MOST_FILES},
    ids, samples, sport,
    summary::summarize,
    track::Track,
};
use crate::failure::{Failure, short};

/// Of an activity's name.
const LONGEST_NAME: usize = 200;

/// A file in a call.
#[derive(Deserialize)]
pub(super) struct Sent {
    name: String,
    /// Base64.
    data: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) imported: usize,
    pub(super) already_there: usize,
    pub(super) refused: Vec<RefusedFile>,
    /// Files beyond what one import looks at.
    pub(super) left_out: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct RefusedFile {
    name: String,
    reason: String,
}

/// Where a file's content comes from.
enum Origin {
    Sent(String),
    Folder(Arc<Folder>),
}

/// Imports what was sent, or else what is in the user's folder. Without an id for the import nothing is kept: it says what
/// would be.
pub(super) async fn import(
    athlete: &Athlete,
    root: &Path,
    sent: Option<Vec<Sent>>,
    id: Option<&str>,
) -> Result<Import, Failure> {
    let mut import = Import::default();
    let origins = match sent {
        Some(sent) => sent.into_iter().map(|file| (file.name, Origin::Sent(file.data))).collect(),
        None => in_folder(root, &athlete.user, &mut import).await?,
    };
    for (name, origin) in origins {
        if let Err(reason) = one(athlete, &name, origin, id, &mut import).await? {
            import.refused.push(RefusedFile { name: short(&name), reason: format!("{reason}") });
        }
    }
    Ok(import)
}

async fn in_folder(root: &Path, user: &str, import: &mut Import) -> Result<Vec<(String, Origin)>, Failure> {
    let (root, user) = (root.to_owned(), user.to_owned());
    let look = move || match Folder::of(&root, &user)? {
        Some(folder) => folder.names().map(|names| Some((Arc::new(folder), names))),
        None => Ok(None),
    };
    let unusable = || Failure::internal("The folder of activity files can't be used at the moment.");
    let found = tokio::task::spawn_blocking(look).await.map_err(|_| unusable())?;
    let found = found.map_err(|fault: std::io::Error| {
        tracing::error!(target: "toolgate::fitness", %fault, "the folder of activity files failed");
        unusable()
    })?;
    let Some((folder, names)) = found else { return Ok(Vec::new()) };
    import.left_out = names.len().saturating_sub(MOST_FILES);
    Ok(names.into_iter().take(MOST_FILES).map(|name| (name, Origin::Folder(Arc::clone(&folder)))).collect())
}

/// One file: what is wrong with it is its own matter; what is wrong with the store ends the import.
async fn one(
    athlete: &Athlete,
    name: &str,
    origin: Origin,
    id: Option<&str>,
    import: &mut Import,
) -> Result<Result<(), Refused>, Failure> {
    let own = name.to_owned();
    let content = blocking(move || match origin {
        Origin::Sent(data) => STANDARD.decode(data.trim()).map_err(|_| Refused::Base64),
        Origin::Folder(folder) => folder.read(&own),
    });
    let content = match content.await {
        Ok(content) => Arc::new(content),
        Err(refused) => return Ok(Err(refused)),
    };
    // a file that is known is not read again
    let first = ids::of_file(&content, 0);
    if athlete.repository.activity(FILES, &first).await.map_err(|fault| Failure::store(&fault))?.is_some() {
        import.already_there += 1;
        return Ok(Ok(()));
    }
    let (own, shared) = (name.to_owned(), Arc::clone(&content));
    let read = blocking(move || {
        let tracks = files::read(&own, &shared)?;
        Ok(tracks.iter().zip(0..).map(|(track, index)| activity(&own, track, ids::of_file(&shared, index))).collect())
    });
    let activities: Vec<NewActivity> = match read.await {
        Ok(activities) => activities,
        Err(refused) => return Ok(Err(refused)),
    };
    for new in activities {
        let is_new = match id {
            Some(id) => athlete.repository.add_activity(FILES, id, &new).await,
            None => athlete.repository.activity(FILES, &new.activity.id).await.map(|found| found.is_none()),
        };
        if is_new.map_err(|fault| Failure::store(&fault))? {
            import.imported += 1;
        } else {
            import.already_there += 1;
        }
    }
    Ok(Ok(()))
}

/// Reading takes its time, and a reader that gives up on a file ends that file alone.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Refused> + Send + 'static) -> Result<T, Refused> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(Refused::Broken("its reader gave up".to_owned())),
    }
}

fn activity(file: &str, track: &Track, id: String) -> NewActivity {
    let summary = summarize(track);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let named = track.name.as_deref().map(plain).filter(|name| !name.is_empty());
    let name = named.or_else(|| Some(plain(stem)).filter(|name| !name.is_empty()));
    let activity = Activity {
        id,
        name: name.unwrap_or_else(|| sport::titled(&track.sport)),
        sport: track.sport.clone(),
        started_at: track.start().unwrap_or_default(),
        figures: summary.figures,
    };
    NewActivity { activity, samples: samples::pack(&summary.samples) }
}

/// On one line, without characters that the store or a terminal takes amiss.
fn plain(name: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    name.trim().chars().map(visible).take(LONGEST_NAME).collect::<String>().trim().to_owned()
}
