//! The text of documents. Files come from anywhere, so reading them is bounded in size and time, on a thread whose end
//! harms nobody.

mod docx;
#[cfg(test)]
#[path = "../../../tests/vault/files.rs"]
mod files;
#[cfg(test)]
mod growth_tests;
mod html;
mod pdf;
mod plain;

use std::{sync::Arc, time::Duration};

use tokio::sync::{Semaphore, oneshot};

/// How a document's text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Plain,
    Html,
    Docx,
    Pdf,
}

/// How much one document may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextLimits {
    /// Of the text, and of anything that is unpacked on the way to it.
    pub(super) bytes: usize,
    pub(super) time: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    /// There is more than the limit lets through.
    pub(super) cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TextFault {
    #[error("it is damaged or not what its name says ({0})")]
    Broken(String),
    #[error("it unpacks to more than {0} bytes")]
    TooLarge(usize),
    #[error("reading it took too long")]
    TimedOut,
    #[error("other documents are being read; try again shortly")]
    Busy,
}

/// Parsers stop at a nesting of their own; this leaves them room to get there.
const STACK: usize = 16 << 20;
/// A thread that does not end keeps its place, so that no more than this many ever run.
const AT_ONCE: usize = 4;

pub(super) struct Reader {
    places: Arc<Semaphore>,
    limits: TextLimits,
}

impl Reader {
    pub(super) fn new(limits: TextLimits) -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), limits }
    }

    pub(super) async fn read(&self, format: Format, content: Vec<u8>) -> Result<Text, TextFault> {
        let most = self.limits.bytes;
        self.apart(move || match format {
            Format::Plain => Ok(plain::text(&content)),
            Format::Html => Ok(html::text(&content)),
            Format::Docx => docx::text(&content, most),
            Format::Pdf => pdf::text(&content, most),
        })
        .await
        .map(|text| limited(text, most))
    }

    /// Runs a parser where its panic ends a thread and nothing else.
    async fn apart(
        &self,
        parse: impl FnOnce() -> Result<String, TextFault> + Send + 'static,
    ) -> Result<String, TextFault> {
        let waiting = tokio::time::timeout(self.limits.time, Arc::clone(&self.places).acquire_owned());
        let Ok(Ok(place)) = waiting.await else { return Err(TextFault::Busy) };
        let (answer, answered) = oneshot::channel();
        let work = move || {
            let _ = answer.send(parse());
            drop(place);
        };
        let started = std::thread::Builder::new().name("vault-text".to_owned()).stack_size(STACK).spawn(work);
        started.map_err(|fault| TextFault::Broken(fault.to_string()))?;
        match tokio::time::timeout(self.limits.time, answered).await {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => Err(TextFault::Broken("its parser gave up".to_owned())),
            Err(_) => Err(TextFault::TimedOut),
        }
    }
}

/// No more than the limit, and nothing that can't be stored or shown.
fn limited(text: String, most: usize) -> Text {
    let cut = text.len() > most;
    let text = if cut { text.get(..text.floor_char_boundary(most)).unwrap_or_default() } else { &text };
    let shown = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    Text { text: text.replace("\r\n", "\n").chars().filter(shown).collect(), cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Valid files with bytes changed, cut out and repeated: whatever they are then, reading them ends with an answer.
    #[tokio::test]
    async fn damaged_files_of_every_sort_are_answered() {
        let page = b"<title>a</title><p class='x'>b &amp; c<!-- d --><script>e</script><ul><li>f".to_vec();
        let word = files::docx(&["one", "two &amp; three"]);
        let pages = files::pdf(&["one", "two"]);
        let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        let reader = Reader::new(TextLimits { bytes: 10_000, time: Duration::from_secs(60) });
        for (format, whole) in [(Format::Html, page), (Format::Docx, word), (Format::Pdf, pages)] {
            for _ in 0..500 {
                let mut file = whole.clone();
                for _ in 0..=next(8) {
                    let at = next(file.len());
                    match next(4) {
                        0 => file[at] = u8::try_from(next(256)).unwrap(),
                        1 => file[at] ^= 1 << next(8),
                        2 => drop(file.drain(at..(at + next(20)).min(file.len()))),
                        _ => file.extend_from_within(at..(at + next(200)).min(file.len())),
                    }
                    if file.is_empty() {
                        file.push(b' ');
                    }
                }
                let answer = reader.read(format, file.clone()).await;
                let ended = !matches!(answer, Err(TextFault::TimedOut | TextFault::Busy));
                assert!(ended && answer != gave_up(), "{format:?}: {}", String::from_utf8_lossy(&file));
            }
        }
    }

    #[tokio::test]
    async fn what_unpacks_to_more_than_it_may_is_refused() {
        let reader = reader(Duration::from_secs(60));
        assert_eq!(reader.read(Format::Docx, files::docx_bomb()).await, Err(TextFault::TooLarge(10_000)));
    }

    fn gave_up() -> Result<Text, TextFault> {
        Err(TextFault::Broken("its parser gave up".to_owned()))
    }

    fn reader(time: Duration) -> Reader {
        Reader::new(TextLimits { bytes: 1000, time })
    }

    #[tokio::test]
    async fn a_parser_that_panics_is_an_answer() {
        let reader = reader(Duration::from_secs(60));
        let answer = reader.apart(|| panic!("a parser's own fault")).await;
        assert_eq!(answer, Err(TextFault::Broken("its parser gave up".to_owned())));
        assert_eq!(reader.apart(|| Ok("next".to_owned())).await, Ok("next".to_owned()));
        let all = u32::try_from(AT_ONCE).unwrap();
        assert!(reader.places.acquire_many(all).await.is_ok(), "a panic gives its place back");
    }

    #[tokio::test]
    async fn a_parser_that_does_not_end_is_not_waited_for() {
        let reader = reader(Duration::from_millis(1));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let stuck = reader.apart(move || {
            let _ = ended.recv();
            Ok(String::new())
        });
        assert_eq!(stuck.await, Err(TextFault::TimedOut));
        drop(end);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let cut = limited("水".repeat(1000), 1000);
        assert_eq!((cut.text.chars().count(), cut.cut), (333, true));
        assert_eq!(limited("a\0b\r\nc\u{7}".to_owned(), 100).text, "ab\nc");
    }
}
