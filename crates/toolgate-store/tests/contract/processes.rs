use toolgate_store::{
    DecisionKind, Effect, InjectedStep, NewDecision, NewProcess, NewRun, Next, Paging, Phase, ProcessDefinition,
    ProcessFault, ProcessState, Progress, Standing, StepDefinition, Store, StoreError, TaskDefinition, TaskEnd,
    TaskSetting,
};

use crate::{bed::Bed, tasks::task};

pub(crate) fn step(task: &str) -> StepDefinition {
    StepDefinition { task: task.into(), prompt: None, engine: None, model: None, tools: None, skip_orchestrator: false }
}

pub(crate) fn definition(steps: &[&str], orchestrator: bool) -> ProcessDefinition {
    let mut definition = ProcessDefinition {
        name: "feature".into(),
        description: "what it is for".into(),
        orchestrator: toolgate_store::OrchestratorDefinition { enabled: orchestrator, ..Default::default() },
        tasks: [("repair".into(), TaskDefinition { prompt: Some("mend it".into()), ..Default::default() })].into(),
        steps: steps.iter().map(|name| step(name)).collect(),
    };
    definition.orchestrator.pre_step = Some("look".into());
    definition
}

pub(crate) fn process(definition: ProcessDefinition, at: i64) -> NewProcess {
    NewProcess {
        definition,
        owner: Some("ann".into()),
        tenant: Some("acme".into()),
        branch: Some("main".into()),
        worktree: Some("/work".into()),
        main_repo: None,
        created_at: at,
    }
}

pub(crate) fn run(number: u32) -> NewRun {
    let mut key_hash = [0; 32];
    key_hash[..4].copy_from_slice(&number.to_be_bytes());
    NewRun { task_id: format!("t{number}"), key_hash, created_at: i64::from(number), ..NewRun::default() }
}

pub(crate) fn good() -> TaskEnd {
    TaskEnd { success: true, exit_code: Some(0), duration_ms: Some(7), ..TaskEnd::default() }
}

pub(crate) fn failed() -> TaskEnd {
    TaskEnd { success: false, exit_code: Some(3), ..TaskEnd::default() }
}

pub(crate) fn decision(decision: DecisionKind, steps: &[&str]) -> NewDecision {
    let injected_steps = steps.iter().map(|name| InjectedStep { task_name: (*name).into(), prompt: None }).collect();
    NewDecision { decision, reasoning: "because".into(), injected_steps, at: 5 }
}

/// A process, driven by hand.
pub(crate) struct Driven {
    pub(crate) store: Store,
    pub(crate) id: String,
    count: u32,
}

impl Driven {
    pub(crate) async fn start(bed: &Bed, definition: ProcessDefinition) -> Self {
        let store = bed.open().await;
        let id = store.processes().start(process(definition, 1)).await.unwrap().id;
        Self { store, id, count: 0 }
    }

    /// Tasks are numbered from here.
    pub(crate) fn at(store: Store, id: String, count: u32) -> Self {
        Self { store, id, count }
    }

    pub(crate) async fn progress(&self) -> Progress {
        self.store.processes().progress(&self.id).await.unwrap().unwrap()
    }

    /// What is next, begun: its phase and name.
    pub(crate) async fn begin(&mut self) -> String {
        self.count += 1;
        let begun = self.store.processes().begin(&self.id, run(self.count)).await.unwrap();
        let index = begun.next.step().map(|index| index.to_string()).unwrap_or_default();
        format!("{}{index} {}", begun.next.phase(), begun.name)
    }

    pub(crate) fn task(&self) -> String {
        format!("t{}", self.count)
    }

    pub(crate) async fn end(&self, end: TaskEnd) -> Option<Effect> {
        self.store.processes().end(&self.task(), &end, 9).await.unwrap().effect
    }

    pub(crate) async fn decide(&self, kind: DecisionKind, steps: &[&str]) -> toolgate_store::Decided {
        self.store.processes().decide(&self.task(), decision(kind, steps)).await.unwrap()
    }

