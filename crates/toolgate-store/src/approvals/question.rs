//! The statements about approvals that read, and the parts that all of them share.

/// The columns in the order of a record; the state is an expression, since it depends on the time.
macro_rules! columns {
    ($state:expr) => {
        concat!(
            "id, ",
            $state,
            ", asked_by, tenant, flow, tool, tool_digest, arguments_digest, rulebook_digest, owner, shown,
            four_eyes, asked_at, expires, answered_by, answered_at, reason, uses_left, wide_uses, wide_until"
        )
    };
}

/// In the very words of the partial indexes, or SQLite would not use them.
macro_rules! live {
    () => {
        "state IN ('pending', 'granted')"
    };
}

/// Whether its flow is over at a time. A flow that is not in the store (named in a token or in the
/// configuration) ends by other means.
macro_rules! flow_is_over {
    ($now:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM flows WHERE flows.id = approvals.flow
                AND (flows.closed IS NOT NULL OR flows.expires <= ",
            $now,
            "))"
        )
    };
}

/// The state at time `$4`: nobody has to come by and write down that something expired.
macro_rules! state_now {
    () => {
        concat!(
            "CASE WHEN NOT (",
            live!(),
            ") THEN state WHEN expires <= $4 THEN 'expired' WHEN ",
            flow_is_over!("$4"),
            " THEN 'ended' ELSE state END"
        )
    };
}

pub(crate) use {columns, flow_is_over, live};

pub(super) const GET: &str = concat!(
    "SELECT ",
    columns!(state_now!()),
    " FROM approvals WHERE ",
    in_scope!("owner", "asked_by"),
    " AND id = $5"
);

macro_rules! list {
    ($among:expr) => {
        concat!(
            "SELECT ",
            columns!(state_now!()),
            " FROM approvals WHERE ",
            in_scope!("owner", "asked_by"),
            " AND ",
            $among,
            " AND ($5 IS NULL OR $5 = ",
            state_now!(),
            ") AND ($6 IS NULL OR owner = $6) AND ($7 IS NULL OR asked_by = $7) AND ($8 IS NULL OR flow = $8)
            AND (asked_at, id) < ($9, $10) ORDER BY asked_at DESC, id DESC LIMIT $11"
        )
    };
}
pub(super) const LIST: &str = list!("TRUE");
/// What is pending is looked for among few, however many there ever were.
pub(super) const LIST_LIVE: &str = list!(live!());
