use toolgate_store::{ArtifactFormat, NewArtifact, NewResult, NewTask, Source, Store, StoreError, Which};

use crate::{bed::Bed, hostile::HOSTILE, tasks::task};

fn terms(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

fn result(text: &str, at: i64) -> NewResult {
    NewResult {
        text: text.into(),
        summary: Some(format!("short {text}")),
        key_files: vec!["a.rs".into()],
        tags: vec!["x".into()],
        terms: terms(text),
        at,
    }
}

fn artifact(title: &str, content: &str, at: i64) -> NewArtifact {
    NewArtifact {
        title: title.into(),
        content: content.into(),
        format: ArtifactFormat::Markdown,
        template_name: Some("prd".into()),
        tags: vec![],
        terms: terms(content),
        at,
    }
}

async fn start(store: &Store, id: &str, key: u8, process: Option<&str>, name: Option<&str>) {
    let process = process.map(str::to_owned);
    let new = NewTask { process, name: name.map(str::to_owned), ..task(id, key, None, false) };
    store.tasks().start(new).await.unwrap();
}

on_both! {
    async fn a_result_is_one_for_each_task_and_found_within_its_process(bed: Bed) {
        let store = bed.open().await;
        start(&store, "t1", 1, Some("p1"), Some("analyse")).await;
        start(&store, "t2", 2, Some("p1"), Some("analyse")).await;
        start(&store, "t3", 3, Some("p2"), Some("analyse")).await;
        let (here, there) = (store.results("p1", None).unwrap(), store.results("p2", None).unwrap());
        assert_eq!(here.write("t1", &result("first", 1)).await, Ok(true));
        assert_eq!(here.write("t2", &result("second", 2)).await, Ok(true));
        assert_eq!(there.write("t3", &result("elsewhere", 3)).await, Ok(true));
        let newest = here.find(Which::Named("analyse")).await.unwrap().unwrap();
        assert_eq!((newest.text.as_str(), newest.summary.as_deref()), ("second", Some("short second")));
        assert_eq!((newest.key_files, newest.tags), (vec!["a.rs".to_owned()], vec!["x".to_owned()]));
        assert_eq!(here.write("t1", &NewResult { summary: None, ..result("again", 5) }).await, Ok(true));
        let again = here.find(Which::Task("t1")).await.unwrap().unwrap();
        assert_eq!((again.text.as_str(), again.summary, again.created_at), ("again", None, 5));
        assert_eq!(here.find(Which::Named("analyse")).await.unwrap().unwrap().text, "again", "the newest by its time");
        assert_eq!(here.find(Which::Task("t3")).await, Ok(None), "another process has it");
        assert_eq!(here.write("t3", &result("x", 1)).await, Ok(false), "nor can it be written there");
        assert_eq!(here.write("nobody", &result("x", 1)).await, Ok(false));
        assert_eq!(there.find(Which::Task("t3")).await.unwrap().unwrap().text, "elsewhere");
        assert_eq!(here.find(Which::Named("")).await, Ok(None));
        let found = store.knowledge(None).unwrap().search(&terms("first second again"), 1).await.unwrap();
        let ids: Vec<_> = found.hits.iter().map(|hit| (hit.source_id.as_str(), hit.title.as_str())).collect();
        assert!(ids.contains(&("t1", "analyse")) && ids.contains(&("t2", "analyse")) && ids.len() == 2, "{ids:?}");
    }

    async fn a_task_of_no_process_is_a_process_of_its_own(bed: Bed) {
        let store = bed.open().await;
        start(&store, "alone", 1, None, None).await;
        let own = store.results("alone", None).unwrap();
        assert_eq!(own.write("alone", &result("text", 1)).await, Ok(true));
        assert_eq!(store.results("other", None).unwrap().find(Which::Task("alone")).await, Ok(None));
    }

    async fn artifacts_are_listed_in_their_order_without_their_content(bed: Bed) {
        let store = bed.open().await;
        start(&store, "t1", 1, Some("p1"), None).await;
        start(&store, "t2", 2, Some("p1"), None).await;
        let here = store.artifacts("p1", None).unwrap();
        let mut ids = Vec::new();
        for (task, title) in [("t1", "one"), ("t2", "two"), ("t1", "three")] {
            ids.push(here.write(task, &artifact(title, "the content", 4)).await.unwrap().unwrap());
        }
        let listed = here.list(None).await.unwrap();
        assert_eq!(listed.iter().map(|artifact| artifact.title.as_str()).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert!(listed.iter().all(|artifact| artifact.content.is_empty()));
        assert_eq!(here.list(Some("t2")).await.unwrap().len(), 1);
        assert_eq!(here.list(Some("nobody")).await, Ok(vec![]));
        let one = here.find(&ids[0]).await.unwrap().unwrap();
        assert_eq!((one.content.as_str(), one.format, one.template_name.as_deref()), ("the content", ArtifactFormat::Markdown, Some("prd")));
        let there = store.artifacts("p2", None).unwrap();
        assert_eq!((there.find(&ids[0]).await, there.list(None).await), (Ok(None), Ok(vec![])), "another process has none of it");
        assert_eq!(there.write("t1", &artifact("x", "y", 1)).await, Ok(None));
    }

    async fn knowledge_has_versions_and_a_tenant_has_its_own(bed: Bed) {
        let store = bed.open().await;
        let (acme, rival, nobody) = (store.knowledge(Some("acme")).unwrap(), store.knowledge(Some("rival")).unwrap(), store.knowledge(None).unwrap());
        let long = "é".repeat(300);
        assert_eq!(acme.write("build", "use make", "found", &terms("use make"), 1).await, Ok(1));
        assert_eq!(acme.write("build", &long, "changed", &terms("use ninja"), 2).await, Ok(2));
        assert_eq!(rival.write("build", "theirs", "theirs", &terms("theirs"), 3).await, Ok(1));
        let latest = acme.find("build", None).await.unwrap().unwrap();
        assert_eq!((latest.version, latest.content.as_str(), latest.reason.as_str()), (2, long.as_str(), "changed"));
        assert_eq!(acme.find("build", Some(1)).await.unwrap().unwrap().content, "use make");
        assert_eq!(acme.find("build", Some(3)).await, Ok(None));
        assert_eq!(acme.find("other", None).await, Ok(None));
        assert_eq!(nobody.find("build", None).await, Ok(None));
        let history = acme.history("build").await.unwrap();
        assert_eq!(history.iter().map(|version| version.version).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((history[1].preview.chars().count(), history[1].reason.as_str()), (200, "changed"));
        assert_eq!(acme.history("other").await, Ok(vec![]));
        let found = async |words: &str| acme.search(&terms(words), 1).await.unwrap().hits;
        assert_eq!(found("make").await, [], "of a key the latest version is found");
        let hits = found("ninja use").await;
        assert_eq!((hits.len(), hits[0].source, hits[0].source_id.as_str()), (1, Source::Knowledge, "build"));
        assert_eq!(hits[0].snippet.chars().count(), 200);
        assert_eq!(found("theirs").await, []);
        assert!(matches!(store.knowledge(Some("")), Err(StoreError::Invalid { .. })));
    }

    async fn however_many_write_at_once_each_gets_a_version(bed: Bed) {
        let store = bed.open().await;
        let writers: Vec<_> = (0..20)
            .map(|number| {
                let store = store.clone();
                tokio::spawn(async move {
                    let knowledge = store.knowledge(Some("acme")).unwrap();
                    knowledge.write("key", &format!("text {number}"), "r", &[format!("word{number}")], number).await.unwrap()
                })
            })
            .collect();
        let mut versions = Vec::new();
        for writer in writers {
            versions.push(writer.await.unwrap());
        }
        versions.sort_unstable();
        assert_eq!(versions, (1..=20).collect::<Vec<_>>());
        let knowledge = store.knowledge(Some("acme")).unwrap();
        let last = knowledge.find("key", None).await.unwrap().unwrap();
        let number = last.content.strip_prefix("text ").unwrap();
        assert_eq!(knowledge.search(&[format!("word{number}")], 1).await.unwrap().hits.len(), 1, "the last is the one found");
        let all: Vec<String> = (0..20).map(|number| format!("word{number}")).collect();
        assert_eq!(knowledge.search(&all, 1).await.unwrap().hits.len(), 1, "one hit for a key");
    }

    async fn odd_text_comes_back_as_it_was_and_a_nul_is_refused(bed: Bed) {
        let store = bed.open().await;
        for (number, text) in (1..).zip(HOSTILE) {
            start(&store, text, number, Some(text), Some(text)).await;
            let (results, artifacts) = (store.results(text, Some(text)).unwrap(), store.artifacts(text, Some(text)).unwrap());
            let knowledge = store.knowledge(Some(text)).unwrap();
            let new = NewResult { summary: Some(text.into()), key_files: vec![text.into()], tags: vec![text.into()], ..result(text, 1) };
            assert_eq!(results.write(text, &new).await, Ok(true));
            let found = results.find(Which::Named(text)).await.unwrap().unwrap();
            assert_eq!((found.text.as_str(), found.summary.as_deref(), found.key_files[0].as_str()), (text, Some(text), text));
            let id = artifacts.write(text, &artifact(text, text, 1)).await.unwrap().unwrap();
            assert_eq!(artifacts.find(&id).await.unwrap().unwrap().content, text);
            assert_eq!(knowledge.write(text, text, text, &terms(text), 1).await, Ok(1));
            assert_eq!(knowledge.find(text, None).await.unwrap().unwrap().reason, text);
            assert!(!knowledge.search(&[format!("x{text}")], 1).await.unwrap().has_more);
        }
        start(&store, "t", 100, None, None).await;
        let refused = [
            store.results("t", None).unwrap().write("t", &result("a\0", 1)).await.map(drop),
            store.artifacts("t", None).unwrap().write("t", &artifact("a\0", "x", 1)).await.map(drop),
            store.knowledge(None).unwrap().write("a\0", "x", "x", &[], 1).await.map(drop),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
        }
        assert!(store.results("a\0", None).is_err() && store.knowledge(Some("\0")).is_err());
        assert_eq!(store.knowledge(None).unwrap().find("a\0", None).await, Ok(None));
    }

    async fn pages_have_ten_in_one_order_and_say_whether_there_are_more(bed: Bed) {
        let store = bed.open().await;
        let knowledge = store.knowledge(None).unwrap();
        for number in 0..20 {
            let text = format!("common {}", "filler ".repeat(number));
            knowledge.write(&format!("k{number:02}"), &text, "r", &terms(&text), 1).await.unwrap();
        }
        let page = async |number: u32| {
            let page = knowledge.search(&terms("common"), number).await.unwrap();
            let ids: Vec<String> = page.hits.iter().map(|hit| hit.source_id.clone()).collect();
            assert!(page.hits.is_sorted_by_key(|hit| -hit.score), "best first");
            (ids, page.has_more)
        };
        let (first, second) = (page(1).await, page(2).await);
        assert_eq!((first.0.len(), first.1, second.0.len(), second.1), (10, true, 10, false), "exactly ten more are not more than ten");
        assert_eq!(page(3).await, (vec![], false));
        assert_eq!(page(u32::MAX).await, (vec![], false));
        assert_eq!((page(1).await, page(2).await), (first.clone(), second.clone()), "asked again, it is the same");
        let mut all = [first.0, second.0].concat();
        assert_eq!(all[0], "k00", "the shortest text that says it");
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 20);
        assert_eq!(page(0).await.0.len(), 10, "before the first there is the first");
        assert_eq!(knowledge.search(&terms("\" ' *"), 1).await.unwrap().hits, []);
    }
}
