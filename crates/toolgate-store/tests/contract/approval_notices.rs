//! What is to be told of approvals: each event once, by one replica, unless that one dies.

use toolgate_store::{Answer, Binding, NewApproval, Notice, NoticeEvent, Scope};

use crate::{
    approvals::{asked, binding},
    bed::Bed,
};

fn number(n: u8) -> NewApproval {
    asked(Binding { arguments_digest: [n; 32], ..binding("t") })
}

fn events(notices: &[Notice]) -> Vec<&'static str> {
    let mut events: Vec<_> = notices.iter().map(|notice| notice.event.as_str()).collect();
    events.sort_unstable();
    events
}

on_both! {
    async fn each_event_is_claimed_once_and_told_once(bed: Bed) {
        let store = bed.open().await;
        let id = store.approvals().ask(number(1)).await.unwrap().id;
        let claim = async |now: i64| store.notices().claim(now, 0, now + 100, 10).await.unwrap();
        let first = claim(20).await;
        assert_eq!((events(&first), &first[0].approval.id), (vec!["asked"], &id));
        assert_eq!(claim(21).await, [], "another tells it");
        let again = claim(120).await;
        assert_eq!(events(&again), ["asked"], "who claimed it is gone");
        store.notices().told(&again[0], 121).await.unwrap();
        assert_eq!(claim(400).await, [], "told");
        let deny = Answer::Deny { by: "user:ann".to_owned(), reason: None };
        store.approvals().answer(&Scope::Everything, &id, deny, 401).await.unwrap();
        let answered = claim(402).await;
        assert_eq!(events(&answered), ["answered"]);
        assert_eq!(answered[0].approval.answered_by.as_deref(), Some("user:ann"));
        store.notices().told(&answered[0], 403).await.unwrap();
        assert_eq!(claim(9_000).await, [], "what was answered does not expire");
    }

    async fn what_expires_is_told_and_what_is_old_is_not(bed: Bed) {
        let store = bed.open().await;
        store.approvals().ask(number(1)).await.unwrap();
        let notices = store.notices();
        assert_eq!(events(&notices.claim(600, 0, 700, 10).await.unwrap()), ["asked", "expired"]);
        store.approvals().ask(NewApproval { asked_at: 700, expires: 900, ..number(2) }).await.unwrap();
        assert_eq!(events(&notices.claim(5_000, 850, 6_000, 10).await.unwrap()), ["expired"], "asked too long ago");
        assert_eq!(NoticeEvent::parse("told"), None);
    }

    async fn many_claim_at_once_and_each_event_is_one_claimants(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        for n in 0..40 {
            stores[0].approvals().ask(number(n)).await.unwrap();
        }
        let claims = (0..16).map(|claimant| {
            let store = stores[claimant % 2].clone();
            tokio::spawn(async move { store.notices().claim(20, 0, 100, 3).await.unwrap() })
        });
        let mut ids = Vec::new();
        for claim in claims.collect::<Vec<_>>() {
            let claimed = claim.await.unwrap();
            assert!(claimed.len() <= 3, "no more than asked for");
            ids.extend(claimed.into_iter().map(|notice| notice.approval.id));
        }
        loop {
            let rest = stores[1].notices().claim(20, 0, 100, 10).await.unwrap();
            if rest.is_empty() {
                break;
            }
            ids.extend(rest.into_iter().map(|notice| notice.approval.id));
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!((ids.len(), count), (40, 40));
    }
}
