//! The limit against itself: ratios that should be 1, so their spread is what this machine adds by chance.

use super::machine::Machine;
use super::{GATE_WINDOW, LIMIT_WINDOW, Outcome, Pair, Plan, ask_limit, limit_of, passing};
use crate::failure::Failure;
use crate::workload::{Era, Workload};

pub(crate) async fn noise(plan: &Plan) -> Result<Outcome, Failure> {
    let machine = Machine::look().await;
    let mut outcome = Outcome {
        subject: "limit again",
        machine: machine.note().to_owned(),
        repetitions: plan.repetitions,
        ..Outcome::default()
    };
    for repetition in 1..=plan.repetitions {
        eprintln!("repetition {repetition}");
        for workloads in Workload::LOADED {
            for question in plan.questions(workloads, &[Era::Raw]) {
                let limit = limit_of(&machine, question.workload).await?;
                let other = limit_of(&machine, question.workload).await?;
                let pair = Pair {
                    limit: ask_limit(&machine, &limit, question, LIMIT_WINDOW).await?,
                    gate: ask_limit(&machine, &other, question, GATE_WINDOW).await?,
                };
                outcome.add(question, pair);
                limit.stop().await?;
                other.stop().await?;
            }
        }
        for question in plan.questions(&[Workload::W4], &[Era::Raw]) {
            let upstream = passing::upstream_of(&machine, question.workload).await?;
            let limit = passing::proxy(&machine, question.workload, &upstream).await?;
            let other = passing::proxy(&machine, question.workload, &upstream).await?;
            let pair = Pair {
                limit: ask_limit(&machine, &limit, question, LIMIT_WINDOW).await?,
                gate: ask_limit(&machine, &other, question, GATE_WINDOW).await?,
            };
            outcome.add(question, pair);
            for server in [limit, other, upstream] {
                server.stop().await?;
            }
        }
    }
    outcome.cells.sort_by_key(|cell| cell.question.workload);
    Ok(outcome)
}
