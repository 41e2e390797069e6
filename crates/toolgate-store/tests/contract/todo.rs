use std::collections::HashSet;

use toolgate_store::{StoreError, TodoChange, TodoTask};

use crate::bed::Bed;

on_both! {
    async fn a_task_goes_through_its_life(bed: Bed) {
        let todo = bed.open().await.todo("ann").unwrap();
        assert_eq!(todo.list().await, Ok(vec![]));
        let milk = todo.add("milk", None).await.unwrap();
        assert_eq!(milk, TodoTask { id: milk.id, title: "milk".into(), description: None, completed: false });
        let bread = todo.add("bread", Some("rye")).await.unwrap();
        assert_eq!(bread.description.as_deref(), Some("rye"));
        assert_eq!(todo.list().await, Ok(vec![bread.clone(), milk.clone()]), "newest first");
        assert_eq!(todo.get(milk.id).await, Ok(Some(milk.clone())));

        let changed = |before: &TodoTask, after: &TodoTask| {
            Ok(Some(TodoChange { before: before.clone(), after: after.clone() }))
        };
        let done = TodoTask { completed: true, ..milk.clone() };
        assert_eq!(todo.complete(milk.id).await, changed(&milk, &done));
        assert_eq!(todo.complete(milk.id).await, changed(&done, &done), "completing twice succeeds");

        let retitled = TodoTask { title: "oats".into(), ..bread.clone() };
        assert_eq!(todo.update(bread.id, Some("oats"), None).await, changed(&bread, &retitled));
        let cleared = TodoTask { description: Some(String::new()), ..retitled.clone() };
        assert_eq!(todo.update(bread.id, None, Some("")).await, changed(&retitled, &cleared));
        assert_eq!(todo.update(bread.id, None, None).await, changed(&cleared, &cleared));

        assert_eq!(todo.delete(bread.id).await, Ok(Some(cleared)));
        assert_eq!(todo.delete(bread.id).await, Ok(None));
        assert_eq!(todo.list().await, Ok(vec![done]));
    }

    async fn another_users_task_answers_exactly_as_a_missing_one(bed: Bed) {
        let store = bed.open().await;
        let (ann, bob) = (store.todo("ann").unwrap(), store.todo("bob").unwrap());
        let secret = ann.add("secret", Some("plan")).await.unwrap();
        assert_eq!(bob.list().await, Ok(vec![]));
        for id in [secret.id, secret.id + 1000, 0, -1, i64::MAX, i64::MIN] {
            assert_eq!(bob.get(id).await, Ok(None));
            assert_eq!(bob.complete(id).await, Ok(None));
            assert_eq!(bob.update(id, Some("mine"), Some("now")).await, Ok(None));
            assert_eq!(bob.delete(id).await, Ok(None));
        }
        for other in ["Ann", "ann ", " ann", "an", "annn", "%", "ann' OR '1'='1"] {
            assert_eq!(store.todo(other).unwrap().get(secret.id).await, Ok(None), "{other}");
        }
        assert_eq!(ann.list().await, Ok(vec![secret]));
    }

    async fn an_id_is_never_used_again(bed: Bed) {
        let store = bed.open().await;
        let todo = store.todo("ann").unwrap();
        let first = todo.add("a", None).await.unwrap();
        let last = todo.add("b", None).await.unwrap();
        todo.delete(last.id).await.unwrap();
        todo.delete(first.id).await.unwrap();
        store.close().await;
        let next = bed.open().await.todo("bob").unwrap().add("c", None).await.unwrap();
        assert!(next.id > last.id, "{} after {}", next.id, last.id);
    }

    async fn sixty_four_adds_at_once_in_two_stores_are_sixty_four_tasks(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let adds = (0..64).map(|n| {
            let todo = stores[n % 2].todo(["ann", "bob"][n / 2 % 2]).unwrap();
            tokio::spawn(async move { todo.add(&format!("task {n}"), None).await.unwrap().id })
        });
        let mut ids = HashSet::new();
        for add in adds.collect::<Vec<_>>() {
            ids.insert(add.await.unwrap());
        }
        assert_eq!(ids.len(), 64);
        let mut listed = HashSet::new();
        for user in ["ann", "bob"] {
            let tasks = stores[0].todo(user).unwrap().list().await.unwrap();
            assert_eq!(tasks.len(), 32);
            assert!(tasks.is_sorted_by(|newer, older| newer.id > older.id));
            listed.extend(tasks.into_iter().map(|task| task.id));
        }
        assert_eq!(listed, ids);
    }

    async fn changes_at_once_follow_each_other_without_a_gap(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let task = stores[0].todo("ann").unwrap().add("0", None).await.unwrap();
        let changes = (1..=32).map(|n| {
            let todo = stores[n % 2].todo("ann").unwrap();
            tokio::spawn(async move {
                let (title, description) = (n.to_string(), format!("of {n}"));
                let one = n % 3 > 0;
                todo.update(task.id, one.then_some(&title), (!one).then_some(&description)).await.unwrap().unwrap()
            })
        });
        let mut made = Vec::new();
        for change in changes.collect::<Vec<_>>() {
            made.push(change.await.unwrap());
        }
        let mut last = task;
        while let Some(place) = made.iter().position(|change| change.before == last) {
            last = made.remove(place).after;
        }
        assert_eq!(made, [], "each begins where another ended");
        assert_eq!(stores[1].todo("ann").unwrap().list().await, Ok(vec![last]));
    }

    async fn a_list_without_a_user_does_not_exist(bed: Bed) {
        let refused = bed.open().await.todo("").err().unwrap();
        assert!(matches!(&refused, StoreError::Invalid { operation: "open a user's todo list", .. }), "{refused}");
    }
}
