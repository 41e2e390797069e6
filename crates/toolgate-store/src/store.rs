//! The store: opens a database and hands out one room per kind of record.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::{Change, Changes, Keys, Location, Secrets, Sessions, StoreError, Tasks, TodoRepository, engine::Engine};

/// An open database. Clones share its connections.
#[derive(Clone)]
pub struct Store {
    engine: Arc<Engine>,
    subscriptions: broadcast::WeakSender<Change>,
}

impl Store {
    /// Opens the database, creating and migrating it where needed. Must be called within a Tokio
    /// runtime.
    pub async fn open(location: &Location) -> Result<Self, StoreError> {
        let (engine, subscriptions) = Engine::open(location).await?;
        Ok(Self { engine: Arc::new(engine), subscriptions })
    }

    pub fn keys(&self) -> Keys {
        Keys::new(self.engine.clone())
    }

    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.engine.clone())
    }

    pub fn sessions(&self) -> Sessions {
        Sessions::new(self.engine.clone())
    }

    pub fn secrets(&self) -> Secrets {
        Secrets::new(self.engine.clone())
    }

    /// The todo list of exactly one user.
    pub fn todo(&self, user: &str) -> Result<TodoRepository, StoreError> {
        TodoRepository::new(self.engine.clone(), user)
    }

    /// Changes committed from now on, by this process and, as far as the engine can tell, by
    /// others: PostgreSQL names each change to every replica; SQLite names its own and says
    /// `Resync` when another process wrote.
    pub fn changes(&self) -> Changes {
        let closed = || broadcast::channel(1).1;
        Changes::new(self.subscriptions.upgrade().map_or_else(closed, |announcer| announcer.subscribe()))
    }

    /// Whether the database takes writes now.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.engine.ping().await
    }

    /// Finishes what is under way and lets go of the database; every later call, by any clone,
    /// fails.
    pub async fn close(&self) {
        self.engine.close().await;
    }
}
