use toolgate_store::Event;

use crate::bed::Bed;

on_both! {
    async fn events_are_kept_in_order_and_are_their_principals_own(bed: Bed) {
        let store = bed.open().await;
        let ann = store.events("user:ann");
        ann.append(5, Some("flow-1"), "first", "{}").await.unwrap();
        ann.append(4, None, "second", r#"{"a":1}"#).await.unwrap();
        store.events("user:bob").append(6, None, "his", "{}").await.unwrap();
        let event = |at, flow: Option<&str>, name: &str, payload: &str| Event {
            at,
            principal: "user:ann".into(),
            flow: flow.map(str::to_owned),
            name: name.into(),
            payload: payload.into(),
        };
        let (second, first) = (event(4, None, "second", r#"{"a":1}"#), event(5, Some("flow-1"), "first", "{}"));
        assert_eq!(ann.newest(10).await, Ok(vec![second.clone(), first]), "the order is that of appending, not of time");
        assert_eq!(ann.newest(1).await, Ok(vec![second]));
        assert_eq!(store.events("user:carol").newest(10).await, Ok(vec![]));
        store.close().await;
        assert_eq!(bed.open().await.events("user:ann").newest(10).await.unwrap().len(), 2);
    }
}
