//! How much an agent has in progress, as part of a statement.

/// Tasks in progress that an agent works at, beside the task that it would be part of: one that waits for a part of itself takes
/// no room.
macro_rules! at_work {
    ($agent:literal, $beside:literal) => {
        concat!(
            "(SELECT COUNT(*) FROM team_tasks busy WHERE busy.assignee = ",
            $agent,
            " AND busy.status = 'in_progress' AND busy.id IS DISTINCT FROM ",
            $beside,
            " AND NOT EXISTS (SELECT 1 FROM team_tasks bit
                WHERE bit.parent = busy.id AND bit.assignee = busy.assignee AND bit.status = 'in_progress'))"
        )
    };
}

/// What a task waits for.
macro_rules! unmet {
    ($task:literal) => {
        concat!(
            "FROM team_task_needs JOIN team_tasks need ON need.id = team_task_needs.needs
            WHERE team_task_needs.task = ",
            $task,
            " AND need.status <> 'done'"
        )
    };
}

pub(super) use {at_work, unmet};
