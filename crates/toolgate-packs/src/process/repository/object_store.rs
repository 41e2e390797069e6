//! The objects of a repository, each in a file of its own or in a pack. Alternates are not looked at.

use std::{
    cell::RefCell,
    collections::VecDeque,
    io::{BufReader, Read},
    rc::Rc,
};

use cap_std::fs::Dir;

use super::{
    budget::WorkBudget,
    error::RepositoryError,
    files::{names, open_file, open_folder, unreadable},
    inflate::{inflate_at, most_compressed, read_exactly},
    object::{Object, ObjectKind},
    object_id::{HashLength, ObjectId, decode_hex},
    pack,
    pack_index::{IndexHead, PackIndex},
};

/// The size of one object.
pub(super) const MOST_BYTES: u64 = 8 << 20;
/// Packs of one repository.
const MOST_PACKS: usize = 128;
/// Indexes of packs that are open at the same time.
const MOST_OPEN: usize = 8;
/// Names in one folder of objects.
const MOST_NAMES: usize = 100_000;
const OBJECT: &str = "object";

pub(super) struct ObjectStore {
    folder: Dir,
    packs: Vec<PackFiles>,
    /// The indexes used last, by their place among the packs.
    open: RefCell<VecDeque<(usize, Rc<PackIndex>)>>,
    length: HashLength,
    budget: WorkBudget,
}

/// A pack and its index, both closed.
struct PackFiles {
    stem: String,
    head: Rc<IndexHead>,
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
                let head = Rc::new(IndexHead::read(&file, length)?);
                packs.push(PackFiles { stem: stem.to_owned(), head });
            }
        }
        Ok(Self { folder, packs, open: RefCell::default(), length, budget })
    }

    /// Opens the index of a pack, or takes the one that is open.
    fn index(&self, place: usize, pack: &PackFiles) -> Result<Rc<PackIndex>, RepositoryError> {
        let mut open = self.open.borrow_mut();
        let index = match open.iter().position(|(known, _)| *known == place).and_then(|at| open.remove(at)) {
            Some((_, index)) => index,
            None => {
                let file = open_file(&self.folder, format!("pack/{}.idx", pack.stem), "pack index")?;
                Rc::new(PackIndex::new(file.ok_or(RepositoryError::MissingObject)?, Rc::clone(&pack.head)))
            }
        };
        open.push_front((place, Rc::clone(&index)));
        open.truncate(MOST_OPEN);
        Ok(index)
    }

    /// The places of all packs, those whose index was used last first: one object's neighbours are in the same pack.
    fn places(&self) -> Vec<usize> {
        let open: Vec<usize> = self.open.borrow().iter().map(|(place, _)| *place).collect();
        let closed = (0..self.packs.len()).filter(|place| !open.contains(place));
        open.iter().copied().chain(closed).collect()
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
        let first = id.bytes().first().copied().unwrap_or_default();
        for place in self.places() {
            let Some(pack) = self.packs.get(place).filter(|pack| pack.head.may_hold(first)) else { continue };
            let index = self.index(place, pack)?;
            let Some(offset) = index.offset(id)? else { continue };
            let path = format!("pack/{}.pack", pack.stem);
            let file = open_file(&self.folder, path, "pack")?.ok_or(RepositoryError::MissingObject)?;
            return pack::read_object(&file, &index, self.length, offset, &self.budget).map(Some);
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
        let compressed = file.metadata().map_err(|error| unreadable(&error, OBJECT))?.len();
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
        for (place, pack) in self.packs.iter().enumerate() {
            found.extend(self.index(place, pack)?.beginning_with(&bytes, half)?);
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
