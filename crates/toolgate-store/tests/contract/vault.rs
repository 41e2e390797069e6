use toolgate_store::{Passage, ReadDocument, StoreError, VaultItem, VaultRepository, VaultUpdate};

use crate::bed::Bed;

fn item(id: &str, parent: &str, name: &str) -> VaultItem {
    VaultItem {
        id: id.into(),
        parent: parent.into(),
        name: name.into(),
        folder: false,
        inode: -7,
        born: 1,
        size: 10,
        modified: i64::MAX,
        digest: None,
        stamp: None,
    }
}

fn passage(text: &str) -> Passage {
    Passage { text: text.into(), terms: text.split_whitespace().map(str::to_lowercase).collect() }
}

fn read(item: &str, stamp: &str, digest: Option<&str>, passages: impl IntoIterator<Item = Passage>) -> ReadDocument {
    let (item, stamp, digest) = (item.to_owned(), stamp.to_owned(), digest.map(str::to_owned));
    ReadDocument { item, stamp, digest, passages: passages.into_iter().collect() }
}

fn new(items: impl IntoIterator<Item = VaultItem>) -> VaultUpdate {
    VaultUpdate { new: items.into_iter().collect(), ..VaultUpdate::default() }
}

fn moved(items: impl IntoIterator<Item = VaultItem>) -> VaultUpdate {
    VaultUpdate { moved: items.into_iter().collect(), ..VaultUpdate::default() }
}

fn gone(id: &str) -> VaultUpdate {
    VaultUpdate { gone: vec![id.to_owned()], ..VaultUpdate::default() }
}

async fn found(vault: &VaultRepository, terms: &[&str]) -> Vec<String> {
    let terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
    vault.find(&terms, 10).await.unwrap().into_iter().map(|hit| format!("{}#{}", hit.item, hit.place)).collect()
}

