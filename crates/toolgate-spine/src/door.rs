//! How a tool reaches the path it stands on: the spine is made after its first house, and outlives each.

use std::sync::{Arc, OnceLock, Weak};

use crate::Spine;

/// Closed until the spine is there.
#[derive(Default)]
pub struct SpineDoor(OnceLock<Weak<Spine>>);

impl SpineDoor {
    /// Once: there is one spine.
    pub fn open(&self, spine: &Arc<Spine>) {
        let _ = self.0.set(Arc::downgrade(spine));
    }

    pub fn spine(&self) -> Option<Arc<Spine>> {
        self.0.get().and_then(Weak::upgrade)
    }
}
