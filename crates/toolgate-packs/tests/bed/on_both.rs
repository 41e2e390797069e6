//! Tests on both engines: whoever has a `World` that knows how to be on each.

/// Makes a test for each engine out of each function.
macro_rules! on_both {
    ($($(#[$about:meta])* async fn $name:ident($world:ident: World) $body:block)+) => {
        $($(#[$about])* mod $name {
            use super::*;

            async fn check($world: World) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                World::on_sqlite(check).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                World::on_postgres(check).await;
            }
        })+
    };
}
