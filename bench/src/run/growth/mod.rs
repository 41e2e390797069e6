//! W6: what the tools of a team and of tasks read from the store, with a hundred agents and with ten thousand.
//!
//! A store for each size is filled by its own contract; then all are asked in turns, so that what else the computer does
//! meets them alike.

mod ask;
mod fill;

use std::time::Duration;

use serde::Serialize;
use toolgate_store::{Location, Store};

use self::ask::{Filled, QUESTIONS, Question};
use crate::failure::{Doing, Failure};
use crate::report::median;

/// How much there is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Size {
    pub(crate) agents: usize,
    pub(crate) tasks: usize,
    pub(crate) messages: usize,
}

const SIZES: [Size; 3] = [
    Size { agents: 100, tasks: 1_000, messages: 10_000 },
    Size { agents: 1_000, tasks: 10_000, messages: 100_000 },
    Size { agents: 10_000, tasks: 100_000, messages: 1_000_000 },
];
const PROJECT: &str = "growth";
/// Who gets every tenth message.
const BUSY: usize = 0;
/// How often the sizes take turns, and how often each is asked in one.
const TURNS: usize = 40;
const IN_A_TURN: usize = 20;
/// Turns that only warm up.
const WARM_UP: usize = 8;

/// The figures of all sizes.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Growth {
    pub(crate) sizes: Vec<Size>,
    pub(crate) reads: Vec<Read>,
}

/// What one question costs at each size.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Read {
    pub(crate) what: &'static str,
    pub(crate) costs: Vec<Cost>,
}

/// What one answer costs.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Cost {
    /// Microseconds until it is there, the median.
    pub(crate) took: f64,
    /// Microseconds of CPU, the median of some asked in a row.
    pub(crate) cpu: f64,
    /// Steps of SQLite's machine, the mean: the same whatever else the computer does.
    pub(crate) steps: f64,
}

pub(super) async fn measure(quick: bool) -> Result<Growth, Failure> {
    let folder = tempfile::tempdir().doing("making a folder")?;
    let mut filled = Vec::new();
    for size in SIZES.into_iter().take(if quick { 2 } else { 3 }) {
        eprintln!("growth: {} agents, {} tasks, {} messages", size.agents, size.tasks, size.messages);
        let location = Location::Sqlite(folder.path().join(format!("growth-{}.db", size.agents)));
        let store = Store::open(&location).await?;
        fill::fill(&store, size).await?;
        store.close().await;
        // opened anew, as after a start: nothing is left in the write-ahead log, and the caches hold what is asked for alone
        filled.push(Filled::new(size, Store::open(&location).await?)?);
    }
    let mut growth = Growth { sizes: filled.iter().map(|store| store.size).collect(), reads: Vec::new() };
    for (what, question) in QUESTIONS {
        growth.reads.push(Read { what, costs: costs(&filled, question).await? });
    }
    for store in filled {
        store.store.close().await;
    }
    Ok(growth)
}

async fn costs(filled: &[Filled], question: Question) -> Result<Vec<Cost>, Failure> {
    let mut figures: Vec<Figures> = filled.iter().map(|_| Figures::default()).collect();
    for turn in 0..WARM_UP + TURNS {
        for (store, figures) in filled.iter().zip(&mut figures) {
            let spell = store.spell(question, turn * IN_A_TURN..(turn + 1) * IN_A_TURN).await?;
            if turn < WARM_UP {
                continue;
            }
            figures.took.extend(spell.each.iter().map(|took| micros(*took)));
            figures.cpu.push(micros(spell.cpu) / count(IN_A_TURN));
            figures.steps += spell.steps;
        }
    }
    let cost = |figures: Figures| {
        let steps = f64::from(u32::try_from(figures.steps).unwrap_or(u32::MAX)) / count(TURNS * IN_A_TURN);
        Cost { took: median(&figures.took), cpu: median(&figures.cpu), steps }
    };
    Ok(figures.into_iter().map(cost).collect())
}

#[derive(Default)]
struct Figures {
    took: Vec<f64>,
    cpu: Vec<f64>,
    steps: u64,
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

fn own_word(number: usize) -> String {
    format!("word{number}")
}

fn name(number: usize) -> String {
    format!("agent-{number:05}")
}