on_both! {
    async fn items_come_change_trade_places_and_go(bed: Bed) {
        let store = bed.open().await;
        let vault = store.vault("v").unwrap();
        let (a, b) = (item("a", "root", "one.txt"), item("b", "root", "two.txt"));
        vault.update(&new([a.clone(), b.clone()])).await.unwrap();
        assert_eq!(vault.items().await, Ok(vec![a.clone(), b.clone()]));

        let (a, b) = (VaultItem { name: "two.txt".into(), ..a }, VaultItem { name: "one.txt".into(), ..b });
        vault.update(&moved([a.clone(), b.clone()])).await.unwrap();
        assert_eq!(vault.items().await, Ok(vec![a.clone(), b.clone()]), "two may trade places");

        assert_eq!(vault.place("a", "folder", "x").await, Ok(true));
        assert_eq!(vault.place("nobody", "folder", "y").await, Ok(false));
        let a = VaultItem { parent: "folder".into(), name: "x".into(), ..a };
        vault.update(&gone("b")).await.unwrap();
        assert_eq!(vault.items().await, Ok(vec![a]));
        assert_eq!(store.vault("other").unwrap().items().await, Ok(vec![]), "another vault knows nothing of it");
    }

    async fn a_place_that_is_taken_stays_with_who_took_it(bed: Bed) {
        let vault = bed.open().await.vault("v").unwrap();
        vault.update(&new([item("a", "root", "one.txt")])).await.unwrap();
        vault.update(&new([item("b", "root", "one.txt")])).await.unwrap();
        assert_eq!(vault.items().await, Ok(vec![item("a", "root", "one.txt")]));
        vault.update(&new([item("b", "root", "two.txt")])).await.unwrap();
        let taken = vault.update(&moved([item("b", "root", "one.txt")])).await;
        assert!(matches!(taken, Err(StoreError::Duplicate { .. })), "{taken:?}");
        assert_eq!(vault.items().await.unwrap().len(), 2, "what moved is still known");
    }

    async fn what_is_seen_of_a_document_does_not_touch_what_was_read_of_it(bed: Bed) {
        let vault = bed.open().await.vault("v").unwrap();
        vault.update(&new([item("a", "root", "one.txt")])).await.unwrap();
        vault.read_all(&[read("a", "stamp", Some("digest"), [passage("words")])]).await.unwrap();
        let seen = VaultItem { size: 99, ..item("a", "root", "one.txt") };
        vault.update(&VaultUpdate { touched: vec![seen.clone()], ..VaultUpdate::default() }).await.unwrap();
        let known = VaultItem { digest: Some("digest".into()), stamp: Some("stamp".into()), ..seen };
        assert_eq!(vault.items().await, Ok(vec![known]));
        assert_eq!(found(&vault, &["words"]).await, ["a#0"]);
    }

    async fn ten_thousand_items_that_all_moved_are_stored(bed: Bed) {
        let vault = bed.open().await.vault("v").unwrap();
        let items = |shift: usize| -> Vec<VaultItem> {
            (0..10_000).map(|n| item(&format!("{n:05}"), "root", &format!("{}.txt", (n + shift) % 10_000))).collect()
        };
        vault.update(&new(items(0))).await.unwrap();
        vault.update(&moved(items(1))).await.unwrap();
        assert_eq!(vault.items().await.unwrap(), items(1));
    }

    async fn ten_thousand_items_are_stored(bed: Bed) {
        let vault = bed.open().await.vault("v").unwrap();
        let items: Vec<VaultItem> = (0..10_000).map(|n| item(&format!("{n:05}"), "root", &format!("{n}.txt"))).collect();
        vault.update(&new(items.clone())).await.unwrap();
        assert_eq!(vault.items().await.unwrap(), items);
    }

    async fn the_best_passages_come_first(bed: Bed) {
        let vault = bed.open().await.vault("v").unwrap();
        let names = ["a", "b", "c", "d"];
        let items: Vec<VaultItem> = names.iter().map(|id| item(id, "root", id)).collect();
        vault.update(&new(items.clone())).await.unwrap();
        let filler = "nothing of interest stands in these words at all";
        vault.read_all(&[read("a", "s", Some("digest"), [passage(filler), passage("the notice period is three months")])]).await.unwrap();
        vault.read_all(&[read("b", "s", None, [passage("a period of rain and of sun came over the hills")])]).await.unwrap();
        vault.read_all(&[read("c", "s", None, [passage(filler)])]).await.unwrap();
        vault.read_all(&[read("d", "s", None, [passage("notice notice notice of a period period period")])]).await.unwrap();
        // both terms, often; both terms; one
        assert_eq!(found(&vault, &["notice", "period"]).await, ["d#0", "a#1", "b#0"]);
        assert_eq!(found(&vault, &["notice"]).await, ["d#0", "a#1"]);
        assert_eq!(found(&vault, &["absent"]).await, [""; 0]);
        assert_eq!(found(&vault, &[]).await, [""; 0]);
        let hits = vault.find(&["notice".into(), "period".into()], 2).await.unwrap();
        assert_eq!(hits.len(), 2);
        assert!(hits[0].score > hits[1].score && hits[1].score > 0, "{hits:?}");
        assert_eq!(hits[1].text, "the notice period is three months");
        assert_eq!(vault.holders(&["notice".into(), "months".into()], 10).await, Ok(vec!["a".to_owned()]));
        assert_eq!(vault.holders(&["notice".into(), "hills".into()], 10).await, Ok(vec![]));
        let read = vault.items().await.unwrap().remove(0);
        assert_eq!((read.stamp.as_deref(), read.digest.as_deref()), (Some("s"), Some("digest")));
    }

    async fn passages_are_replaced_and_go_with_their_document(bed: Bed) {
        let store = bed.open().await;
        let vault = store.vault("v").unwrap();
        vault.update(&new([item("a", "root", "a"), item("b", "root", "b")])).await.unwrap();
        vault.read_all(&[read("a", "1", None, [passage("old words"), passage("more old words")])]).await.unwrap();
        vault.read_all(&[read("b", "1", None, [passage("old too")])]).await.unwrap();
        assert_eq!(found(&vault, &["old"]).await.len(), 3);
        vault.read_all(&[read("a", "2", None, [passage("new words")])]).await.unwrap();
        assert_eq!(found(&vault, &["old"]).await, ["b#0"]);
        assert_eq!(found(&vault, &["new"]).await, ["a#0"]);
        assert_eq!(found(&store.vault("other").unwrap(), &["new"]).await, [""; 0], "not in another vault");
        vault.update(&gone("a")).await.unwrap();
        assert_eq!(found(&vault, &["new", "words"]).await, [""; 0]);
    }

    async fn nothing_a_caller_asks_for_is_an_engines_language(bed: Bed) {
        let vault = bed.open().await.vault("v").unwrap();
        vault.update(&new([item("a", "root", "a")])).await.unwrap();
        vault.read_all(&[read("a", "1", None, [passage("near or and not 水道 été straße")])]).await.unwrap();
        for terms in [
            vec!["\"", "' | '", "*", ":*", "(", "!!", "<->", ":", "\\"],
            vec!["%", "_", "--", ";", "^"],
        ] {
            assert_eq!(found(&vault, &terms).await.len(), 0, "{terms:?}");
        }
        for term in ["near", "or", "and", "not", "水道", "été", "straße"] {
            assert_eq!(found(&vault, &[term]).await, ["a#0"], "{term}");
        }
        let long = "x".repeat(5000);
        vault.read_all(&[read("a", "2", None, [Passage { text: long.clone(), terms: vec![long[..64].to_owned(); 5_000] }])]).await.unwrap();
        assert_eq!(found(&vault, &[&long[..64]]).await, ["a#0"]);
    }

    async fn a_vault_without_a_name_does_not_exist(bed: Bed) {
        assert!(matches!(bed.open().await.vault(""), Err(StoreError::Invalid { .. })));
    }
}
