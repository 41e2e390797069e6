use crate::bed::Bed;

on_both! {
    async fn a_secret_is_made_once_and_kept(bed: Bed) {
        let store = bed.open().await;
        assert_eq!(store.secrets().get_or_create("seal", || vec![0, 1, 255]).await, Ok(vec![0, 1, 255]));
        let again = store.secrets().get_or_create("seal", || panic!("it exists")).await;
        assert_eq!(again, Ok(vec![0, 1, 255]));
        assert_eq!(store.secrets().get_or_create("other", || vec![2]).await, Ok(vec![2]));
        store.close().await;
        let reopened = bed.open().await;
        assert_eq!(reopened.secrets().get_or_create("seal", || vec![9]).await, Ok(vec![0, 1, 255]));
    }

    async fn replicas_that_start_together_share_one_secret(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        let starts = (0..32u8).map(|n| {
            let secrets = if n % 2 == 0 { here.secrets() } else { there.secrets() };
            tokio::spawn(async move { secrets.get_or_create("seal", || vec![n]).await.unwrap() })
        });
        let mut seen = Vec::new();
        for start in starts.collect::<Vec<_>>() {
            seen.push(start.await.unwrap());
        }
        seen.dedup();
        assert_eq!(seen.len(), 1, "{seen:?}");
    }
}
