use toolgate_store::ledger::{Checkpoint, NotSigned, Scope, Trusted, Wrong};

use super::{fill, open, tamper, whole, wrongs};
use crate::bed::Bed;

async fn checkpoint(store: &toolgate_store::Store, ledger: &toolgate_store::ledger::Ledger, time: i64) -> Trusted {
    let key = store.ledger_key().await.unwrap();
    let line = ledger.checkpoint(&key, time).await.unwrap().to_line();
    Checkpoint::from_line(&line).unwrap().trusted(&key.public()).unwrap()
}

on_both! {
    async fn a_checkpoint_lists_every_writers_head(bed: Bed) {
        let ((store, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        fill(&one, 4).await;
        fill(&other, 7).await;
        let trusted = checkpoint(&store, &one, 99).await;
        let made = trusted.checkpoint();
        assert_eq!(made.time(), 99);
        let mut heads: Vec<_> = made.heads().iter().map(|head| (head.writer.as_str(), head.seq)).collect();
        heads.sort_unstable();
        let mut expected = [(one.writer(), 4), (other.writer(), 7)];
        expected.sort_unstable();
        assert_eq!(heads, expected);
    }

    async fn replicas_sign_with_one_key(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        let (one, other) = tokio::join!(here.ledger_key(), there.ledger_key());
        assert_eq!(one.unwrap().public(), other.unwrap().public());
    }

    async fn truncation_is_found_back_to_the_last_checkpoint(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        fill(&ledger, 4).await;
        let early = checkpoint(&store, &ledger, 50).await;
        fill(&ledger, 6).await;
        let late = checkpoint(&store, &ledger, 60).await;
        for scope in [Scope::Since(early.clone()), Scope::Since(late.clone()), Scope::Against(vec![early.clone(), late.clone()])] {
            assert!(ledger.verify(scope).await.unwrap().is_sound());
        }
        tamper::remove(&bed, None, tamper::from(8)).await;
        assert_eq!(wrongs(&whole(&ledger).await), [(10, Wrong::Lost { known_from: "store".into() })], "the store knew more");
        let since = ledger.verify(Scope::Since(early.clone())).await.unwrap();
        assert_eq!(wrongs(&since), [(10, Wrong::Lost { known_from: "store".into() })]);
        for scope in [Scope::Since(late.clone()), Scope::Against(vec![early, late])] {
            assert_eq!(wrongs(&ledger.verify(scope).await.unwrap()), [(10, Wrong::Truncated { checkpoint: 60 })]);
        }
    }

    async fn a_writer_that_is_gone_whole_is_missed(bed: Bed) {
        let ((store, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        fill(&one, 2).await;
        fill(&other, 2).await;
        let made = checkpoint(&store, &one, 50).await;
        tamper::remove(&bed, Some(other.writer()), tamper::from(0)).await;
        assert_eq!(wrongs(&whole(&one).await), [(2, Wrong::Lost { known_from: "store".into() })]);
        for scope in [Scope::Since(made.clone()), Scope::Against(vec![made])] {
            let verified = one.verify(scope).await.unwrap();
            assert_eq!(wrongs(&verified), [(2, Wrong::Truncated { checkpoint: 50 })]);
            assert_eq!(verified.findings[0].writer, other.writer());
        }
    }

    async fn an_incremental_check_reads_what_is_new_and_finds_what_is_wrong_in_it(bed: Bed) {
        let ((store, one), (_there, other)) = (open(&bed).await, open(&bed).await);
        fill(&one, 20).await;
        let made = checkpoint(&store, &one, 50).await;
        fill(&one, 5).await;
        fill(&other, 3).await;
        let verified = one.verify(Scope::Since(made.clone())).await.unwrap();
        // The record the checkpoint lists, five new ones, and a new writer's four.
        assert_eq!((verified.records, verified.writers, verified.is_sound()), (10, 2, true), "{verified:?}");
        tamper::edit(&bed, 23, "/b", "/c").await;
        tamper::move_to_the_end(&bed, Some(other.writer()), 1).await;
        tamper::remove(&bed, None, 22..=22).await;
        let verified = one.verify(Scope::Since(made)).await.unwrap();
        let mut found = wrongs(&verified);
        found.sort_by_key(|(seq, _)| *seq);
        // what is not settled yet is read by number on PostgreSQL, where the next one stands out, all else by place
        let (moved, others) = found.split_first().unwrap();
        assert!(matches!(moved, (1 | 2, Wrong::Moved)), "{found:?}");
        assert_eq!(others, [(22, Wrong::Missing { until: 22 }), (23, Wrong::Edited)]);
    }

    async fn nothing_is_signed_that_was_changed(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        let key = store.ledger_key().await.unwrap();
        fill(&ledger, 5).await;
        checkpoint(&store, &ledger, 50).await;
        fill(&ledger, 5).await;
        tamper::edit(&bed, 8, "/b", "/c").await;
        let refused = ledger.checkpoint(&key, 60).await.unwrap_err();
        assert!(matches!(&refused, NotSigned::Unsound(found) if wrongs(found) == [(8, Wrong::Edited)]), "{refused}");
    }

    async fn many_checkpoints_are_held_against_the_ledger_at_once(bed: Bed) {
        let (store, ledger) = open(&bed).await;
        let mut made = Vec::new();
        for time in 0..20 {
            fill(&ledger, 3).await;
            made.push(checkpoint(&store, &ledger, time).await);
        }
        // Their order does not matter.
        made.reverse();
        assert!(ledger.verify(Scope::Against(made.clone())).await.unwrap().is_sound());
        tamper::remove(&bed, None, tamper::from(56)).await;
        let verified = ledger.verify(Scope::Against(made)).await.unwrap();
        assert_eq!(wrongs(&verified), [(57, Wrong::Truncated { checkpoint: 18 }), (60, Wrong::Truncated { checkpoint: 19 })]);
    }
}
