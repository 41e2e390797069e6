//! The life of a team's task.

use super::machine::Machine;

words! {
    TaskStatus {
        Backlog = "backlog",
        Todo = "todo",
        InProgress = "in_progress",
        Blocked = "blocked",
        Done = "done",
        Cancelled = "cancelled",
    }
}

use TaskStatus::{Backlog, Blocked, Cancelled, Done, InProgress, Todo};

impl Machine for TaskStatus {
    const WORD: &'static str = "status";
    const STEPS: &'static [(Self, Self)] = &[
        (Backlog, Todo),
        (Backlog, Cancelled),
        (Todo, InProgress),
        (Todo, Backlog),
        (Todo, Cancelled),
        (InProgress, Done),
        (InProgress, Blocked),
        (Blocked, InProgress),
        (Blocked, Cancelled),
    ];
}

words! {
    /// How urgent, the least first.
    TaskPriority { Low = "low", Medium = "medium", High = "high", Urgent = "urgent" }
}

words! {
    /// What whoever worked on a task says came of it.
    TaskResult { Success = "success", Failed = "failed", Blocked = "blocked" }
}

impl TaskResult {
    /// Where it takes the task.
    pub fn status(self) -> TaskStatus {
        match self {
            Self::Success => Done,
            Self::Failed | Self::Blocked => Blocked,
        }
    }
}

words! {
    /// Whether a task that an agent asked for may be worked on.
    TaskApproval { Approved = "approved", Pending = "pending_approval", Rejected = "rejected" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table as people draw it, not as the code has it.
    fn drawn(from: TaskStatus) -> &'static str {
        match from {
            Backlog => "todo cancelled",
            Todo => "in_progress backlog cancelled",
            InProgress => "done blocked",
            Blocked => "in_progress cancelled",
            Done | Cancelled => "",
        }
    }

    #[test]
    fn every_pair_is_a_step_exactly_where_the_drawing_has_an_arrow() {
        for from in TaskStatus::ALL {
            for to in TaskStatus::ALL {
                let arrow = drawn(*from).split(' ').any(|word| word == to.as_str());
                assert_eq!(from.step(*to).is_ok(), arrow, "{from} to {to}");
            }
        }
    }

    #[test]
    fn done_and_cancelled_are_final_and_nothing_leads_to_itself() {
        let finals: Vec<_> = TaskStatus::ALL.iter().filter(|status| status.is_final()).collect();
        assert_eq!(finals, [&Done, &Cancelled]);
        assert!(TaskStatus::ALL.iter().all(|status| status.step(*status).is_err()));
    }

    #[test]
    fn a_refusal_names_both_ends() {
        let refused = Backlog.step(Done).unwrap_err();
        assert_eq!(refused.to_string(), "Invalid status transition from backlog to done");
    }

    #[test]
    fn whatever_is_reported_ends_a_task_in_progress() {
        assert!(TaskResult::ALL.iter().all(|result| InProgress.step(result.status()).is_ok()));
    }
}
