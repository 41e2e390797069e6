use toolgate_store::{EVERYONE, RevocationKind, RevokedTokens};

use crate::bed::Bed;

fn revoked(kind: RevocationKind, name: &str, issued_until: i64, revoked_at: i64) -> RevokedTokens {
    RevokedTokens { kind, name: name.to_owned(), issued_until, revoked_at, expires_at: revoked_at + 1_000 }
}

on_both! {
    async fn a_revocation_is_kept_until_no_token_of_it_can_live(bed: Bed) {
        let store = bed.open().await;
        let revocations = store.token_revocations();
        let one = revoked(RevocationKind::Token, "jti", 5, 10);
        let ann = revoked(RevocationKind::Subject, "user:ann", 6, 20);
        let all = revoked(RevocationKind::Everyone, EVERYONE, 7, 30);
        for row in [&one, &ann, &all] {
            revocations.revoke(row).await.unwrap();
        }
        assert_eq!(revocations.list().await.unwrap(), [one, ann, all.clone()]);
        revocations.revoke(&revoked(RevocationKind::Everyone, EVERYONE, 3, 1_020)).await.unwrap();
        let left = revocations.list().await.unwrap();
        assert_eq!(left.len(), 1, "the others are forgotten: {left:?}");
        assert_eq!(left[0].issued_until, 7, "no revocation takes back another");
    }

    async fn a_revocation_is_known_to_every_store_before_it_is_answered(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        for n in 0..20 {
            there.rights().catch_up().await.unwrap();
            let (tokens, user) = (there.rights().token_revision(), there.rights().revision(None, Some("ann")));
            here.token_revocations().revoke(&revoked(RevocationKind::Token, &format!("jti-{n}"), 5, 10)).await.unwrap();
            there.rights().catch_up().await.unwrap();
            assert_ne!(there.rights().token_revision(), tokens);
            assert_eq!(there.rights().revision(None, Some("ann")), user, "it is about tokens alone");
        }
    }
}
