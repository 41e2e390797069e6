//! Ids that are found by their beginning.

use toolgate_store::IdKind;

use crate::{
    approvals::{asked, binding},
    bed::Bed,
};

on_both! {
    async fn ids_are_found_by_their_beginning_in_order_and_within_a_limit(bed: Bed) {
        let store = bed.open().await;
        let mut ids = Vec::new();
        for number in 0..20 {
            ids.push(store.approvals().ask(asked(binding(&format!("tool{number}")))).await.unwrap().id);
        }
        ids.sort();
        let found = async |beginning: &str, limit| {
            store.ids_beginning_with(IdKind::Approval, beginning, limit).await.unwrap()
        };
        assert_eq!(found("appr_", 100).await, ids);
        assert_eq!(found("appr_", 3).await, ids[..3]);
        for id in &ids {
            assert_eq!(found(id, 2).await, [id.as_str()]);
            let beginning = &id[..9];
            let expected: Vec<&str> = ids.iter().filter(|id| id.starts_with(beginning)).map(String::as_str).collect();
            assert_eq!(found(beginning, 100).await, expected, "{beginning}");
        }
        assert!(found("appr_%", 10).await.is_empty() && found("APPR_", 10).await.is_empty());
        assert!(store.ids_beginning_with(IdKind::Receipt, "appr_", 10).await.unwrap().is_empty());
        assert!(store.ids_beginning_with(IdKind::Plan, "plan_", 10).await.unwrap().is_empty());
        assert!(found("", 10).await.is_empty(), "nothing is no beginning");
    }
}
