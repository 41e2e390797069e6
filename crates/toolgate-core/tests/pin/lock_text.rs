//! The text of the lock: what is written is read back, and what is not a lock is refused with the line.

use toolgate_core::pin::{Choice, Lock};

use super::{
    accepted,
    random::{CHARS, dressed, object, text},
    raw,
};
use crate::fixtures::random::Random;

const READ: &str = "{\"name\":\"read\",\"description\":\"Reads.\u{200b}\u{e0041}\"}";

fn reason(text: &str) -> String {
    Lock::parse(text).unwrap_err().to_string()
}

#[test]
fn a_lock_reads_well() {
    let lock = accepted(&[("read", READ), ("a tool", "{\"name\":\"a tool\"}")]);
    insta::assert_snapshot!(lock.render());
    assert_eq!(Lock::parse(&lock.render()), Ok(lock));
}

#[test]
fn an_empty_lock_is_a_lock_and_an_empty_file_is_none() {
    assert_eq!(Lock::parse(&Lock::new().render()), Ok(Lock::new()));
    assert_eq!(reason(""), "line 1: expected 'version 1' and found nothing: delete the file or restore it");
}

#[test]
fn blank_lines_comments_line_ends_and_order_do_not_matter() {
    let lock = accepted(&[("read", READ), ("write", "{}")]);
    let text = lock.render();
    assert_eq!(Lock::parse(&text.replace('\n', "\r\n\r\n# a note\r\n")), Ok(lock.clone()));
    let mut lines: Vec<&str> = text.lines().collect();
    let last = lines.split_off(lines.len() - 2);
    let at = lines.iter().position(|line| line.starts_with("files ")).unwrap();
    lines.splice(at..at, last);
    assert_eq!(Lock::parse(&lines.join("\n")), Ok(lock));
}

#[test]
fn what_is_no_lock_is_refused_with_line_and_reason() {
    let text = accepted(&[("read", "{}")]).render();
    let pin = text.lines().skip(4).collect::<Vec<_>>().join("\n");
    let reasons = [
        reason("version 2\n"),
        reason("hello\u{202e} there\n"),
        reason(&text.replace("{}", "{\"a\":1}")),
        reason(&text.replace("    {}", "{}")),
        reason(&text.replace("    {}\n", "")),
        reason(&text.replace("    {}", "    {")),
        reason(&text.replace("sha256:44", "sha256:4G")),
        reason(&text.replace("files read", "read")),
        reason(&text.replace("files read", "fi\u{435}les read")),
        reason(&text.replace("files read", "\"files read")),
        reason(&format!("{text}{pin}\n")),
        reason(&format!("{text}    {{}}\n")),
        reason(&text.replace("files read", "<<<<<<< ours\nfiles read")),
    ];
    insta::assert_snapshot!(reasons.join("\n"));
}

#[test]
fn nothing_invisible_stands_in_the_file() {
    let mut random = Random::new(51);
    for _ in 0..300 {
        let name = text(&mut random, 6);
        let definition = dressed(&object(&mut random, 3), &mut random);
        let written = accepted(&[(&name, &definition)]).render();
        let seen = |c: char| c == '\n' || toolgate_core::pin::unseen(c).is_none();
        assert!(written.chars().all(seen), "{written:?}");
    }
}

fn random_lock(random: &mut Random) -> Lock {
    let mut lock = Lock::new();
    for _ in 0..random.below(4) {
        let upstream = text(random, 5);
        for _ in 0..random.below(4) {
            let name = if random.one_in(2) { "read".to_owned() } else { text(random, 8) };
            let definition = raw(&dressed(&object(random, 3), random));
            lock.accept(&upstream, Choice::Named(&[&name]), &[(&name, &definition)]);
        }
    }
    lock
}

#[test]
fn every_lock_is_read_back_as_it_was_written() {
    let mut random = Random::new(52);
    for _ in 0..1_000 {
        let lock = random_lock(&mut random);
        let text = lock.render();
        let again = Lock::parse(&text).unwrap_or_else(|bad| panic!("{bad}\n{text}"));
        assert_eq!(again, lock);
        assert_eq!(again.render(), text);
    }
}

#[test]
fn a_damaged_lock_is_refused_or_holds_only_what_was_in_it() {
    let mut random = Random::new(53);
    for _ in 0..3_000 {
        let lock = random_lock(&mut random);
        let mut chars: Vec<char> = lock.render().chars().collect();
        match random.below(3) {
            0 => chars.truncate(random.below(chars.len())),
            1 => drop(chars.remove(random.below(chars.len()))),
            _ => chars.insert(random.below(chars.len()), random.pick(CHARS)),
        }
        let Ok(read) = Lock::parse(&chars.iter().collect::<String>()) else { continue };
        // A name may be damaged unnoticed: its tool is then new. A definition may not.
        let definitions = |lock: &Lock| -> Vec<String> {
            let pins = lock.upstreams().flat_map(|upstream| lock.accepted(upstream));
            pins.map(|(_, pin)| pin.as_str().to_owned()).collect()
        };
        let known = definitions(&lock);
        assert!(definitions(&read).iter().all(|definition| known.contains(definition)));
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    let mut random = Random::new(54);
    let pieces = ["version 1\n", "files ", "\"", "read ", "sha256:", "    ", "{", "}", "\n", "\\u", "#", "\r"];
    for _ in 0..20_000 {
        let mut garbage = if random.one_in(2) { "version 1\n".to_owned() } else { String::new() };
        for _ in 0..random.below(8) {
            garbage.push_str(random.pick(&pieces));
            garbage.push_str(&text(&mut random, 2));
        }
        let _ = Lock::parse(&garbage);
    }
}
