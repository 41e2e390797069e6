//! Random processes, driven at random, against a naive account of what should happen.

use toolgate_store::{DecisionKind, ProcessState, Standing};

use crate::{
    bed::Bed,
    processes::{Driven, definition, failed, good},
};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }
}

/// What is left to do, as a plain list: whoever is first is next.
struct Model {
    todo: Vec<Todo>,
    /// How often was injected before each original step.
    injected: Vec<u32>,
    cap: u32,
    end: ProcessState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Todo {
    Pre { name: String, origin: usize },
    Step { name: String, origin: usize },
    Post,
    Finalize,
}

impl Model {
    fn new(names: &[&str], skipped: &[bool], orchestrated: bool, cap: u32) -> Self {
        let mut todo = Vec::new();
        for (origin, name) in names.iter().enumerate() {
            todo.extend(Self::round(name, origin, orchestrated && !skipped[origin]));
        }
        if orchestrated {
            todo.push(Todo::Finalize);
        }
        Self { todo, injected: vec![0; names.len()], cap, end: ProcessState::Completed }
    }

    fn round(name: &str, origin: usize, watched: bool) -> Vec<Todo> {
        let step = Todo::Step { name: name.to_owned(), origin };
        if watched { vec![Todo::Pre { name: name.to_owned(), origin }, step, Todo::Post] } else { vec![step] }
    }

    fn stop(&mut self, end: ProcessState) {
        self.todo.retain(|todo| *todo == Todo::Finalize);
        self.end = end;
    }

    fn next(&self) -> String {
        match self.todo.first() {
            None => "done".to_owned(),
            Some(Todo::Pre { .. }) => "orchestrator-pre".to_owned(),
            Some(Todo::Step { name, .. }) => name.clone(),
            Some(Todo::Post) => "orchestrator-post".to_owned(),
            Some(Todo::Finalize) => "orchestrator-finalize".to_owned(),
        }
    }

    /// The first of the list ends; `last` is the last thing it decided.
    fn ended(&mut self, success: bool, last: Option<(DecisionKind, Vec<&'static str>)>) {
        match self.todo.remove(0) {
            Todo::Pre { name, origin } => match last.filter(|_| success) {
                Some((DecisionKind::Abort, _)) => self.stop(ProcessState::Aborted),
                Some((DecisionKind::Inject, names)) if self.injected[origin] < self.cap => {
                    self.injected[origin] += 1;
                    let mut first: Vec<Todo> = names.iter().flat_map(|name| Self::round(name, origin, true)).collect();
                    first.push(Todo::Pre { name, origin });
                    self.todo.splice(0..0, first);
                }
                _ => {}
            },
            Todo::Step { .. } if !success => {
                // the look after it is kept
                let post = self.todo.first() == Some(&Todo::Post);
                self.stop(ProcessState::Failed);
                if post {
                    self.todo.insert(0, Todo::Post);
                }
            }
            _ => {}
        }
    }
}

async fn compare(bed: Bed, seeds: std::ops::Range<u64>) {
    let store = bed.open().await;
    let mut ends = std::collections::BTreeMap::<&str, u32>::new();
    for seed in seeds {
        let mut random = Random(seed);
        let names: Vec<&str> = ["a", "b", "c"].into_iter().take(1 + random.below(3)).collect();
        let skipped: Vec<bool> = names.iter().map(|_| random.below(4) == 0).collect();
        let (orchestrated, cap) = (random.below(6) > 0, u32::try_from(random.below(3)).unwrap());
        let mut asked = definition(&names, orchestrated);
        asked.orchestrator.max_injections = cap;
        for (step, skip) in asked.steps.iter_mut().zip(&skipped) {
            step.skip_orchestrator = *skip;
        }
        let mut model = Model::new(&names, &skipped, orchestrated, cap);
        let id = store.processes().start(crate::processes::process(asked, 1)).await.unwrap().id;
        let mut driven = Driven::at(store.clone(), id, u32::try_from(seed).unwrap() * 1000);
        while model.next() != "done" {
            let begun = driven.begin().await;
            assert_eq!(begun.split(' ').nth(1), Some(model.next().as_str()), "seed {seed}");
            let mut last = None;
            if matches!(model.todo[0], Todo::Pre { .. }) {
                for _ in 0..random.below(3) {
                    let (kind, steps) = match random.below(6) {
                        0 => (DecisionKind::Abort, vec![]),
                        1..=3 => (DecisionKind::Inject, [vec!["repair"], vec!["repair", "a"]][random.below(2)].clone()),
                        _ => (DecisionKind::Proceed, vec![]),
                    };
                    driven.decide(kind, &steps).await;
                    last = Some((kind, steps));
                }
            }
            let success = random.below(8) > 0;
            driven.end(if success { good() } else { failed() }).await;
            model.ended(success, last);
        }
        let progress = driven.progress().await;
        assert_eq!(progress.standing(), Standing::Done(model.end), "seed {seed}");
        assert_eq!(progress.process.state, model.end, "seed {seed}");
        *ends.entry(model.end.as_str()).or_default() += 1;
    }
    assert_eq!(ends.len(), 3, "every end was reached: {ends:?}");
}

on_both! {
    async fn a_process_goes_as_the_naive_account_says(bed: Bed) {
        compare(bed, 1..41).await;
    }
}
