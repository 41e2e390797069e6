//! A limit on the records of refused attempts that a principal may cause, so that nobody fills the ledger with them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

const WINDOW: Duration = Duration::from_secs(60);
/// Records of one principal in a window.
const EACH: u32 = 30;
/// Principals that are counted apart. Further ones are counted together.
const MOST_PRINCIPALS: usize = 1_000;

/// Counts the records of each principal in the current window.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordBudget(Arc<Mutex<Window>>);

#[derive(Debug, Default)]
struct Window {
    began: Option<Instant>,
    by_principal: HashMap<Arc<str>, u32>,
    others: u32,
}

impl RecordBudget {
    /// Returns true if one more record fits; if so, it is counted.
    pub(crate) fn takes(&self, principal: &Arc<str>, now: Instant) -> bool {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if window.began.is_none_or(|began| now.saturating_duration_since(began) >= WINDOW) {
            *window = Window { began: Some(now), ..Window::default() };
        }
        let is_apart = window.by_principal.contains_key(principal) || window.by_principal.len() < MOST_PRINCIPALS;
        let Window { by_principal, others, .. } = &mut *window;
        let count = if is_apart { by_principal.entry(Arc::clone(principal)).or_default() } else { others };
        *count = count.saturating_add(1);
        *count <= EACH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(budget: &RecordBudget, principal: &str, now: Instant) -> usize {
        let principal = principal.into();
        (0..100).filter(|_| budget.takes(&principal, now)).count()
    }

    #[test]
    fn a_principal_has_so_many_records_a_minute_and_takes_none_of_another() {
        let (budget, now) = (RecordBudget::default(), Instant::now());
        assert_eq!(taken(&budget, "user:ann", now), 30);
        assert_eq!(taken(&budget, "user:bob", now), 30);
        assert_eq!(taken(&budget, "user:ann", now + WINDOW / 2), 0);
        assert_eq!(taken(&budget, "user:ann", now + WINDOW), 30);
    }

    #[test]
    fn memory_is_bounded_and_what_does_not_fit_is_counted_together() {
        let (budget, now) = (RecordBudget::default(), Instant::now());
        let all: usize = (0..1_500).map(|n| taken(&budget, &format!("user:{n}"), now)).sum();
        assert_eq!(all, 1_000 * 30 + 30);
    }
}
