//! The commits since another one: those that HEAD reaches and the other does not, newest first.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use super::{Repository, error::RepositoryError, object::Commit, object_id::ObjectId};

/// Commits looked at after the last one that counts, since clocks differ.
const SLACK: usize = 5;

pub(in crate::process) struct LogEntry {
    pub(in crate::process) id: ObjectId,
    pub(in crate::process) subject: String,
}

struct CommitState {
    /// Reached from the commit that the log begins after.
    excluded: bool,
    progress: VisitProgress,
}

enum VisitProgress {
    Queued(Commit),
    /// The parents of a commit that left the queue.
    Visited(Vec<ObjectId>),
}

#[derive(Default)]
struct HistoryWalk {
    states: HashMap<ObjectId, CommitState>,
    /// By time, and among equals in the order of discovery.
    queue: BinaryHeap<(i64, Reverse<usize>, ObjectId)>,
    /// Queued commits that are not excluded.
    counting: usize,
}

impl Repository {
    /// Lists the commits since another one.
    pub(in crate::process) fn log(&self, since: &ObjectId) -> Result<Vec<LogEntry>, RepositoryError> {
        let mut walk = HistoryWalk::default();
        let mut listed: Vec<(i64, LogEntry)> = Vec::new();
        walk.discover(self, self.head, false)?;
        walk.discover(self, *since, true)?;
        let mut slack = SLACK;
        while let Some((time, _, id)) = walk.queue.pop() {
            if walk.counting == 0 {
                // an older commit may still turn out to be an ancestor of the other one
                slack = if listed.last().is_some_and(|(last, _)| *last <= time) { SLACK } else { slack - 1 };
                if slack == 0 {
                    break;
                }
            }
            let Some((commit, excluded)) = walk.visit(&id) else { continue };
            for parent in commit.parents {
                walk.discover(self, parent, excluded)?;
            }
            if !excluded {
                listed.push((time, LogEntry { id, subject: commit.subject }));
            }
        }
        let counts = |id: &ObjectId| walk.states.get(id).is_some_and(|state| !state.excluded);
        Ok(listed.into_iter().map(|(_, entry)| entry).filter(|entry| counts(&entry.id)).collect())
    }
}

impl HistoryWalk {
    /// Queues a commit that was not seen before, and excludes it if it must be.
    fn discover(&mut self, repository: &Repository, id: ObjectId, excluded: bool) -> Result<(), RepositoryError> {
        if self.states.contains_key(&id) {
            if excluded {
                self.exclude(id);
            }
            return Ok(());
        }
        let commit = repository.commit(&id)?;
        repository.objects.budget().hold(commit.held_bytes())?;
        self.queue.push((commit.time, Reverse(self.states.len()), id));
        self.states.insert(id, CommitState { excluded, progress: VisitProgress::Queued(commit) });
        self.counting += usize::from(!excluded);
        Ok(())
    }

    /// Takes a commit that left the queue, and whether it is excluded.
    fn visit(&mut self, id: &ObjectId) -> Option<(Commit, bool)> {
        let state = self.states.get_mut(id)?;
        let VisitProgress::Queued(commit) = std::mem::replace(&mut state.progress, VisitProgress::Visited(Vec::new()))
        else {
            return None;
        };
        // the bytes of the commit stay counted: its parents are kept here, and its subject is listed
        state.progress = VisitProgress::Visited(commit.parents.clone());
        self.counting -= usize::from(!state.excluded);
        Some((commit, state.excluded))
    }

    /// Excludes a commit and all that is known to be reached from it.
    fn exclude(&mut self, id: ObjectId) {
        let mut rest = vec![id];
        while let Some(id) = rest.pop() {
            let Some(state) = self.states.get_mut(&id).filter(|state| !state.excluded) else { continue };
            state.excluded = true;
            match &state.progress {
                VisitProgress::Visited(parents) => rest.extend_from_slice(parents),
                VisitProgress::Queued(_) => self.counting -= 1,
            }
        }
    }
}