    /// Begins and ends well whatever is next; what it was.
    pub(crate) async fn pass(&mut self) -> String {
        let begun = self.begin().await;
        self.end(good()).await;
        begun
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        self.progress().await.steps.into_iter().map(|step| step.task).collect()
    }
}

on_both! {
    async fn a_process_runs_each_step_between_two_looks_and_ends_with_one(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["analyse", "implement"], true)).await;
        let mut ran = Vec::new();
        for _ in 0..7 {
            assert_eq!(driven.progress().await.process.state, ProcessState::Running);
            ran.push(driven.pass().await);
        }
        assert_eq!(ran, [
            "pre_step0 orchestrator-pre", "step0 analyse", "post_step0 orchestrator-post",
            "pre_step1 orchestrator-pre", "step1 implement", "post_step1 orchestrator-post",
            "finalize orchestrator-finalize",
        ]);
        let progress = driven.progress().await;
        assert_eq!(progress.standing(), Standing::Done(ProcessState::Completed));
        assert_eq!((progress.process.state, progress.process.finished_at), (ProcessState::Completed, Some(9)));
        assert_eq!(progress.current_index(), 2);
        let over = driven.store.processes().begin(&driven.id, run(99)).await;
        assert_eq!(over, Err(ProcessFault::Over { id: driven.id.clone(), state: ProcessState::Completed }));
    }

    async fn without_an_orchestrator_and_where_a_step_wants_none_only_steps_run(bed: Bed) {
        let mut plain = Driven::start(&bed, definition(&["a", "b"], false)).await;
        assert_eq!([plain.pass().await, plain.pass().await], ["step0 a", "step1 b"]);
        assert_eq!(plain.progress().await.process.state, ProcessState::Completed);

        let mut some = definition(&["a", "b"], true);
        some.steps[0].skip_orchestrator = true;
        let id = plain.store.processes().start(process(some, 2)).await.unwrap().id;
        let mut driven = Driven::at(plain.store, id, 50);
        assert_eq!([driven.pass().await, driven.pass().await], ["step0 a", "pre_step1 orchestrator-pre"]);
    }

    async fn what_a_task_begins_with_comes_from_its_step_its_process_and_its_runner(bed: Bed) {
        let mut asked = definition(&["analyse", "repair"], true);
        asked.orchestrator.model = Some("large".into());
        asked.steps[0].prompt = Some("read it".into());
        asked.steps[0].tools = Some(vec!["grep".into()]);
        let driven = Driven::start(&bed, asked).await;
        let processes = driven.store.processes();
        let begun = processes.begin(&driven.id, run(1)).await.unwrap();
        assert_eq!((begun.setting.prompt.as_deref(), begun.setting.model.as_deref()), (Some("look"), Some("large")));
        assert_eq!((begun.setting.branch.as_deref(), begun.setting.worktree.as_deref()), (Some("main"), Some("/work")));
        let row = driven.store.tasks().find("t1").await.unwrap().unwrap();
        assert_eq!((row.is_orchestrator, row.owner.as_deref(), row.live), (true, Some("ann"), true));
        processes.end("t1", &good(), 3).await.unwrap();

        let setting = TaskSetting { worktree: Some("/other".into()), engine: Some("e".into()), session: Some("s".into()), ..TaskSetting::default() };
        let begun = processes.begin(&driven.id, NewRun { setting, ..run(2) }).await.unwrap();
        assert_eq!((begun.next, begun.name.as_str(), begun.tools), (Next::Step(0), "analyse", Some(vec!["grep".into()])));
        let record = driven.store.tasks().record("t2").await.unwrap().unwrap();
        assert!(!record.task.is_orchestrator);
        assert_eq!((record.phase, record.step, record.end), (Some(Phase::Step), Some(0), None));
        assert_eq!(record.setting, begun.setting);
        assert_eq!(record.setting.worktree.as_deref(), Some("/other"));
        // the first half of the SHA-256 of "read it"
        assert_eq!(record.prompt_hash.as_deref().map(str::len), Some(16));
        let end = TaskEnd { cost_micros: Some(1_500_000), input_tokens: Some(10), output_tokens: Some(20),
            error_message: Some("oh".into()), session: Some("later".into()), ..good() };
        processes.end("t2", &end, 4).await.unwrap();
        let record = driven.store.tasks().record("t2").await.unwrap().unwrap();
        assert_eq!(record.end, Some(TaskEnd { session: None, ..end }));
        assert_eq!((record.setting.session.as_deref(), record.task.live), (Some("later"), false));
    }

    async fn a_failed_step_is_looked_at_and_stops_the_process(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["a", "b"], true)).await;
        driven.pass().await;
        driven.begin().await;
        driven.end(failed()).await;
        assert_eq!([driven.pass().await, driven.pass().await], ["post_step0 orchestrator-post", "finalize orchestrator-finalize"]);
        let progress = driven.progress().await;
        assert_eq!((progress.process.state, progress.current_index()), (ProcessState::Failed, 0));
        let (_, end) = progress.completed(&progress.steps[0]).unwrap();
        assert_eq!((end.success, end.exit_code), (false, Some(3)));
        assert!(progress.completed(&progress.steps[1]).is_none());
    }

    async fn an_abort_before_a_step_stops_the_process_and_the_last_look_still_runs(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["a", "b"], true)).await;
        driven.begin().await;
        let decided = driven.decide(DecisionKind::Abort, &[]).await;
        assert_eq!((decided.decision.effect, decided.decision.phase, decided.replaces), (Effect::Abort, Phase::PreStep, None));
        assert_eq!(driven.end(good()).await, Some(Effect::Abort));
        assert_eq!(driven.pass().await, "finalize orchestrator-finalize");
        assert_eq!(driven.progress().await.process.state, ProcessState::Aborted);
    }

    async fn injected_steps_come_before_the_current_one_and_each_is_looked_at(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["a", "b"], true)).await;
        for _ in 0..3 {
            driven.pass().await;
        }
        driven.begin().await;
        driven.decide(DecisionKind::Inject, &["repair", "a"]).await;
        assert_eq!(driven.names().await, ["a", "b"], "nothing moves before the orchestrator ends");
        assert_eq!(driven.end(good()).await, Some(Effect::Inject));
        assert_eq!(driven.names().await, ["a", "repair", "a", "b"]);
        let progress = driven.progress().await;
        assert_eq!((progress.steps[1].prompt.as_deref(), progress.steps[1].original()), (Some("mend it"), 1));
        assert_eq!((progress.current_index(), progress.decisions[0].step_index), (1, 1));
        let mut ran = Vec::new();
        for _ in 0..10 {
            ran.push(driven.pass().await);
        }
        assert_eq!(ran, [
            "pre_step1 orchestrator-pre", "step1 repair", "post_step1 orchestrator-post",
            "pre_step2 orchestrator-pre", "step2 a", "post_step2 orchestrator-post",
            "pre_step3 orchestrator-pre", "step3 b", "post_step3 orchestrator-post",
            "finalize orchestrator-finalize",
        ]);
    }

    async fn injections_are_counted_for_the_original_step_and_end_at_the_cap(bed: Bed) {
        let mut asked = definition(&["a"], true);
        asked.orchestrator.max_injections = 2;
        let mut driven = Driven::start(&bed, asked).await;
        // before the injected step too: it counts for the same original
        for expected in [Effect::Inject, Effect::Inject, Effect::Proceed] {
            assert_eq!(driven.begin().await, "pre_step0 orchestrator-pre");
            let decided = driven.decide(DecisionKind::Inject, &["repair"]).await;
            assert_eq!((decided.decision.effect, decided.capped), (expected, expected == Effect::Proceed));
            assert_eq!(driven.end(good()).await, Some(expected));
        }
        assert_eq!(driven.names().await, ["repair", "repair", "a"]);
        assert_eq!(driven.begin().await, "step0 repair");
    }

    async fn without_a_decision_or_after_a_crash_the_process_goes_on(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["a"], true)).await;
        driven.begin().await;
        driven.decide(DecisionKind::Abort, &[]).await;
        assert_eq!(driven.end(failed()).await, Some(Effect::Proceed), "its word is advice, and it crashed");
        assert_eq!(driven.begin().await, "step0 a");
    }

    async fn the_last_decision_of_a_task_counts_and_none_is_forgotten(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["a"], true)).await;
        driven.begin().await;
        driven.decide(DecisionKind::Inject, &["repair"]).await;
        let second = driven.decide(DecisionKind::Proceed, &[]).await;
        assert_eq!(second.replaces, Some(DecisionKind::Inject));
        assert_eq!(driven.end(good()).await, Some(Effect::Proceed));
        assert_eq!(driven.names().await, ["a"]);
        let kinds: Vec<_> = driven.progress().await.decisions.iter().map(|decision| decision.decision).collect();
        assert_eq!(kinds, [DecisionKind::Inject, DecisionKind::Proceed]);
    }

    async fn only_before_a_step_does_a_decision_have_an_effect(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["a", "b"], true)).await;
        driven.pass().await;
        driven.begin().await;
        driven.end(good()).await;
        assert_eq!(driven.begin().await, "post_step0 orchestrator-post");
        assert_eq!(driven.decide(DecisionKind::Abort, &[]).await.decision.effect, Effect::None);
        assert_eq!(driven.end(good()).await, None);
        assert_eq!(driven.begin().await, "pre_step1 orchestrator-pre");
    }

    async fn who_has_ended_or_is_nobody_decides_and_ends_nothing(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["a"], true)).await;
        driven.pass().await;
        let processes = driven.store.processes();
        let ended = || ProcessFault::Ended { id: "t1".into() };
        assert_eq!(processes.decide("t1", decision(DecisionKind::Abort, &[])).await, Err(ended()));
        assert_eq!(processes.end("t1", &good(), 10).await, Err(ended()));
        assert_eq!(processes.end("nobody", &good(), 10).await, Err(ProcessFault::UnknownTask { id: "nobody".into() }));
        assert_eq!(processes.begin("nothing", run(9)).await, Err(ProcessFault::Unknown { id: "nothing".into() }));
        assert_eq!(processes.progress("nothing").await, Ok(None));
        driven.store.tasks().start(task("plain", 200, None, true)).await.unwrap();
        let plain = processes.decide("plain", decision(DecisionKind::Proceed, &[])).await;
        assert_eq!(plain, Err(ProcessFault::NoPart { id: "plain".into() }));
        let done = processes.end("plain", &good(), 10).await.unwrap();
        assert_eq!((done.effect, done.progress), (None, None));
        assert_eq!(processes.end("plain", &good(), 11).await, Err(ProcessFault::Ended { id: "plain".into() }));
        driven.begin().await;
        assert_eq!(driven.store.tasks().finish("t2", 9).await, Ok(false), "a part of a run ends with its process's leave");
    }

    async fn of_many_runners_one_begins_and_of_many_ends_one_counts(bed: Bed) {
        let mut asked = definition(&["a"], true);
        asked.orchestrator.max_injections = 20;
        let driven = Driven::start(&bed, asked).await;
        for round in 0..3 {
            let begins = (1..=6).map(|number| {
                let (store, id) = (driven.store.clone(), driven.id.clone());
                tokio::spawn(async move { store.processes().begin(&id, run(round * 10 + number)).await })
            });
            let mut begun = Vec::new();
            for (number, begin) in (1..).zip(begins.collect::<Vec<_>>()) {
                match begin.await.unwrap() {
                    Ok(_) => begun.push(format!("t{}", round * 10 + number)),
                    Err(fault) => assert!(matches!(fault, ProcessFault::Busy { .. }), "{fault}"),
                }
            }
            assert_eq!(begun.len(), 1, "{begun:?}");
            let mut asked = Vec::new();
            for number in 0..8 {
                let (store, task) = (driven.store.clone(), begun[0].clone());
                asked.push(tokio::spawn(async move {
                    match number % 2 {
                        0 => store.processes().decide(&task, decision(DecisionKind::Inject, &["repair"])).await.map(drop),
                        _ => store.processes().end(&task, &good(), 9).await.map(drop),
                    }
                }));
            }
            let mut faults = 0;
            for one in asked {
                match one.await.unwrap() {
                    Ok(()) => {}
                    Err(ProcessFault::Ended { .. }) => faults += 1,
                    Err(fault) => panic!("{fault}"),
                }
            }
            assert!(faults >= 3, "three of the four ends came too late");
            // an injection counts exactly if it was taken down before the end
            let progress = driven.progress().await;
            let injected = progress.decisions.iter().any(|decision| decision.task_id == begun[0]);
            let steps = progress.steps.iter().filter(|step| step.injected.as_ref().is_some_and(|by| by.by == begun[0])).count();
            assert_eq!(steps, usize::from(injected));
            if !injected {
                break;
            }
        }
    }

    async fn definitions_are_checked_and_processes_listed_newest_first(bed: Bed) {
        let processes = bed.open().await.processes();
        let wrong = async |change: fn(&mut ProcessDefinition)| {
            let mut asked = definition(&["a"], true);
            change(&mut asked);
            processes.start(process(asked, 1)).await.unwrap_err().to_string()
        };
        assert_eq!(wrong(|d| d.steps.clear()).await, "the definition is wrong: steps: there are 0; give it 1 to 200 steps");
        assert!(wrong(|d| d.name = " ".into()).await.contains(": name: "));
        assert!(wrong(|d| d.steps[0].task = "a b".into()).await.contains("steps[0].task: 'a b' is not"));
        assert!(wrong(|d| d.steps[0].task = "orchestrator-pre".into()).await.contains("the orchestrator's own"));
        assert!(wrong(|d| d.orchestrator.max_injections = 99).await.contains("orchestrator.max_injections: "));
        let mut ids = Vec::new();
        for at in 1..=3 {
            ids.insert(0, processes.start(process(definition(&["a"], at == 2), at)).await.unwrap().id);
        }
        let listed = async |state, paging: &Paging| processes.list(state, paging).await.unwrap();
        let all = listed(None, &Paging::default()).await;
        assert_eq!(all.items.iter().map(|process| process.id.clone()).collect::<Vec<_>>(), ids);
        assert_eq!(all.next, None);
        let first = listed(None, &Paging { limit: 2, after: None }).await;
        let rest = listed(None, &Paging { limit: 2, after: first.next }).await;
        assert_eq!((first.items.len(), rest.items.len()), (2, 1));
        processes.begin(&ids[0], run(1)).await.unwrap();
        processes.end("t1", &good(), 5).await.unwrap();
        let completed = listed(Some(ProcessState::Completed), &Paging::default()).await;
        assert_eq!(completed.items.len(), 1);
        assert_eq!(listed(Some(ProcessState::Running), &Paging::default()).await.items.len(), 2);
    }

    async fn a_child_in_a_process_has_no_more_rights_than_its_parent(bed: Bed) {
        let driven = Driven::start(&bed, definition(&["a"], true)).await;
        driven.store.tasks().start(task("plain", 200, None, false)).await.unwrap();
        let refused = driven.store.processes().begin(&driven.id, NewRun { parent: Some("plain".into()), ..run(1) }).await;
        assert_eq!(refused, Err(ProcessFault::Store(StoreError::ExceedsParent { parent: "plain".into() })));
    }

    async fn the_first_commit_of_a_process_is_remembered(bed: Bed) {
        let mut driven = Driven::start(&bed, definition(&["a"], false)).await;
        let processes = driven.store.processes();
        assert_eq!(processes.first_commit(&driven.id).await, Ok(None));
        driven.begin().await;
        for hash in ["0123456789abcdef", "fedcba9876543210", "0123456789abcdef"] {
            processes.add_commit("t1", hash, 5).await.unwrap();
        }
        assert_eq!(processes.first_commit(&driven.id).await, Ok(Some("0123456789abcdef".into())));
        assert_eq!(processes.first_commit("other").await, Ok(None));
        assert_eq!(processes.add_commit("nobody", "0123456", 5).await, Err(ProcessFault::UnknownTask { id: "nobody".into() }));
        for odd in ["", "012345", "--output=x", "HEAD", "0123456\n", &"a".repeat(65)] {
            assert!(matches!(processes.add_commit("t1", odd, 5).await, Err(ProcessFault::Store(StoreError::Invalid { .. }))), "{odd}");
        }
    }
}
