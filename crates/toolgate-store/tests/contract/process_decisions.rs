use toolgate_store::DecisionKind;

use crate::{
    bed::Bed,
    processes::{Driven, decision, definition, run},
};

on_both! {
    async fn decisions_at_the_same_time_are_all_taken_down(bed: Bed) {
        let driven = Driven::start(&bed, definition(&["a", "b"], true)).await;
        driven.store.processes().begin(&driven.id, run(1)).await.unwrap();
        let deciding: Vec<_> = (0..20)
            .map(|_| {
                let processes = driven.store.processes();
                tokio::spawn(async move {
                    for _ in 0..2 {
                        processes.decide("t1", decision(DecisionKind::Proceed, &[])).await.unwrap();
                    }
                })
            })
            .collect();
        for decided in deciding {
            decided.await.unwrap();
        }
        let progress = driven.store.processes().progress(&driven.id).await.unwrap().unwrap();
        assert_eq!(progress.decisions.len(), 40);
    }
}
