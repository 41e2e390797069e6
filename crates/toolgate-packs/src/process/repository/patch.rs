//! The difference between two commits as text, in the format of `git diff`.

use std::{ops::Range, time::Duration};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use super::{
    Repository,
    error::RepositoryError,
    object::{ObjectKind, TreeEntry},
    object_id::ObjectId,
    tree_diff::{FileChange, changed_files},
};

/// Lines around a change.
const CONTEXT: usize = 3;
/// Lines of one file that are compared; a larger file is only said to differ.
const MOST_LINES: usize = 200_000;
/// The time for comparing one file. After it, the rest of the file is one change.
const FILE_TIME: Duration = Duration::from_secs(2);
/// The bytes in which a file of text has no byte nought.
const PROBED: usize = 8_000;

/// One side of a difference.
enum Content {
    Text(Vec<u8>),
    Opaque,
}

impl Repository {
    /// Writes the difference from a commit to HEAD, until the text has more than `most` bytes.
    pub(in crate::process) fn diff(&self, since: &ObjectId, most: usize) -> Result<Vec<u8>, RepositoryError> {
        let (old, new) = (self.commit(since)?.tree, self.commit(&self.head)?.tree);
        let mut text = Vec::new();
        for change in changed_files(self, &old, &new)? {
            if text.len() > most {
                break;
            }
            match (change.old, change.new) {
                // a file that becomes a link, or the other way round, is removed and added
                (Some(old), Some(new)) if old.file_type() != new.file_type() => {
                    self.write_change(&FileChange { new: None, ..change.clone() }, most, &mut text)?;
                    self.write_change(&FileChange { old: None, ..change }, most, &mut text)?;
                }
                _ => self.write_change(&change, most, &mut text)?,
            }
        }
        Ok(text)
    }

    fn write_change(&self, change: &FileChange, most: usize, text: &mut Vec<u8>) -> Result<(), RepositoryError> {
        let old_path = quoted(b"a/", change.renamed_from.as_ref().unwrap_or(&change.path));
        let new_path = quoted(b"b/", &change.path);
        line(text, &[b"diff --git ", &old_path, b" ", &new_path]);
        let mode = |entry: TreeEntry| format!("{:06o}", entry.mode).into_bytes();
        match (change.old, change.new) {
            (Some(old), Some(new)) if old.mode != new.mode => {
                line(text, &[b"old mode ", &mode(old)]);
                line(text, &[b"new mode ", &mode(new)]);
            }
            (Some(old), None) => line(text, &[b"deleted file mode ", &mode(old)]),
            (None, Some(new)) => line(text, &[b"new file mode ", &mode(new)]),
            _ => {}
        }
        if let Some(from) = &change.renamed_from {
            line(text, &[b"similarity index 100%"]);
            line(text, &[b"rename from ", &quoted(b"", from)]);
            line(text, &[b"rename to ", &quoted(b"", &change.path)]);
        }
        let id = |entry: Option<TreeEntry>| entry.map_or_else(|| "0000000".to_owned(), |entry| entry.id.abbreviated());
        if change.old.map(|old| old.id) == change.new.map(|new| new.id) {
            return Ok(());
        }
        let same_mode = match (change.old, change.new) {
            (Some(old), Some(new)) if old.mode == new.mode => format!(" {:06o}", new.mode),
            _ => String::new(),
        };
        line(text, &[format!("index {}..{}{same_mode}", id(change.old), id(change.new)).as_bytes()]);
        let name = |entry: Option<TreeEntry>, path: Vec<u8>| if entry.is_some() { path } else { b"/dev/null".to_vec() };
        let (old_path, new_path) = (name(change.old, old_path), name(change.new, new_path));
        let (Content::Text(old), Content::Text(new)) = (self.content(change.old)?, self.content(change.new)?) else {
            line(text, &[b"Binary files ", &old_path, b" and ", &new_path, b" differ"]);
            return Ok(());
        };
        let (old_count, new_count) = (count_lines(&old), count_lines(&new));
        if old_count.max(new_count) > MOST_LINES && old_count > 0 && new_count > 0 {
            line(text, &[b"Large files ", &old_path, b" and ", &new_path, b" differ"]);
            return Ok(());
        }
        if old_count == 0 && new_count == 0 {
            return Ok(());
        }
        // a tab ends a name with a blank in it, as in git's own output
        let end = |path: &[u8]| if path.contains(&b' ') { &b"\t"[..] } else { b"" };
        line(text, &[b"--- ", &old_path, end(&old_path)]);
        line(text, &[b"+++ ", &new_path, end(&new_path)]);
        if old_count == 0 || new_count == 0 {
            write_whole(&old, &new, most, text);
            return Ok(());
        }
        let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(&old).collect(), lines(&new).collect());
        let end = self.objects.budget().end_within(FILE_TIME);
        let operations = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(end));
        for hunk in group_diff_ops(operations, CONTEXT) {
            if text.len() > most {
                break;
            }
            write_hunk(&hunk, &old, &new, most, text);
        }
        Ok(())
    }

    fn content(&self, entry: Option<TreeEntry>) -> Result<Content, RepositoryError> {
        let Some(entry) = entry else { return Ok(Content::Text(Vec::new())) };
        if entry.is_submodule() {
            return Ok(Content::Text(format!("Subproject commit {}\n", entry.id).into_bytes()));
        }
        match self.objects.read(&entry.id, ObjectKind::Blob) {
            Ok(data) if data.iter().take(PROBED).any(|byte| *byte == 0) => Ok(Content::Opaque),
            Ok(data) => Ok(Content::Text(data)),
            Err(RepositoryError::LargeObject) => Ok(Content::Opaque),
            Err(error) => Err(error),
        }
    }
}

