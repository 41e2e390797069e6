//! The lines about growth: what each read takes at each size, and how that compares with the smallest.

use crate::run::{Growth, Reads};

/// One of the figures.
type Figure = fn(&Reads) -> f64;
/// How many of something there are.
type Count = fn(&Growth) -> usize;

const FIGURES: [(&str, Figure); 7] = [
    ("list of open tasks", |reads| reads.list),
    ("the same, from the middle", |reads| reads.deep),
    ("what waits for an agent", |reads| reads.waiting),
    ("a poll's look", |reads| reads.poll),
    ("pending messages", |reads| reads.pending),
    ("pending messages of who has most", |reads| reads.pending_busy),
    ("search for a word of one text", |reads| reads.search),
];

/// One line for each kind of read; none where nothing was measured.
pub(super) fn growth_lines(growth: &[Growth]) -> String {
    let Some(least) = growth.first() else { return String::new() };
    let sizes: Vec<String> =
        growth.iter().map(|size| format!("{}/{}/{}", size.agents, size.tasks, size.messages)).collect();
    let mut lines =
        format!("- W6 growth, agents/tasks/messages {}, microseconds and multiples of the first:\n", sizes.join(", "));
    for (what, figure) in FIGURES {
        let of = |size: &Growth| {
            let micros = figure(&size.reads);
            format!("{micros:.0} ({:.2})", micros / figure(&least.reads))
        };
        let figures: Vec<String> = growth.iter().map(of).collect();
        lines.push_str(&format!("  - {what}: {}\n", figures.join(", ")));
    }
    let counts: [(&str, Count); 2] = [("tasks", |size| size.tasks), ("messages", |size| size.messages)];
    for (what, count) in counts {
        let of = |size: &Growth| format!("{:.2}", ln(count(size)) / ln(count(least)));
        let logarithms: Vec<String> = growth.iter().map(of).collect();
        lines.push_str(&format!("  - the logarithm of the {what}: {}\n", logarithms.join(", ")));
    }
    lines
}

fn ln(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(agents: usize, micros: f64) -> Growth {
        let reads = Reads {
            list: micros,
            deep: micros,
            waiting: micros,
            poll: micros,
            pending: micros,
            pending_busy: micros * 2.0,
            search: micros,
        };
        Growth { agents, tasks: agents * 10, messages: agents * 100, reads }
    }

    #[test]
    fn a_line_has_every_size_and_its_multiple_of_the_first() {
        let lines = growth_lines(&[size(100, 100.0), size(1_000, 150.0)]);
        assert!(lines.contains("agents/tasks/messages 100/1000/10000, 1000/10000/100000"), "{lines}");
        assert!(lines.contains("- a poll's look: 100 (1.00), 150 (1.50)\n"), "{lines}");
        assert!(lines.contains("- the logarithm of the tasks: 1.00, 1.33\n"), "{lines}");
        assert!(lines.contains("- the logarithm of the messages: 1.00, 1.25\n"), "{lines}");
        assert_eq!(growth_lines(&[]), "");
    }
}
