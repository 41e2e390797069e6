use toolgate_store::{
    StoreError,
    fitness::{Activity, ActivityFilter, ActivityTotals, Figures, NewActivity, Place, Record, RecordKind},
};

use crate::bed::Bed;

fn activity(id: &str, sport: &str, started_at: i64) -> NewActivity {
    let figures = Figures {
        elapsed_s: 1800,
        moving_s: 1700,
        distance_cm: 500_050,
        elevation_gain_cm: 1234,
        average_heart_rate: Some(1455),
        max_heart_rate: Some(180),
        start: Some(Place { latitude: -36_120_000, longitude: 179_999_999 }),
        ..Figures::default()
    };
    let activity = Activity { id: id.into(), name: format!("{id}'s name"), sport: sport.into(), started_at, figures };
    NewActivity { activity, samples: vec![0, 1, 255] }
}

on_both! {
    async fn a_connection_is_made_once_and_ends(bed: Bed) {
        let ann = bed.open().await.fitness("ann").unwrap();
        assert_eq!(ann.connection("files").await, Ok(None));
        assert_eq!(ann.connect("files", 5).await, Ok(true));
        assert_eq!(ann.connect("files", 6).await, Ok(false));
        assert_eq!(ann.connection("files").await.unwrap().unwrap().connected_at, 5, "the first one stands");
        assert_eq!(ann.disconnect("files").await.unwrap().unwrap().connected_at, 5);
        assert_eq!(ann.disconnect("files").await, Ok(None));
        assert_eq!(ann.connection("files").await, Ok(None));
    }

    async fn an_activity_comes_back_as_it_was_and_only_once(bed: Bed) {
        let ann = bed.open().await.fitness("ann").unwrap();
        let run = activity("act_1", "run", 1_000);
        assert_eq!(ann.add_activity("files", "imp_1", &run).await, Ok(true));
        let other = NewActivity { activity: Activity { name: "other".into(), ..run.activity.clone() }, ..run.clone() };
        assert_eq!(ann.add_activity("files", "imp_2", &other).await, Ok(false), "the same id is the same activity");
        assert_eq!(ann.activity("files", "act_1").await, Ok(Some(run.activity.clone())));
        assert_eq!(ann.samples("files", "act_1").await, Ok(Some(vec![0, 1, 255])));
        assert_eq!(ann.activity("other", "act_1").await, Ok(None));
        assert_eq!(ann.activity("files", "act_2").await, Ok(None));
        assert_eq!(ann.samples("files", "act_2").await, Ok(None));
        let bare = NewActivity {
            activity: Activity { figures: Figures::default(), ..activity("act_2", "swim", 2_000).activity },
            samples: vec![],
        };
        ann.add_activity("files", "imp_2", &bare).await.unwrap();
        assert_eq!(ann.activity("files", "act_2").await, Ok(Some(bare.activity)), "what was not measured is absent");
    }

    async fn activities_are_listed_newest_first_filtered_and_in_parts(bed: Bed) {
        let ann = bed.open().await.fitness("ann").unwrap();
        for (id, sport, at) in [("a", "run", 10), ("b", "ride", 20), ("c", "run", 30), ("d", "run", 30), ("e", "run", 40)] {
            ann.add_activity("files", "imp", &activity(id, sport, at)).await.unwrap();
        }
        let listed = async |filter: ActivityFilter<'_>| {
            let found = ann.activities(&filter).await.unwrap();
            found.into_iter().map(|activity| activity.id).collect::<Vec<_>>().join("")
        };
        let all = ActivityFilter::all("files", 100);
        assert_eq!(listed(all.clone()).await, "ecdba", "one order for the same time");
        assert_eq!(listed(ActivityFilter { sport: Some("run"), ..all.clone() }).await, "ecda");
        assert_eq!(listed(ActivityFilter { after: Some(10), before: Some(40), ..all.clone() }).await, "cdb", "both ends out");
        assert_eq!(listed(ActivityFilter { limit: 2, offset: 1, ..all.clone() }).await, "cd");
        assert_eq!(listed(ActivityFilter { provider: "other", ..all }).await, "");
        let totals = ActivityTotals { activities: 5, distance_cm: 2_500_250, elapsed_s: 9000, elevation_gain_cm: 6170 };
        assert_eq!(ann.totals("files").await, Ok(totals));
        assert_eq!(ann.totals("other").await, Ok(ActivityTotals::default()));
    }

    async fn an_import_is_forgotten_whole_and_nothing_else_with_it(bed: Bed) {
        let ann = bed.open().await.fitness("ann").unwrap();
        ann.add_activity("files", "one", &activity("a", "run", 1)).await.unwrap();
        ann.add_activity("files", "two", &activity("b", "run", 2)).await.unwrap();
        ann.add_activity("files", "two", &activity("c", "run", 3)).await.unwrap();
        assert_eq!(ann.forget_import("two").await, Ok(2));
        assert_eq!(ann.forget_import("two").await, Ok(0));
        assert_eq!(ann.totals("files").await.unwrap().activities, 1);
        assert_eq!(ann.forget_activities("files").await, Ok(1));
        assert_eq!(ann.totals("files").await.unwrap().activities, 0);
    }

    async fn goals_and_recipes_are_kept_apart_and_removed_once(bed: Bed) {
        let ann = bed.open().await.fitness("ann").unwrap();
        let record = |id: &str, at: i64| Record { id: id.into(), content: format!("{{\"of\":\"{id}\"}}"), created_at: at };
        for (id, at) in [("x", 1), ("y", 2)] {
            assert_eq!(ann.add_record(RecordKind::Goal, &record(id, at)).await, Ok(true));
        }
        assert_eq!(ann.add_record(RecordKind::Goal, &record("x", 9)).await, Ok(false));
        assert_eq!(ann.add_record(RecordKind::Recipe, &record("x", 3)).await, Ok(true));
        assert_eq!(ann.records(RecordKind::Goal, 10).await, Ok(vec![record("y", 2), record("x", 1)]), "newest first");
        assert_eq!(ann.records(RecordKind::Goal, 1).await.unwrap().len(), 1);
        assert_eq!(ann.count_records(RecordKind::Goal).await, Ok(2));
        assert_eq!(ann.record(RecordKind::Recipe, "x").await, Ok(Some(record("x", 3))));
        assert_eq!(ann.remove_record(RecordKind::Recipe, "x").await, Ok(Some(record("x", 3))));
        assert_eq!(ann.remove_record(RecordKind::Recipe, "x").await, Ok(None));
        assert_eq!(ann.record(RecordKind::Goal, "x").await, Ok(Some(record("x", 1))));
    }

    async fn a_configuration_is_changed_by_who_read_the_latest(bed: Bed) {
        let stores = [bed.open().await, bed.open().await];
        let (one, two) = (stores[0].fitness("ann").unwrap(), stores[1].fitness("ann").unwrap());
        assert_eq!(one.configuration().await, Ok(None));
        let first = one.configure(None, "{}", 0, 1).await.unwrap().unwrap();
        assert_eq!((first.revision, first.profile, first.parameters.as_str()), (1, None, "{}"));
        assert_eq!(two.configure(Some("elite"), "{}", 0, 2).await, Ok(None), "somebody was first");
        let second = two.configure(Some("elite"), "{\"max_hr\":190}", 1, 2).await.unwrap().unwrap();
        assert_eq!(second.revision, 2);
        assert_eq!(one.configuration().await, Ok(Some(second)));
        assert_eq!(one.configure(None, "{}", 1, 3).await, Ok(None));
    }

    async fn another_users_records_answer_exactly_as_missing_ones(bed: Bed) {
        let store = bed.open().await;
        let (ann, bob) = (store.fitness("ann").unwrap(), store.fitness("bob").unwrap());
        ann.connect("files", 1).await.unwrap();
        ann.add_activity("files", "imp", &activity("a", "run", 1)).await.unwrap();
        let goal = Record { id: "g".into(), content: "{}".into(), created_at: 1 };
        ann.add_record(RecordKind::Goal, &goal).await.unwrap();
        ann.configure(None, "{}", 0, 1).await.unwrap();
        for other in [&bob, &store.fitness("Ann").unwrap(), &store.fitness("ann ").unwrap(), &store.fitness("%").unwrap()] {
            assert_eq!(other.connection("files").await, Ok(None));
            assert_eq!(other.disconnect("files").await, Ok(None));
            assert_eq!(other.activities(&ActivityFilter::all("files", 10)).await, Ok(vec![]));
            assert_eq!(other.activity("files", "a").await, Ok(None));
            assert_eq!(other.samples("files", "a").await, Ok(None));
            assert_eq!(other.forget_import("imp").await, Ok(0));
            assert_eq!(other.forget_activities("files").await, Ok(0));
            assert_eq!(other.records(RecordKind::Goal, 10).await, Ok(vec![]));
            assert_eq!(other.remove_record(RecordKind::Goal, "g").await, Ok(None));
            assert_eq!(other.configuration().await, Ok(None));
        }
        assert_eq!(bob.add_activity("files", "imp", &activity("a", "run", 1)).await, Ok(true), "ids are each user's own");
        assert_eq!(bob.forget_import("imp").await, Ok(1));
        assert_eq!(ann.totals("files").await.unwrap().activities, 1);
        assert_eq!(ann.record(RecordKind::Goal, "g").await, Ok(Some(goal)));
    }

    async fn records_without_a_user_do_not_exist(bed: Bed) {
        let refused = bed.open().await.fitness("").err().unwrap();
        assert!(matches!(&refused, StoreError::Invalid { operation: "open a user's fitness records", .. }), "{refused}");
    }
}