fn write_hunk(hunk: &[DiffOp], old: &[&[u8]], new: &[&[u8]], most: usize, text: &mut Vec<u8>) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let (old_range, new_range) =
        (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
    let heading = heading(old.get(..old_range.start).unwrap_or_default());
    let head = format!("@@ -{} +{} @@", line_range(&old_range), line_range(&new_range));
    match heading {
        Some(heading) => line(text, &[head.as_bytes(), b" ", heading]),
        None => line(text, &[head.as_bytes()]),
    }
    for operation in hunk {
        let (is_equal, removed, added) =
            (matches!(operation, DiffOp::Equal { .. }), operation.old_range(), operation.new_range());
        let removed =
            old.get(removed).unwrap_or_default().iter().map(|line| (if is_equal { b" " } else { b"-" }, line));
        let added = new.get(added).filter(|_| !is_equal).unwrap_or_default().iter().map(|line| (b"+", line));
        for (sign, content) in removed.chain(added) {
            if text.len() > most {
                return;
            }
            write_line(sign, content, text);
        }
    }
}

/// Writes a file that was added or removed, without comparing anything: of many lines, few are shown.
fn write_whole(old: &[u8], new: &[u8], most: usize, text: &mut Vec<u8>) {
    let range = |data| line_range(&(0..count_lines(data)));
    line(text, &[format!("@@ -{} +{} @@", range(old), range(new)).as_bytes()]);
    for (sign, content) in lines(old).map(|line| (b"-", line)).chain(lines(new).map(|line| (b"+", line))) {
        if text.len() > most {
            return;
        }
        write_line(sign, content, text);
    }
}

fn write_line(sign: &[u8; 1], content: &[u8], text: &mut Vec<u8>) {
    text.extend_from_slice(sign);
    text.extend_from_slice(content);
    if !content.ends_with(b"\n") {
        text.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

fn line_range(range: &Range<usize>) -> String {
    match range.len() {
        1 => (range.start + 1).to_string(),
        0 => format!("{},0", range.start),
        length => format!("{},{length}", range.start + 1),
    }
}

/// The last line before a change that begins a section, as git shows it after the place of the change.
fn heading<'t>(before: &[&'t [u8]]) -> Option<&'t [u8]> {
    let begins = |line: &&&[u8]| line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_$".contains(byte));
    let line = before.iter().rev().take(10_000).find(begins)?;
    Some(line.get(..80).unwrap_or(line).trim_ascii_end())
}

fn lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split_inclusive(|byte| *byte == b'\n')
}

fn count_lines(data: &[u8]) -> usize {
    lines(data).count()
}

fn line(text: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| text.extend_from_slice(part));
    text.push(b'\n');
}

/// A path as git writes it: in quotes and with escapes where a byte is not printable ASCII, so that no name of a file
/// can pass for a line of the difference.
fn quoted(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !b"\"\\".contains(byte);
    if path.iter().all(is_plain) {
        return [prefix, path].concat();
    }
    let mut text = [b"\"", prefix].concat();
    for byte in path {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\t' => text.extend_from_slice(b"\\t"),
            byte if is_plain(byte) => text.push(*byte),
            byte => text.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    text.push(b'"');
    text
}
