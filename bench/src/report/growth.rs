//! The lines about growth: what each read costs at each size, and how that compares with the smallest.

use crate::run::{Cost, Growth, Read, Size};

/// How many of something there are.
type Count = fn(&Size) -> usize;

/// One line for each kind of read; none where nothing was measured.
pub(super) fn growth_lines(growth: &Growth) -> String {
    let Some(least) = growth.sizes.first() else { return String::new() };
    let sizes: Vec<String> =
        growth.sizes.iter().map(|size| format!("{}/{}/{}", size.agents, size.tasks, size.messages)).collect();
    let mut lines = format!("- W6 growth, agents/tasks/messages {}, with multiples of the first:\n", sizes.join(", "));
    lines.extend(growth.reads.iter().map(line));
    let counts: [(&str, Count); 2] = [("tasks", |size| size.tasks), ("messages", |size| size.messages)];
    for (what, count) in counts {
        let of = |size: &Size| format!("{:.2}", ln(count(size)) / ln(count(least)));
        let logarithms: Vec<String> = growth.sizes.iter().map(of).collect();
        lines.push_str(&format!("  - the logarithm of the {what}: {}\n", logarithms.join(", ")));
    }
    lines
}

fn line(read: &Read) -> String {
    let of = |figure: fn(&Cost) -> f64| multiples(&read.costs, figure);
    let (cpu, took, steps) = (of(|cost| cost.cpu), of(|cost| cost.took), of(|cost| cost.steps));
    format!("  - {}: CPU µs {cpu}; µs {took}; SQLite's steps {steps}\n", read.what)
}

fn multiples(costs: &[Cost], figure: fn(&Cost) -> f64) -> String {
    let first = costs.first().map(figure).unwrap_or_default();
    let each = costs.iter().map(|cost| format!("{:.0} ({:.2})", figure(cost), figure(cost) / first));
    each.collect::<Vec<_>>().join(", ")
}

fn ln(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_every_size_and_its_multiple_of_the_first() {
        let size = |agents| Size { agents, tasks: agents * 10, messages: agents * 100 };
        let cost = |micros| Cost { took: micros, cpu: micros / 2.0, steps: 7.0 };
        let read = Read { what: "a poll's look", costs: vec![cost(100.0), cost(150.0)] };
        let lines = growth_lines(&Growth { sizes: vec![size(100), size(1_000)], reads: vec![read] });
        assert!(lines.contains("agents/tasks/messages 100/1000/10000, 1000/10000/100000"), "{lines}");
        let figures = "CPU µs 50 (1.00), 75 (1.50); µs 100 (1.00), 150 (1.50); SQLite's steps 7 (1.00), 7 (1.00)";
        assert!(lines.contains(&format!("- a poll's look: {figures}\n")), "{lines}");
        assert!(lines.contains("- the logarithm of the tasks: 1.00, 1.33\n"), "{lines}");
        assert!(lines.contains("- the logarithm of the messages: 1.00, 1.25\n"), "{lines}");
        assert_eq!(growth_lines(&Growth::default()), "");
    }
}
