use toolgate_store::team::{Guesses, Place, Slow};

use crate::bed::Bed;

/// How many attempts in a row are looked at before one has to wait.
async fn free(guesses: &Guesses, place: &Place, now: i64) -> usize {
    for count in 0..100 {
        if guesses.take(place, now).await.unwrap().is_some() {
            return count;
        }
    }
    panic!("nothing slows it down")
}

on_both! {
    async fn who_fails_again_and_again_waits_longer_each_time(bed: Bed) {
        let guesses = bed.open().await.team().guesses();
        let place = Place::agent("a", Some("203.0.113.7"));
        assert_eq!(free(&guesses, &place, 0).await, 5);
        let mut now = 0;
        let mut waits = Vec::new();
        for _ in 0..10 {
            let slow = guesses.take(&place, now).await.unwrap().unwrap();
            waits.push(slow.until - now);
            // asking again while it waits makes it no longer
            assert_eq!(guesses.take(&place, slow.until - 1).await, Ok(Some(slow)));
            now = slow.until;
            assert_eq!(guesses.take(&place, now).await, Ok(None));
        }
        assert!(waits.is_sorted(), "{waits:?}");
        assert_eq!((waits[0], waits[9]), (1000, 60_000));
        // a quarter of an hour later all is forgotten
        assert_eq!(free(&guesses, &place, now + 16 * 60_000).await, 5);
    }

    async fn places_are_told_apart(bed: Bed) {
        let guesses = bed.open().await.team().guesses();
        let place = Place::agent("a", Some("203.0.113.7"));
        free(&guesses, &place, 0).await;
        let others = [
            Place::agent("a", Some("203.0.113.8")),
            Place::agent("b", Some("203.0.113.7")),
            Place::agent("a", None),
            Place::address("203.0.113.7"),
        ];
        for other in others {
            assert_eq!(guesses.take(&other, 0).await, Ok(None), "{other:?}");
        }
    }

    async fn the_right_passkey_ends_the_wait_and_is_remembered(bed: Bed) {
        let guesses = bed.open().await.team().guesses();
        let place = Place::agent("a", Some("203.0.113.7"));
        for _ in 0..4 {
            assert_eq!(guesses.take(&place, 0).await, Ok(None));
        }
        assert_eq!(guesses.is_known(&place, 0).await, Ok(false));
        guesses.good(&place, 0).await.unwrap();
        assert_eq!(guesses.is_known(&place, 1).await, Ok(true));
        assert_eq!(guesses.is_known(&Place::agent("a", None), 1).await, Ok(false));
        assert_eq!(free(&guesses, &place, 0).await, 5, "what was counted is forgotten");
        assert_eq!(guesses.is_known(&place, 31 * 24 * 3_600_000).await, Ok(false));
    }

    async fn a_known_place_has_more_attempts_counted_apart(bed: Bed) {
        let guesses = bed.open().await.team().guesses();
        let place = Place::agent("a", Some("203.0.113.7"));
        assert_eq!(free(&guesses, &place, 0).await, 5);
        assert_eq!(free(&guesses, &place.once_known(), 0).await, 30);
        guesses.good(&place, 0).await.unwrap();
        assert_eq!(free(&guesses, &place, 0).await, 5, "both are forgotten");
        assert_eq!(free(&guesses, &place.once_known(), 0).await, 30);
    }

    async fn an_address_is_slowed_down_over_all_agents_tried_from_it(bed: Bed) {
        let guesses = bed.open().await.team().guesses();
        let address = Place::address("203.0.113.7");
        for _ in 0..29 {
            guesses.failed(&address, 0).await.unwrap();
        }
        assert_eq!(guesses.waits(&address, 0).await, Ok(None));
        guesses.failed(&address, 0).await.unwrap();
        assert_eq!(guesses.waits(&address, 0).await, Ok(Some(Slow { until: 1000 })));
        assert_eq!(guesses.waits(&address, 1000).await, Ok(None));
        assert_eq!(guesses.waits(&Place::address("203.0.113.8"), 0).await, Ok(None));
    }

    async fn many_attempts_at_once_get_no_further_than_one_after_the_other(bed: Bed) {
        let store = bed.open().await;
        let place = Place::agent("a", Some("203.0.113.7"));
        let tries: Vec<_> = (0..24)
            .map(|_| {
                let (store, place) = (store.clone(), place.clone());
                tokio::spawn(async move { store.team().guesses().take(&place, 0).await.unwrap().is_none() })
            })
            .collect();
        let mut looked_at = 0;
        for attempt in tries {
            looked_at += usize::from(attempt.await.unwrap());
        }
        assert_eq!(looked_at, 5);
    }
}
