use toolgate_store::{NewTask, StoreError, Task};

use crate::bed::Bed;

pub(crate) fn task(id: &str, key: u8, parent: Option<&str>, is_orchestrator: bool) -> NewTask {
    NewTask {
        task_id: id.to_owned(),
        key_hash: [key; 32],
        owner: Some("ann".to_owned()),
        process: Some("p1".to_owned()),
        name: None,
        parent: parent.map(str::to_owned),
        is_orchestrator,
        created_at: 5,
        ..NewTask::default()
    }
}

on_both! {
    async fn a_task_is_found_by_id_and_by_key_until_it_ends(bed: Bed) {
        let tasks = bed.open().await.tasks();
        tasks.start(task("t", 1, None, true)).await.unwrap();
        let running = Task {
            task_id: "t".into(),
            owner: Some("ann".into()),
            process: Some("p1".into()),
            name: None,
            parent: None,
            is_orchestrator: true,
            created_at: 5,
            finished_at: None,
            live: true,
        };
        assert_eq!(tasks.find("t").await, Ok(Some(running.clone())));
        assert_eq!(tasks.find_by_key(&[1; 32]).await, Ok(Some(running.clone())));
        assert_eq!(tasks.find("T").await, Ok(None));
        assert_eq!(tasks.find_by_key(&[2; 32]).await, Ok(None));

        assert_eq!(tasks.finish("t", 9).await, Ok(true));
        let ended = Task { finished_at: Some(9), live: false, ..running };
        assert_eq!(tasks.find("t").await, Ok(Some(ended.clone())));
        assert_eq!(tasks.find_by_key(&[1; 32]).await, Ok(Some(ended.clone())));
        assert_eq!(tasks.finish("t", 10).await, Ok(false));
        assert_eq!(tasks.finish("nobody", 10).await, Ok(false));
        assert_eq!(tasks.find("t").await, Ok(Some(ended)));
    }

    async fn the_end_of_a_task_ends_everything_under_it_and_nothing_else(bed: Bed) {
        let (here, there) = (bed.open().await.tasks(), bed.open().await.tasks());
        here.start(task("top", 1, None, true)).await.unwrap();
        here.start(task("middle", 2, Some("top"), true)).await.unwrap();
        here.start(task("bottom", 3, Some("middle"), false)).await.unwrap();
        here.start(task("sibling", 4, Some("top"), false)).await.unwrap();
        let live = async |id: &str| there.find(id).await.unwrap().unwrap().live;

        here.finish("middle", 9).await.unwrap();
        assert_eq!((live("top").await, live("sibling").await), (true, true));
        assert_eq!((live("middle").await, live("bottom").await), (false, false));
        let bottom = there.find_by_key(&[3; 32]).await.unwrap().unwrap();
        assert_eq!((bottom.live, bottom.finished_at), (false, None));

        here.finish("top", 10).await.unwrap();
        assert_eq!((live("top").await, live("sibling").await), (false, false));
    }

    async fn a_child_can_not_exceed_its_parent(bed: Bed) {
        let tasks = bed.open().await.tasks();
        tasks.start(task("plain", 1, None, false)).await.unwrap();
        let refused = tasks.start(task("child", 2, Some("plain"), true)).await;
        assert_eq!(refused, Err(StoreError::ExceedsParent { parent: "plain".into() }));
        assert_eq!(tasks.find("child").await, Ok(None));
        tasks.start(task("child", 2, Some("plain"), false)).await.unwrap();
    }

    async fn a_child_needs_a_parent_that_exists_and_runs(bed: Bed) {
        let tasks = bed.open().await.tasks();
        let orphan = tasks.start(task("child", 2, Some("nobody"), false)).await;
        assert_eq!(orphan, Err(StoreError::UnknownParent { parent: "nobody".into() }));
        tasks.start(task("top", 1, None, true)).await.unwrap();
        tasks.finish("top", 2).await.unwrap();
        let late = tasks.start(task("child", 2, Some("top"), false)).await;
        assert_eq!(late, Err(StoreError::EndedParent { parent: "top".into() }));
        let own = tasks.start(task("self", 3, Some("self"), false)).await;
        assert_eq!(own, Err(StoreError::UnknownParent { parent: "self".into() }));
        assert_eq!(tasks.find("child").await, Ok(None));
    }

    async fn a_task_id_or_key_can_not_be_taken_twice(bed: Bed) {
        let tasks = bed.open().await.tasks();
        tasks.start(task("t", 1, None, false)).await.unwrap();
        let refused = Err(StoreError::Duplicate { operation: "start a task" });
        assert_eq!(tasks.start(task("t", 2, None, true)).await, refused);
        assert_eq!(tasks.start(task("other", 1, None, true)).await, refused);
        assert!(!tasks.find_by_key(&[1; 32]).await.unwrap().unwrap().is_orchestrator);
    }
}
