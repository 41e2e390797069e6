//! `approvals list`: a table that fits the terminal.

use std::collections::HashSet;

use serde_json::Value;
use toolgate_spine::{approval_json, arguments_summary};
use toolgate_store::{Approval, ApprovalFilter, ApprovalState, Scope};

use super::{terminal, time_span::span};
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
    commands::{
        books::{SUMMARY, gathered, json, line, note_cut, store},
        print,
        table::table,
    },
    ground,
};

/// Characters of arguments that a narrow terminal still shows.
const FEWEST: usize = 20;
/// Characters of a caller or a tool: the first number that leaves room for arguments.
const NAMES: [usize; 4] = [32, 24, 16, 10];

pub async fn run(place: &Place, filter: &ApprovalFilter, limit: u32, output: Output) -> CommandResult {
    let store = store(place).await?;
    let list = async |paging| store.approvals().list(&Scope::Everything, filter, ground::now(), &paging).await;
    let gathered = gathered(limit, list).await;
    store.close().await;
    let (found, more) = gathered?;
    let text = match found.as_slice() {
        [] => "There are no such approvals.\n".to_owned(),
        found => in_columns(found, ground::now(), terminal::width()),
    };
    print(output, &found.iter().map(approval_json).collect::<Vec<_>>(), &text)?;
    note_cut(more, limit);
    Ok(Ending::Good)
}

const HEADER: [&str; 6] = ["ID", "STATE", "AGE", "LEFT", "BY", "TOOL"];

/// The approvals as rows. The arguments have the rest of the width, or so many characters where no terminal sets one; callers
/// and tools are cut as far as that takes.
fn in_columns(found: &[Approval], now: i64, width: Option<usize>) -> String {
    let ids = unique_ids(found);
    let rows = |name: usize| -> Vec<[String; 6]> {
        found.iter().zip(&ids).map(|(approval, id)| row(approval, id, now, name)).collect()
    };
    let room = |rows: &[[String; 6]]| width.map_or(SUMMARY, |width| width.saturating_sub(used(rows)));
    let (mut shown, mut most) = (Vec::new(), 0);
    for name in NAMES {
        shown = rows(name);
        most = room(&shown);
        if most >= FEWEST {
            break;
        }
    }
    let most = most.max(FEWEST);
    let arguments = |approval: &Approval| {
        let shown = json(&approval.shown);
        cut(&arguments_summary(shown.get("arguments").unwrap_or(&Value::Null), most), most)
    };
    let [id, state, age, left, by, tool] = HEADER;
    table(
        [id, state, age, left, by, tool, "ARGUMENTS"],
        shown
            .into_iter()
            .zip(found)
            .map(|([id, state, age, left, by, tool], approval)| [id, state, age, left, by, tool, arguments(approval)]),
    )
}

fn row(approval: &Approval, id: &str, now: i64, name: usize) -> [String; 6] {
    let is_live = matches!(approval.state, ApprovalState::Pending | ApprovalState::Granted);
    [
        id.to_owned(),
        approval.state.to_string(),
        span(now.saturating_sub(approval.asked_at)),
        if is_live { span(approval.expires.saturating_sub(now)) } else { String::new() },
        cut(&line(&approval.binding.asked_by), name),
        cut(&line(&approval.binding.tool), name),
    ]
}

/// Columns that the rows take before their arguments.
fn used(rows: &[[String; 6]]) -> usize {
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    HEADER.iter().enumerate().map(|(column, name)| widest(column).unwrap_or_default().max(name.len()) + 2).sum()
}

/// Ids cut to the shortest beginning, of a short id's length at least, by which these approvals differ.
fn unique_ids(found: &[Approval]) -> Vec<&str> {
    let beginnings = |length: usize| -> Vec<&str> {
        found.iter().map(|approval| approval.id.get(..length).unwrap_or(&approval.id)).collect()
    };
    let (shortest, longest) = found
        .iter()
        .fold((0, 0), |(short, long), approval| (approval.short_id().len().max(short), approval.id.len().max(long)));
    let differ = |ids: &[&str]| ids.iter().collect::<HashSet<_>>().len() == ids.len();
    (shortest..longest).map(beginnings).find(|ids| differ(ids)).unwrap_or_else(|| beginnings(longest))
}

/// At most so many characters; the last one of a text that is cut is `…`.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use toolgate_store::Binding;

    use super::*;

    fn approval(id: &str, tool: &str, note: &str) -> Approval {
        Approval {
            id: id.to_owned(),
            state: ApprovalState::Pending,
            binding: Binding {
                asked_by: "user:ann agent:scribe".into(),
                tenant: None,
                flow: None,
                tool: tool.to_owned(),
                tool_digest: [0; 32],
                arguments_digest: [0; 32],
                rulebook_digest: [0; 32],
            },
            owner: "user:ann".into(),
            shown: serde_json::json!({"arguments": {"note": note}}).to_string(),
            four_eyes: false,
            asked_at: 0,
            expires: 3_600_000,
            answered_by: None,
            answered_at: None,
            reason: None,
            uses_left: 0,
            wide: None,
        }
    }

    #[test]
    fn rows_fit_the_terminal_and_ids_are_as_short_as_they_can_be() {
        let long = "x".repeat(500);
        let found = [
            approval("appr_0653a1b2000000000000000000000001", "vault.move", &long),
            approval("appr_0653a1b3020000000000000000000002", &long, "a\nb"),
            approval("appr_0653a1b3030000000000000000000003", "pay", "short"),
        ];
        for width in [100, 130, 200] {
            let text = in_columns(&found, 65_000, Some(width));
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            assert_eq!(text.lines().count(), 4, "{text}");
        }
        let text = in_columns(&found, 65_000, None);
        for id in ["appr_0653a1b200  ", "appr_0653a1b302  ", "appr_0653a1b303  "] {
            assert!(text.contains(id), "as long as it takes to tell them apart: {text}");
        }
        let narrow = in_columns(&found[..1], 65_000, Some(80));
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(narrow.contains("appr_0653a1b2  "), "{narrow}");
        assert!(text.contains("  1m   58m   user:ann agent:scribe"), "{text}");
        assert!(text.contains("note=\"a\\nb\""), "{text}");
    }
}
