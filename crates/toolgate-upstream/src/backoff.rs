//! Pauses before connecting again: each about twice the last, and never the same for two upstreams.

use std::time::Duration;

pub(crate) struct Backoff {
    least: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new((least, most): (Duration, Duration)) -> Self {
        Self { least, most, next: least }
    }

    pub(crate) fn reset(&mut self) {
        self.next = self.least;
    }

    /// Between half of the step and the whole of it.
    pub(crate) fn pause(&mut self) -> Duration {
        let step = self.next;
        self.next = (step * 2).min(self.most);
        let mut dice = [0; 1];
        // without randomness the pause is merely the same for all
        let _ = aws_lc_rs::rand::fill(&mut dice);
        let [dice] = dice;
        step / 2 + step * u32::from(dice) / 512
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest_and_start_over() {
        let mut backoff = Backoff::new((Duration::from_millis(100), Duration::from_millis(350)));
        for most in [100, 200, 350, 350] {
            let pause = backoff.pause().as_millis();
            assert!(pause >= most / 2 && pause <= most, "{pause} of {most}");
        }
        backoff.reset();
        assert!(backoff.pause().as_millis() <= 100);
    }
}
