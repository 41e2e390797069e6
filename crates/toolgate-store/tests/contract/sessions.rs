use toolgate_store::Session;

use crate::bed::Bed;

fn session(id: &str, principal: Option<&str>, ended: bool, expires_at: i64) -> Session {
    Session { id: id.to_owned(), principal: principal.map(str::to_owned), ended, expires_at }
}

on_both! {
    async fn the_first_to_bind_a_session_holds_it(bed: Bed) {
        let (here, there) = (bed.open().await.sessions(), bed.open().await.sessions());
        assert_eq!(here.bind("s", "user:ann", 100).await, Ok(Some("user:ann".into())));
        assert_eq!(there.bind("s", "user:bob", 200).await, Ok(Some("user:ann".into())));
        assert_eq!(here.bind("s", "user:ann", 200).await, Ok(Some("user:ann".into())));
        assert_eq!(there.load(0).await, Ok(vec![session("s", Some("user:ann"), false, 100)]));
    }

    async fn many_who_bind_at_once_agree_on_the_holder(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        let binds = (0..32).map(|n| {
            let sessions = if n % 2 == 0 { here.sessions() } else { there.sessions() };
            tokio::spawn(async move { sessions.bind("s", &format!("user:{n}"), 100).await.unwrap().unwrap() })
        });
        let mut holders = Vec::new();
        for bind in binds.collect::<Vec<_>>() {
            holders.push(bind.await.unwrap());
        }
        holders.dedup();
        assert_eq!(holders.len(), 1, "{holders:?}");
    }

    async fn an_ended_session_stays_ended_and_can_not_be_bound(bed: Bed) {
        let sessions = bed.open().await.sessions();
        sessions.end("unknown", 100).await.unwrap();
        assert_eq!(sessions.bind("unknown", "user:ann", 100).await, Ok(None));
        sessions.bind("known", "user:ann", 100).await.unwrap();
        sessions.end("known", 90).await.unwrap();
        assert_eq!(sessions.bind("known", "user:ann", 100).await, Ok(None));
        let remembered = vec![session("known", Some("user:ann"), true, 100), session("unknown", None, true, 100)];
        assert_eq!(sessions.load(0).await, Ok(remembered.clone()), "an end never shortens how long it is remembered");
        sessions.end("known", 100).await.unwrap();
        assert_eq!(sessions.load(0).await, Ok(remembered));
    }

    async fn expired_sessions_are_not_loaded_and_can_be_purged(bed: Bed) {
        let sessions = bed.open().await.sessions();
        sessions.end("a", 100).await.unwrap();
        sessions.bind("b", "user:ann", 101).await.unwrap();
        let left = Ok(vec![session("b", Some("user:ann"), false, 101)]);
        assert_eq!(sessions.load(100).await, left);
        assert_eq!(sessions.purge(100).await, Ok(1));
        assert_eq!(sessions.purge(100).await, Ok(0));
        assert_eq!(sessions.load(0).await, left);
    }
}
