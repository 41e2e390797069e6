//! The objects of a repository, each in a file of its own or in a pack. Alternates are not looked at.

use std::io::{BufReader, Read};

use cap_std::fs::Dir;

use super::{
    budget::WorkBudget,
    error::RepositoryError,
    files::{names, open_file, open_folder},
    inflate::{inflate_at, most_compressed, read_exactly},
    object::{Object, ObjectKind},
    object_id::{HashLength, ObjectId, decode_hex},
    pack,
    pack_index::PackIndex,
};

/// The size of one object.
pub(super) const MOST_BYTES: u64 = 8 << 20;
/// Packs of one repository, each with an open file.
const MOST_PACKS: usize = 128;
/// Names in one folder of objects.
const MOST_NAMES: usize = 100_000;
const OBJECT: &str = "object";

pub(super) struct ObjectStore {
    folder: Dir,
    packs: Vec<(String, PackIndex)>,
    length: HashLength,
    budget: WorkBudget,
}

impl ObjectStore {
    pub(super) fn open(folder: Dir, length: HashLength, budget: WorkBudget) -> Result<Self, RepositoryError> {
        let mut packs = Vec::new();
        if let Some(packed) = open_folder(&folder, "pack", "folder of packs")? {
            for name in names(&packed, MOST_NAMES, "folder of packs")? {
                let Some(stem) = name.strip_suffix(".idx") else { continue };
                if packs.len() >= MOST_PACKS {
                    return Err(RepositoryError::TooLarge("it has more than 128 packs; 'git gc' joins them"));
                }
                budget.charge(1_024)?;
                let Some(file) = open_file(&packed, &name, "pack index")? else { continue };
                packs.push((format!("pack/{stem}.pack"), PackIndex::read(file, length)?));
            }
        }
        Ok(Self { folder, packs, length, budget })
    }

    pub(super) fn budget(&self) -> &WorkBudget {
        &self.budget
    }

    pub(super) fn length(&self) -> HashLength {
        self.length
    }

    /// Reads an object, or returns `None` where the repository does not hold it.
    pub(super) fn find(&self, id: &ObjectId) -> Result<Option<Object>, RepositoryError> {
        if id.length() != self.length {
            return Ok(None);
        }
        if let Some(object) = self.loose(id)? {
            return Ok(Some(object));
        }
        for (path, index) in &self.packs {
            let Some(offset) = index.offset(id)? else { continue };
            let file = open_file(&self.folder, path, "pack")?.ok_or(RepositoryError::MissingObject)?;
            return pack::read_object(&file, index, self.length, offset, &self.budget).map(Some);
        }
        Ok(None)
    }

    /// Reads an object that must be of a kind.
    pub(super) fn read(&self, id: &ObjectId, kind: ObjectKind) -> Result<Vec<u8>, RepositoryError> {
        let object = self.find(id)?.ok_or(RepositoryError::MissingObject)?;
        if object.kind == kind { Ok(object.data) } else { Err(RepositoryError::Damaged(OBJECT)) }
    }

    fn loose(&self, id: &ObjectId) -> Result<Option<Object>, RepositoryError> {
        self.budget.charge(0)?;
        let hex = id.to_string();
        let Some((folder, name)) = hex.split_at_checked(2) else { return Ok(None) };
        let Some(file) = open_file(&self.folder, format!("{folder}/{name}"), OBJECT)? else { return Ok(None) };
        let damaged = RepositoryError::Damaged(OBJECT);
        let compressed = file.metadata().map_err(|_| RepositoryError::Unreadable(OBJECT))?.len();
        if compressed > most_compressed(MOST_BYTES) {
            return Err(RepositoryError::LargeObject);
        }
        let mut data = BufReader::new(inflate_at(&file, 0, compressed));
        let mut head = Vec::new();
        for byte in data.by_ref().bytes().take(32) {
            match byte.map_err(|_| damaged)? {
                0 => break,
                byte => head.push(byte),
            }
        }
        let blank = head.iter().position(|byte| *byte == b' ').ok_or(damaged)?;
        let (kind, size) = head.split_at_checked(blank).ok_or(damaged)?;
        let kind = ObjectKind::from_name(kind).ok_or(damaged)?;
        let size: u64 =
            std::str::from_utf8(size).ok().and_then(|size| size.trim_start().parse().ok()).ok_or(damaged)?;
        if size > MOST_BYTES {
            return Err(RepositoryError::LargeObject);
        }
        // the head of a loose object is compressed with it
        if compressed > most_compressed(size.saturating_add(32)) {
            return Err(damaged);
        }
        self.budget.charge(size)?;
        Ok(Some(Object { kind, data: read_exactly(data, size).ok_or(damaged)? }))
    }

    /// The one object whose hash begins with some digits.
    pub(super) fn abbreviated(&self, digits: &str) -> Result<Option<ObjectId>, RepositoryError> {
        let digits = digits.to_ascii_lowercase();
        let (even, odd) = digits.split_at_checked(digits.len() & !1).unwrap_or((&digits, ""));
        let half = odd.chars().next().and_then(|digit| digit.to_digit(16)).and_then(|digit| u8::try_from(digit).ok());
        let Some(bytes) = decode_hex(even.as_bytes()) else { return Ok(None) };
        let mut found = Vec::new();
        for (_, index) in &self.packs {
            found.extend(index.beginning_with(&bytes, half)?);
        }
        if let Some((folder, rest)) = digits.split_at_checked(2)
            && let Some(loose) = open_folder(&self.folder, folder, OBJECT)?
        {
            let matching =
                names(&loose, MOST_NAMES, "folder of objects")?.into_iter().filter(|name| name.starts_with(rest));
            found.extend(matching.filter_map(|name| ObjectId::from_hex(format!("{folder}{name}").as_bytes())));
        }
        found.sort_unstable();
        found.dedup();
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            _ => Err(RepositoryError::AmbiguousRevision),
        }
    }
}
