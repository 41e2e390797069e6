use toolgate_store::{CutResultRoom, NewCutResult, Scope, Store, StoreError};

use crate::bed::Bed;

/// What each counts for besides its bytes.
const PAGE: i64 = 4096;
const ROOM: CutResultRoom = CutResultRoom { in_all: 8 * (PAGE + 10), of_one: 3 * (PAGE + 10) };

fn of(principal: &str, expires_at: i64) -> NewCutResult {
    NewCutResult { tenant: None, principal: principal.to_owned(), whole: vec![0xff; 10], expires_at }
}

fn own(principal: &str) -> Scope {
    Scope::principal(None, principal)
}

async fn keep(store: &Store, principal: &str, expires_at: i64) -> String {
    store.cut_results().keep(of(principal, expires_at), ROOM, 0).await.unwrap().unwrap()
}

async fn is_there(store: &Store, principal: &str, id: &str) -> bool {
    store.cut_results().whole(&own(principal), id, 0).await.unwrap().is_some()
}

on_both! {
    async fn a_cut_result_is_read_by_its_caller_on_any_replica_and_by_nobody_else(bed: Bed) {
        let (first, second) = (bed.open().await, bed.open().await);
        let new = NewCutResult { tenant: Some("a".into()), whole: b"\0all \xff of it".to_vec(), ..of("user:ann", 100) };
        let id = first.cut_results().keep(new, ROOM, 0).await.unwrap().unwrap();
        for store in [&first, &second] {
            let whole = async |scope: &Scope, id: &str| store.cut_results().whole(scope, id, 99).await.unwrap();
            assert_eq!(whole(&Scope::principal(Some("a"), "user:ann"), &id).await.unwrap(), b"\0all \xff of it");
            for scope in [
                Scope::principal(Some("b"), "user:ann"),
                Scope::principal(None, "user:ann"),
                Scope::principal(Some("a"), "user:bob"),
                Scope::principal(Some("a"), "anonymous"),
            ] {
                assert_eq!(whole(&scope, &id).await, None, "{scope:?}");
            }
            assert_eq!(whole(&Scope::principal(Some("a"), "user:ann"), "0").await, None);
        }
    }

    async fn what_has_expired_is_not_read_and_goes_with_the_next_or_when_it_is_told_to(bed: Bed) {
        let store = bed.open().await;
        let id = keep(&store, "user:ann", 100).await;
        assert!(store.cut_results().whole(&own("user:ann"), &id, 99).await.unwrap().is_some());
        assert_eq!(store.cut_results().whole(&own("user:ann"), &id, 100).await, Ok(None));
        assert_eq!(store.cut_results().purge(99).await, Ok(0));
        assert_eq!(store.cut_results().purge(100).await, Ok(1));
        assert!(!is_there(&store, "user:ann", &id).await);
        let id = keep(&store, "user:ann", 100).await;
        store.cut_results().keep(of("user:bob", 200), ROOM, 100).await.unwrap().unwrap();
        assert!(!is_there(&store, "user:ann", &id).await);
        assert_eq!(store.cut_results().purge(199).await, Ok(0));
    }

    async fn the_callers_own_oldest_make_room_and_then_the_oldest_of_all(bed: Bed) {
        let store = bed.open().await;
        let others = keep(&store, "user:bob", 2).await;
        let mut anns = Vec::new();
        for at in 3..7 {
            anns.push(keep(&store, "user:ann", at).await);
        }
        assert!(!is_there(&store, "user:ann", &anns[0]).await, "there is room for three of hers");
        for id in &anns[1..] {
            assert!(is_there(&store, "user:ann", id).await);
        }
        assert!(is_there(&store, "user:bob", &others).await, "another's make no room for her");
        for n in 0..4 {
            keep(&store, &format!("user:{n}"), 10 + n).await;
        }
        assert!(is_there(&store, "user:bob", &others).await, "eight are there");
        // by a clock that is behind: still the newest
        let last = keep(&store, "user:late", 1).await;
        assert!(!is_there(&store, "user:bob", &others).await, "the oldest of all made room for the ninth");
        assert!(is_there(&store, "user:late", &last).await);
    }

    async fn what_is_larger_than_one_may_have_is_not_kept(bed: Bed) {
        let store = bed.open().await;
        let most = usize::try_from(ROOM.of_one - PAGE).unwrap();
        let large = |more: usize| NewCutResult { whole: vec![b' '; most + more], ..of("user:ann", 9) };
        assert_eq!(store.cut_results().keep(large(1), ROOM, 0).await, Ok(None));
        let id = store.cut_results().keep(large(0), ROOM, 0).await.unwrap().unwrap();
        assert_eq!(store.cut_results().whole(&own("user:ann"), &id, 0).await.unwrap().unwrap().len(), most);
        let odd = store.cut_results().keep(of("a\0", 9), ROOM, 0).await;
        assert!(matches!(odd, Err(StoreError::Invalid { .. })), "{odd:?}");
    }

    async fn there_is_never_more_than_there_is_room_for_however_many_add_at_once(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let adding: Vec<_> = (0..64_usize)
            .map(|n| {
                let store = stores[n % 2].clone();
                tokio::spawn(async move { (n, keep(&store, &format!("user:{}", n % 7), 5).await) })
            })
            .collect();
        let mut left = [0; 7];
        let mut ids = Vec::new();
        for one in adding {
            ids.push(one.await.unwrap());
        }
        for (n, id) in ids {
            left[n % 7] += usize::from(is_there(&stores[0], &format!("user:{}", n % 7), &id).await);
        }
        assert_eq!(left.iter().sum::<usize>(), 8, "{left:?}");
        assert!(left.iter().all(|left| *left <= 3), "{left:?}");
    }
}
