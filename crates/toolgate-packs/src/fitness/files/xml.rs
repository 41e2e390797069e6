//! XML read tag by tag: no tree, no entities, no declarations of its own, so that a small file stays small.

use quick_xml::{Reader, events::Event};

use super::Refused;

/// Text of one element; what is beyond it is not kept.
const LONGEST_TEXT: usize = 4_096;

/// What hears of the tags, by their names without prefixes.
pub(super) trait Listener {
    /// A tag begins; `attribute` looks one of it up.
    fn begin(&mut self, name: &str, attribute: &dyn Fn(&str) -> Option<String>) -> Result<(), Refused>;

    /// A tag ends; `text` is what stood right before its end.
    fn end(&mut self, name: &str, text: &str) -> Result<(), Refused>;
}

pub(super) fn walk(content: &[u8], listener: &mut impl Listener) -> Result<(), Refused> {
    let broken = |fault: &dyn std::fmt::Display| Refused::Broken(fault.to_string());
    let xml = std::str::from_utf8(content).map_err(|_| Refused::Broken("it is not UTF-8".to_owned()))?;
    let mut reader = Reader::from_str(xml);
    let mut text = String::new();
    loop {
        match reader.read_event().map_err(|fault| broken(&fault))? {
            Event::Start(tag) => {
                let attribute = |name: &str| tag.try_get_attribute(name).ok().flatten().map(|found| found.value.into());
                listener.begin(tag.local_name().as_ref(), &attribute)?;
                text.clear();
            }
            Event::Empty(tag) => {
                let attribute = |name: &str| tag.try_get_attribute(name).ok().flatten().map(|found| found.value.into());
                listener.begin(tag.local_name().as_ref(), &attribute)?;
                listener.end(tag.local_name().as_ref(), "")?;
                text.clear();
            }
            Event::End(tag) => {
                listener.end(tag.local_name().as_ref(), text.trim())?;
                text.clear();
            }
            Event::Text(words) => keep(&mut text, &words),
            Event::CData(words) => keep(&mut text, &words),
            Event::GeneralRef(name) => keep(&mut text, character(&name)),
            Event::DocType(_) => return Err(Refused::Broken("it declares types of its own".to_owned())),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn keep(text: &mut String, words: &str) {
    let room = LONGEST_TEXT.saturating_sub(text.len());
    text.push_str(words.get(..words.floor_char_boundary(room)).unwrap_or_default());
}

/// The five that XML knows. Nothing else is looked up.
fn character(name: &str) -> &'static str {
    match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Listener for Heard {
        fn begin(&mut self, name: &str, attribute: &dyn Fn(&str) -> Option<String>) -> Result<(), Refused> {
            self.0.push(format!("<{name} {}", attribute("a").unwrap_or_default()));
            Ok(())
        }

        fn end(&mut self, name: &str, text: &str) -> Result<(), Refused> {
            self.0.push(format!("{name}={text}"));
            Ok(())
        }
    }

    #[test]
    fn tags_are_heard_in_order_with_their_text() {
        let mut heard = Heard::default();
        walk(b"<?xml version='1.0'?><x:r a='1'>no<t> A &amp; <![CDATA[<B>]]></t><e a='2'/></x:r>", &mut heard).unwrap();
        assert_eq!(heard.0, ["<r 1", "<t ", "t=A & <B>", "<e 2", "e=", "r="]);
    }

    #[test]
    fn declarations_are_refused_and_texts_are_bounded() {
        let bomb = b"<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><x>&b;</x>";
        assert!(matches!(walk(bomb, &mut Heard::default()), Err(Refused::Broken(_))));
        let long = format!("<x>{}</x>", "字".repeat(100_000));
        let mut heard = Heard::default();
        walk(long.as_bytes(), &mut heard).unwrap();
        assert!(heard.0[1].len() <= LONGEST_TEXT + 2);
        let deep = "<x>".repeat(200_000);
        walk(deep.as_bytes(), &mut Heard::default()).unwrap();
    }
}
