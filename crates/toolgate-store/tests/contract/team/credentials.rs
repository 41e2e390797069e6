use toolgate_store::team::{NewSession, Purpose};

use super::staffed;
use crate::bed::Bed;

on_both! {
    async fn a_credential_is_set_used_and_replaced(bed: Bed) {
        let store = bed.open().await;
        staffed(&store).await;
        let credentials = store.team().credentials();
        assert_eq!(credentials.get("a").await, Ok(None));
        assert_eq!(credentials.set("nobody", "$h", 7).await, Ok(false));
        assert_eq!(credentials.set("a", "$one", 7).await, Ok(true));
        credentials.used("a", 8).await.unwrap();
        let kept = credentials.get("a").await.unwrap().unwrap();
        assert_eq!((kept.hash.as_str(), kept.set_at, kept.last_used_at), ("$one", 7, Some(8)));
        assert!(!format!("{kept:?}").contains("$one"));
        assert_eq!(credentials.set("a", "$two", 9).await, Ok(true));
        let kept = credentials.get("a").await.unwrap().unwrap();
        assert_eq!((kept.hash.as_str(), kept.set_at, kept.last_used_at), ("$two", 9, None));
    }

    async fn a_new_passkey_ends_the_sessions_of_the_old_one(bed: Bed) {
        let store = bed.open().await;
        staffed(&store).await;
        let session = NewSession {
            token_hash: [1; 32],
            agent: "a".into(),
            project: "p".into(),
            purpose: Purpose::Chat,
            task: None,
        };
        store.team().sessions().open(session, 10).await.unwrap().unwrap();
        store.team().credentials().set("a", "$two", 11).await.unwrap();
        assert_eq!(store.team().sessions().by_token(&[1; 32], 12).await, Ok(None));
    }
}
