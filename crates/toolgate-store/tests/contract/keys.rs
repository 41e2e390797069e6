use toolgate_store::{Key, NewKey, StoreError};

use crate::bed::Bed;

pub(crate) fn key(id: &str, created_at: i64) -> NewKey {
    NewKey {
        id: id.to_owned(),
        prefix: format!("tg_{id}"),
        hash: [7; 32],
        name: format!("key {id}"),
        facts: r#"{"user":"ann"}"#.to_owned(),
        created_at,
        expires_at: Some(1_000),
    }
}

on_both! {
    async fn a_key_is_found_by_its_prefix_and_revocation_shows_at_once(bed: Bed) {
        let keys = bed.open().await.keys();
        assert_eq!(keys.find("tg_a").await, Ok(None));
        keys.insert(key("a", 10)).await.unwrap();
        let expected = Key {
            id: "a".into(),
            prefix: "tg_a".into(),
            hash: [7; 32],
            name: "key a".into(),
            facts: r#"{"user":"ann"}"#.into(),
            created_at: 10,
            expires_at: Some(1_000),
            revoked_at: None,
        };
        assert_eq!(keys.find("tg_a").await, Ok(Some(expected.clone())));
        assert!(expected.is_live(999));
        assert!(!expected.is_live(1_000));

        assert_eq!(keys.revoke("a", 20).await, Ok(true));
        let revoked = Key { revoked_at: Some(20), ..expected };
        assert_eq!(keys.find("tg_a").await, Ok(Some(revoked.clone())));
        assert!(!revoked.is_live(21));

        assert_eq!(keys.revoke("a", 30).await, Ok(false), "the first revocation stands");
        assert_eq!(keys.revoke("nobody", 30).await, Ok(false));
        assert_eq!(keys.find("tg_a").await, Ok(Some(revoked)));
    }

    async fn a_revocation_in_one_store_shows_in_another_at_once(bed: Bed) {
        let (here, there) = (bed.open().await.keys(), bed.open().await.keys());
        here.insert(key("a", 10)).await.unwrap();
        for _ in 0..20 {
            assert_eq!(there.find("tg_a").await.unwrap().unwrap().revoked_at, None);
        }
        here.revoke("a", 20).await.unwrap();
        assert_eq!(there.find("tg_a").await.unwrap().unwrap().revoked_at, Some(20));
    }

    async fn keys_are_listed_oldest_first_and_then_by_bytes(bed: Bed) {
        let keys = bed.open().await.keys();
        for (id, at) in [("b", 20), ("é", 10), ("a", 10), ("B", 10)] {
            keys.insert(NewKey { expires_at: None, ..key(id, at) }).await.unwrap();
        }
        let ids: Vec<_> = keys.list().await.unwrap().into_iter().map(|key| key.id).collect();
        assert_eq!(ids, ["B", "a", "é", "b"]);
    }

    async fn an_id_or_prefix_can_not_be_taken_twice(bed: Bed) {
        let keys = bed.open().await.keys();
        keys.insert(key("a", 10)).await.unwrap();
        let refused = Err(StoreError::Duplicate { operation: "store an API key" });
        assert_eq!(keys.insert(NewKey { prefix: "other".into(), ..key("a", 20) }).await, refused);
        assert_eq!(keys.insert(NewKey { id: "other".into(), ..key("a", 20) }).await, refused);
        assert_eq!(keys.list().await.unwrap().len(), 1);
    }

    async fn a_write_that_fails_takes_none_of_its_neighbours_with_it(bed: Bed) {
        let store = bed.open().await;
        store.keys().insert(key("taken", 0)).await.unwrap();
        let writes = (0..40).map(|n| {
            let keys = store.keys();
            let id = if n % 4 == 0 { "taken".to_owned() } else { format!("k{n}") };
            tokio::spawn(async move { keys.insert(key(&id, n)).await })
        });
        let mut refused = 0;
        for write in writes.collect::<Vec<_>>() {
            refused += usize::from(write.await.unwrap().is_err());
        }
        assert_eq!(refused, 10);
        assert_eq!(store.keys().list().await.unwrap().len(), 31);
    }
}
